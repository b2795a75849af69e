"""Reading what the client wrote, without trusting it to end."""

from __future__ import annotations

import _thread
import os
import sys
import time

from .jsonline import loads

READ_SECONDS = 0.5
"""A client that keeps the pipe open and silent is waited for that long."""
LARGEST_INPUT = 16 << 20
"""Bytes that are kept; what comes after them is read and counted, so that the client's write succeeds."""

_BLOCK = 1 << 16
_QUIET_SECONDS = 0.05


class Received:
    """What stdin held: its text and how many of its bytes were not kept."""

    __slots__ = ("lost", "text")

    def __init__(self, text: str, lost: int) -> None:
        """Hold both."""
        self.text = text
        self.lost = lost


class _Pump:
    """Reads a descriptor on a thread of its own: a blocked read can't be given up, but it can be left behind."""

    def __init__(self, descriptor: int) -> None:
        self.blocks: list[bytes] = []
        self.size = 0
        self.lost = 0
        self.ended = _thread.allocate_lock()
        self.ended.acquire()
        _thread.start_new_thread(self._run, (descriptor,))

    def _run(self, descriptor: int) -> None:
        try:
            while block := os.read(descriptor, _BLOCK):
                self._keep(block)
        except OSError:
            pass
        finally:
            self.ended.release()

    def _keep(self, block: bytes) -> None:
        if self.size < LARGEST_INPUT:
            self.blocks.append(block)
        else:
            self.lost += len(block)
        self.size += len(block)

    def text(self) -> str:
        return b"".join(self.blocks).decode("utf-8", "replace")


def received(descriptor: int = 0) -> Received:
    """All that stdin holds, or what it held when the client fell silent after a whole JSON text, or in half a second.

    Invalid UTF-8 is replaced; a closed stdin or a terminal counts as empty.
    """
    if sys.stdin is None or os.isatty(descriptor):
        return Received("", 0)
    pump = _Pump(descriptor)
    deadline = time.monotonic() + READ_SECONDS
    while not pump.ended.acquire(timeout=_QUIET_SECONDS) and time.monotonic() < deadline:
        if _is_whole(pump):
            break
    return Received(pump.text(), pump.lost)


def _is_whole(pump: _Pump) -> bool:
    if not pump.blocks or not pump.blocks[-1].rstrip().endswith(b"}"):
        return False
    try:
        loads(pump.text())
    except (ValueError, RecursionError):
        return False
    return True
