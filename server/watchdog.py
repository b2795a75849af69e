"""Ends the process when its session is over, whatever its other threads are doing.

A memory server that outlives its client holds locks and memory for nobody. Signals, the death of the parent (whose
pipes other processes may still hold open), a client that stopped reading and an overdue shutdown all end here, on a
thread of their own: the main thread may be inside a long call, and a tool's thread may never return.
"""

import logging
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from types import FrameType

logger = logging.getLogger(__name__)

CLOSE_SECONDS = 0.3
_TICK_SECONDS = 1.0
_LEAVE = 0
_SIGNAL_NAMES = ("SIGTERM", "SIGINT", "SIGHUP", "SIGBREAK")


class ClosingOnce:
    """Runs `close` on the first call, whichever thread makes it; later calls wait for that one to finish.

    Calling it returns the process's exit code: 0, or 1 when closing failed.
    """

    def __init__(self, close: Callable[[], None]) -> None:
        self._close = close
        self._lock = threading.Lock()
        self._exit_code: int | None = None

    def __call__(self) -> int:
        """Close if nobody has yet; return the exit code."""
        with self._lock:
            if self._exit_code is None:
                self._exit_code = self._run()
            return self._exit_code

    def _run(self) -> int:
        try:
            self._close()
        except Exception:
            logger.exception("closing failed")
            return 1
        return 0


class Watchdog:
    """A daemon thread that closes and exits as soon as there is a reason to.

    `close` gets `CLOSE_SECONDS`; a store must survive being cut off later than that, as it must survive a power cut.
    """

    def __init__(
        self,
        close: Callable[[], int],
        *,
        parent: int,
        parent_now: Callable[[], int] = os.getppid,
        exit_process: Callable[[int], object] = os._exit,
        clock: Callable[[], float] = time.monotonic,
        tick_seconds: float = _TICK_SECONDS,
    ) -> None:
        self._close = close
        self._parent = parent
        self._parent_now = parent_now
        self._exit_process = exit_process
        self._clock = clock
        self._deadline: float | None = None
        self._inbox, self._outbox = socket.socketpair()
        self._inbox.settimeout(tick_seconds)
        self._outbox.settimeout(0.0)
        self._thread = threading.Thread(target=self._watch, name="ebbing-watchdog", daemon=True)

    def start(self) -> None:
        """Start watching."""
        self._thread.start()

    def catch_signals(self) -> None:
        """Let SIGTERM, SIGINT and SIGHUP end the process through this watchdog. Main thread only."""
        # The wakeup descriptor is written by the C handler, so it works while the main thread is inside a long call.
        signal.set_wakeup_fd(self._outbox.fileno(), warn_on_full_buffer=False)
        for number in _leaving_signals():
            ignored = signal.getsignal(number) is signal.SIG_IGN
            if not (ignored and number == getattr(signal, "SIGHUP", None)):
                signal.signal(number, self._on_signal)

    def retire(self, seconds: float) -> None:
        """Let the process end by itself, whatever signals it still gets; one that hasn't in `seconds` is cut off.

        Python gives signals back their default action while it ends, unless they are ignored: one that comes then would
        kill a process that has closed everything, as if it had not. Main thread only.
        """
        if self._deadline is None:
            self.leave_within(seconds)
        for number in _leaving_signals():
            signal.signal(number, signal.SIG_IGN)

    def leave(self) -> None:
        """Close and exit now."""
        # A full socket means that it holds a reason to leave already; a closed one, that this was acted on.
        with suppress(OSError):
            self._outbox.send(bytes([_LEAVE]))

    def leave_within(self, seconds: float) -> None:
        """Close and exit in `seconds` unless the process has ended by itself before."""
        self._deadline = self._clock() + seconds

    def join(self, timeout: float) -> bool:
        """Wait up to `timeout` seconds for the watchdog to have acted; True when it has."""
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self.leave()

    def _watch(self) -> None:
        with self._inbox, self._outbox:
            while (reason := self._reason()) is None:
                pass
            self._leave(reason)

    def _reason(self) -> str | None:
        try:
            received = self._inbox.recv(64)
        except TimeoutError:
            received = b""
        if caught := _leaving_signals().intersection(received):
            return signal.Signals(min(caught)).name
        if _LEAVE in received:
            return "asked to"
        if self._parent_now() != self._parent:
            return "the parent process ended"
        overdue = self._deadline is not None and self._clock() >= self._deadline
        return "calls did not end in time" if overdue else None

    def _leave(self, reason: str) -> None:
        codes: list[int] = []
        # On a thread of its own, logging included: closing may wait for a lock and stderr for a reader, forever.
        closing = threading.Thread(target=lambda: codes.append(self._last_words(reason)), daemon=True)
        with suppress(RuntimeError):  # no thread can start once the interpreter is ending, after everything was closed
            closing.start()
            closing.join(CLOSE_SECONDS)
        self._exit_process(codes[0] if codes else 0)

    def _last_words(self, reason: str) -> int:
        code = self._close()
        logger.info("leaving: %s", reason)
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError, AttributeError):
                stream.flush()
        return code


def _leaving_signals() -> set[int]:
    return {int(getattr(signal, name)) for name in _SIGNAL_NAMES if hasattr(signal, name)}
