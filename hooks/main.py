"""The command that clients run at their events: `ebbing-hook EVENT`.

It reads the client's JSON on stdin, appends a line to the spool, and at a session's start prints the prepared soft
prompt. Whatever happens it exits 0, within a second, and a failure prints nothing.
"""

from __future__ import annotations

import _thread
import os
import sys
import time

from . import places
from .appending import append_or_set_beside
from .events import FIELD_LIMIT, SMALL_FIELD_LIMIT, event_name, line, understood, uuid7
from .stdin import Received, received

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_ALLOWED_SECONDS = 0.9
_LOCK_SECONDS = 0.1
_NEGLECTED_SPOOL_BYTES = 64 << 20
_LARGEST_LOG = 1 << 20


def main(argv: Sequence[str] | None = None) -> int:
    """Deal with one event of a client; always 0, since other codes block or disturb the client's session."""
    finished = _thread.allocate_lock()
    finished.acquire()
    try:
        _thread.start_new_thread(_leave_in_time, (finished,))
        arguments = sys.argv[1:] if argv is None else argv
        _handle(arguments[0] if arguments else "")
    except BaseException as error:  # noqa: BLE001  # the top: nothing may reach the client
        _note(error)
    finally:
        finished.release()
    return 0


def _leave_in_time(finished: _thread.LockType) -> None:
    """End the process when a file system or a pipe has stopped answering."""
    if not finished.acquire(timeout=_ALLOWED_SECONDS):
        os._exit(0)


def _handle(given_event: str) -> None:
    """Inject and append; one that fails doesn't stop the other."""
    message = received()
    given = understood(message.text)
    event = event_name(given_event or str(given.get("hook_event_name", "")))
    if not event:
        raise ValueError("unknown event")
    home = places.home_folder(os.environ)
    scope = places.project_key(_folder(given), os.environ)
    try:
        if event == "session-start":
            _print_soft_prompt(home, scope, given.get("source"))
    finally:
        _append(home, scope, event, given, message)


def _print_soft_prompt(home: str, scope: str, source: object) -> None:
    from .injection import answer

    rest = memoryview(answer(home, scope, source))
    # A closed stdout's number may by now belong to another file, which must not get the text.
    while rest and sys.stdout is not None:
        rest = rest[os.write(1, rest) :]


def _append(home: str, scope: str, event: str, given: Mapping[str, object], message: Received) -> None:
    path = places.spool_file(home)
    places.make_private_folder(os.path.dirname(path))
    now, noise = time.time_ns(), os.urandom(10)
    limit = SMALL_FIELD_LIMIT if _size(path) > _NEGLECTED_SPOOL_BYTES else FIELD_LIMIT
    text = line(event, given, scope=scope, now=now, noise=noise, limit=limit, lost=message.lost)
    append_or_set_beside(path, text.encode("ascii"), unique=uuid7(now, noise), wait=_LOCK_SECONDS)


def _folder(given: Mapping[str, object]) -> str:
    named = given.get("cwd")
    if isinstance(named, str) and named and "\0" not in named:
        return named
    try:
        return os.getcwd()
    except OSError:
        return os.environ.get("PWD", os.sep)


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def _note(error: BaseException) -> None:
    """Leave the error in a small log for whoever set EBBING_DEBUG; its text never holds what the client sent."""
    if not os.environ.get("EBBING_DEBUG"):
        return
    try:
        path = os.path.join(places.home_folder(os.environ), "logs", "hook.log")
        places.make_private_folder(os.path.dirname(path))
        fresh = os.O_TRUNC if _size(path) > _LARGEST_LOG else os.O_APPEND
        descriptor = places.open_private(path, os.O_WRONLY | os.O_CREAT | fresh)
        text = f"{time.time_ns() // 1_000_000_000} {type(error).__name__}: {error}\n"
        os.write(descriptor, text.encode("utf-8", "replace"))
        os.close(descriptor)
    except (OSError, LookupError):
        return
