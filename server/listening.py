"""Listens on this machine for hooks, which may not load a model or open the database themselves.

One request a connection, one connection at a time: hooks are few and are answered in milliseconds. A Unix socket in
the private run folder where there are such sockets and the path is short enough, a loopback port otherwise; a note
beside it tells hooks the address and the token. See `hooks/asking.py` for the other side.
"""

from __future__ import annotations

import json
import logging
import os
import secrets
import socket
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

from ..hooks.asking import NOTE_SUFFIX, PASSED_ON, Line, RefusedError, connected, proof, read_note
from ..hooks.jsonline import as_object
from ..hooks.places import make_private_folder, run_folder, write_private
from ..schemas.errors import EbbingError

REQUEST_SECONDS = 0.25
"""A hook that hasn't said by then what it wants is hung up on, since others wait."""
PASSED_ON_SECONDS = 0.5
"""How long a hook may take to print the answer and say so; it is then counted as shown."""

_LONGEST_PATH = 100
_WAITING = 16
_SOCKET_SUFFIX = ".sock"
_ALIVE_SECONDS = 0.2

_log = logging.getLogger(__name__)


class Answer(Protocol):
    """An answer to a hook, and what to do when it was passed on to the client."""

    @property
    def reply(self) -> Mapping[str, Any]:
        """What the hook gets, JSON values only."""
        ...

    def passed_on(self) -> None:
        """Called when the hook said that the client has it."""
        ...


class Listener:
    """A thread that answers hooks until it is closed."""

    def __init__(
        self,
        home: Path,
        scope: str,
        answer: Callable[[Mapping[str, Any]], Answer | None],
        *,
        unix: bool = hasattr(socket, "AF_UNIX"),
        request_seconds: float = REQUEST_SECONDS,
        passed_on_seconds: float = PASSED_ON_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Answer with `answer`, which gives None where there is nothing to say; nothing is opened before `start`."""
        self._folder = Path(run_folder(str(home)))
        self._scope = scope
        self._answer = answer
        self._unix = unix
        self._request_seconds = request_seconds
        self._passed_on_seconds = passed_on_seconds
        self._clock = clock
        self._token = secrets.token_hex(16)
        self._name = f"{os.getpid()}-{secrets.token_hex(4)}"
        self._guard = threading.Lock()
        self._socket: socket.socket | None = None
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Start to listen; a second call changes nothing.

        Raises:
            OSError: if the run folder can't be written or no socket can be had.
        """
        with self._guard:
            if self._socket is not None:
                return
            make_private_folder(str(self._folder))
            remove_dead(self._folder)
            self._socket = self._bound()
            write_private(self._note, json.dumps(self._about(self._socket)).encode("ascii"))
            self._thread = threading.Thread(target=self._serve, args=(self._socket,), name="ebbing-hooks", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """Stop listening and remove what hooks found us by; a second call changes nothing."""
        with self._guard:
            listening, self._socket = self._socket, None
        if listening is None:
            return
        _wake(listening)
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(self._request_seconds)
        listening.close()
        for path in (self._note, self._path):
            with suppress(OSError):
                path.unlink(missing_ok=True)

    @property
    def _note(self) -> Path:
        return self._folder / (self._name + NOTE_SUFFIX)

    @property
    def _path(self) -> Path:
        return self._folder / (self._name + _SOCKET_SUFFIX)

    def _bound(self) -> socket.socket:
        if self._unix and len(os.fsencode(self._path)) <= _LONGEST_PATH:
            made, address = socket.socket(socket.AF_UNIX), str(self._path)
        else:
            made, address = socket.socket(socket.AF_INET), ("127.0.0.1", 0)
        try:
            made.bind(address)
            if isinstance(address, str):
                self._path.chmod(0o600)
            made.listen(_WAITING)
        except OSError:
            made.close()
            raise
        return made

    def _about(self, listening: socket.socket) -> dict[str, Any]:
        address: Any = listening.getsockname()
        where = {"path": address} if isinstance(address, str) else {"port": address[1]}
        return {"v": 1, **where, "token": self._token, "scope": self._scope, "since": time.time()}

    def _serve(self, listening: socket.socket) -> None:
        while self._socket is not None:
            try:
                accepted, _ = listening.accept()
            except OSError:
                return
            with accepted:
                self._attend(accepted)

    def _attend(self, accepted: socket.socket) -> None:
        line = Line(accepted, self._clock() + self._request_seconds, self._clock)
        try:
            answer = self._replied(line)
            line.allow(self._clock() + self._passed_on_seconds)
            if answer is not None and line.receive() == PASSED_ON.rstrip():
                answer.passed_on()
        except (OSError, ValueError, RecursionError, EbbingError) as error:
            _log.debug("a hook: %s", error)
        except Exception:  # noqa: BLE001  # the top of a thread that serves other hooks as well
            _log.exception("a hook could not be answered")

    def _replied(self, line: Line) -> Answer | None:
        challenge = line.receive().decode("ascii", "replace")
        line.send(f"{proof(self._token, challenge)}\n".encode("ascii"))
        request = as_object(json.loads(line.receive()))
        if not secrets.compare_digest(str(request.get("token")).encode(), self._token.encode()):
            raise RefusedError("a hook does not know the token")
        answer = self._answer(request)
        line.allow(self._clock() + self._request_seconds)
        line.send((json.dumps({} if answer is None else dict(answer.reply)) + "\n").encode("ascii"))
        return answer


def remove_dead(folder: Path) -> None:
    """Remove what servers that were killed left in the run folder: who lives answers."""
    for note in folder.glob(f"*{NOTE_SUFFIX}"):
        if _is_dead(read_note(str(note))):
            note.unlink(missing_ok=True)
            note.with_suffix(_SOCKET_SUFFIX).unlink(missing_ok=True)


def _is_dead(note: Mapping[str, object]) -> bool:
    try:
        connected(note, until=time.monotonic() + _ALIVE_SECONDS).close()
    except (ConnectionRefusedError, FileNotFoundError, RefusedError, KeyError, ValueError):
        return True
    except OSError:
        # Busy, perhaps; a hook that asks it is out of luck, not out of order.
        return False
    return False


def _wake(listening: socket.socket) -> None:
    """End the wait of the thread that accepts, which closing would not do everywhere."""
    with suppress(OSError), socket.socket(listening.family) as waking:
        waking.settimeout(_ALIVE_SECONDS)
        waking.connect(listening.getsockname())
