"""Asking a running server, within a deadline and without importing `socket`, which takes as long as starting Python.

Each server leaves a note in the run folder: where it listens and the token that both sides prove to know. The server
proves it first, so that nothing is ever told to a stranger who listens at the address of a server that has died. One
connection is one request: a line of JSON each way, and a line from us once the answer was passed on.
"""

from __future__ import annotations

import os
import time

from .jsonline import as_object, dumps, loads
from .places import digest, run_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _socket import socket
    from collections.abc import Callable, Mapping

PASSED_ON = b"shown\n"
LONGEST_LINE = 1 << 18
NOTE_SUFFIX = ".server"

_LARGEST_NOTE = 4096
_MOST_SERVERS = 8
_BLOCK = 1 << 16
_LOOPBACK = "127.0.0.1"


class RefusedError(OSError):
    """Who listens at a server's address is no server of ours."""


class Conversation:
    """A server's answer, and the connection over which it learns whether that was passed on."""

    __slots__ = ("_line", "reply")

    def __init__(self, line: Line, reply: dict[str, object]) -> None:
        """Hold both."""
        self._line = line
        self.reply = reply

    def passed_on(self) -> None:
        """Tell the server that its answer reached the client."""
        self._line.send(PASSED_ON)

    def close(self) -> None:
        """Hang up."""
        self._line.close()


class Line:
    """A connection that sends and receives whole lines before a point in time."""

    def __init__(self, connected: socket, until: float, clock: Callable[[], float]) -> None:
        """Talk over `connected` until `clock` says `until` (seconds)."""
        self._socket = connected
        self._until = until
        self._clock = clock
        self._rest = b""

    def connect(self, address: str | tuple[str, int]) -> None:
        """Reach the other side.

        Raises:
            TimeoutError: when the time is over.
            OSError: when nobody listens.
        """
        self._socket.settimeout(self._left())
        self._socket.connect(address)

    def send(self, data: bytes) -> None:
        """Send all of it.

        Raises:
            TimeoutError: when the time is over.
            OSError: when the other side has gone.
        """
        self._socket.settimeout(self._left())
        self._socket.sendall(data)

    def receive(self) -> bytes:
        """The next line, without its end.

        Raises:
            TimeoutError: when the time is over.
            OSError: when the other side hung up before the end of a line, or the line is too long.
        """
        while b"\n" not in self._rest:
            self._socket.settimeout(self._left())
            block = self._socket.recv(_BLOCK)
            self._rest += block
            if not block or len(self._rest) > LONGEST_LINE:
                raise ConnectionResetError("no whole line")
        line, _, self._rest = self._rest.partition(b"\n")
        return line

    def allow(self, until: float) -> None:
        """Go on until another point in time."""
        self._until = until

    def close(self) -> None:
        """Hang up."""
        self._socket.close()

    def _left(self) -> float:
        left = self._until - self._clock()
        if left <= 0:
            raise TimeoutError
        return left


def ask(
    home: str,
    scope: str,
    request: Mapping[str, object],
    *,
    seconds: float,
    clock: Callable[[], float] = time.monotonic,
) -> Conversation | None:
    """The first answer that a running server gives within `seconds`; None if there is none.

    Servers of the same scope are asked first, then the newest: they all share one store.
    """
    until = clock() + seconds
    waiting = notes(home, scope)
    for place, note in enumerate(waiting, 1):
        left = until - clock()
        if left <= 0:
            return None
        # One that has stopped answering must leave time for the next.
        share = left if place == len(waiting) else left / 2
        try:
            return _asked(note, request, until=clock() + share, clock=clock)
        except (OSError, ValueError):
            continue
    return None


def notes(home: str, scope: str) -> list[dict[str, object]]:
    """What running servers, and perhaps some that died, say of themselves; the best one to ask first; at most eight."""
    folder = run_folder(home)
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(NOTE_SUFFIX))
    except OSError:
        return []
    found = [note for name in names if (note := read_note(os.path.join(folder, name)))]
    found.sort(key=lambda note: (note.get("scope") != scope, -_since(note)))
    return found[:_MOST_SERVERS]


def read_note(path: str) -> dict[str, object]:
    """A server's note; empty if it can't be read."""
    try:
        with open(path, "rb") as file:
            note = as_object(loads(file.read(_LARGEST_NOTE).decode("ascii", "replace")))
    except (OSError, ValueError, RecursionError):
        return {}
    return note if isinstance(note.get("token"), str) else {}


def connected(note: Mapping[str, object], *, until: float, clock: Callable[[], float] = time.monotonic) -> Line:
    """A line to the server that wrote a note, which has proved to be that server.

    Raises:
        RefusedError: if it isn't.
        OSError: if nobody answers in time.
    """
    from _socket import socket

    family, address = _address(note)
    line = Line(socket(family), until, clock)
    try:
        line.connect(address)
        _make_sure(line, str(note["token"]))
    except BaseException:
        line.close()
        raise
    return line


def proof(token: str, challenge: str) -> str:
    """What only those who know the token can answer to a challenge."""
    return digest(challenge, token.encode("ascii", "replace")[:64])


def _asked(
    note: Mapping[str, object], request: Mapping[str, object], *, until: float, clock: Callable[[], float]
) -> Conversation:
    line = connected(note, until=until, clock=clock)
    try:
        line.send((dumps({**request, "token": note["token"]}) + "\n").encode("ascii"))
        reply = loads(line.receive().decode("utf-8", "replace"))
    except BaseException:
        line.close()
        raise
    return Conversation(line, as_object(reply))


def _make_sure(line: Line, token: str) -> None:
    challenge = os.urandom(16).hex()
    line.send(f"{challenge}\n".encode("ascii"))
    if line.receive() != proof(token, challenge).encode("ascii"):
        raise RefusedError("it does not know the token")


def _address(note: Mapping[str, object]) -> tuple[int, str | tuple[str, int]]:
    import _socket

    path, port = note.get("path"), note.get("port")
    if isinstance(path, str):
        return _socket.AF_UNIX, path
    if isinstance(port, int):
        return _socket.AF_INET, (_LOOPBACK, port)
    raise ValueError("no address")


def _since(note: Mapping[str, object]) -> float:
    value = note.get("since")
    return float(value) if isinstance(value, int | float) else 0.0
