"""The command that clients run at their events: `ebbing-hook EVENT [--client NAME]`.

It reads the client's JSON on stdin, appends a line to the spool, prints the prepared soft prompt at a session's start,
and at a prompt what a running server finds for it. Whatever happens it exits 0, within a second, and a failure prints
nothing.
"""

from __future__ import annotations

import _thread
import os
import sys
import time

from . import places, switches
from .appending import append_or_set_beside
from .clients import client_of, our_fields
from .events import (
    FIELD_LIMIT,
    SMALL_FIELD_LIMIT,
    as_text,
    event_name,
    is_own,
    is_users_prompt,
    line,
    understood,
    uuid7,
)
from .stdin import Received, received

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_ALLOWED_SECONDS = 0.9
# What is left of those after a slow client and a silent server must do for the spool's lock and the write.
_ANSWERED_BY_SECONDS = 0.7
_LOCK_SECONDS = 0.1
_NEGLECTED_SPOOL_BYTES = 64 << 20
_LARGEST_LOG = 1 << 20
_FLUSHING = ("pre-compact", "session-end")


def main(argv: Sequence[str] | None = None) -> int:
    """Deal with one event of a client; always 0, since other codes block or disturb the client's session."""
    started = time.monotonic()
    finished = _thread.allocate_lock()
    finished.acquire()
    try:
        _thread.start_new_thread(_leave_in_time, (finished,))
        _handle(sys.argv[1:] if argv is None else argv, started)
    except BaseException as error:  # noqa: BLE001  # the top: nothing may reach the client
        _note(error)
    finally:
        finished.release()
    return 0


def _leave_in_time(finished: _thread.LockType) -> None:
    """End the process when a file system or a pipe has stopped answering."""
    if not finished.acquire(timeout=_ALLOWED_SECONDS):
        os._exit(0)


def _handle(arguments: Sequence[str], started: float) -> None:
    """Inject, append, and tell the server; one that fails doesn't stop the next."""
    message = received()
    given_event, named_client = _named(arguments)
    given = our_fields(understood(message.text))
    event = event_name(given_event or str(given.get("hook_event_name", "")))
    if not event:
        raise ValueError("unknown event")
    if event == "post-tool-use" and given.get("error"):
        event = "post-tool-use-failure"
    client = client_of(named_client, given, os.environ)
    place = _place(given, client)
    try:
        _attend(event, given, place, started)
    finally:
        _append(place, event, given, message)
        if event in _FLUSHING:
            _flush(place, started)


def _named(arguments: Sequence[str]) -> tuple[str, str]:
    """The event and the client that the command line names, in either order; empty where it names none."""
    event = client = ""
    rest = iter(arguments)
    for word in rest:
        if word == "--client":
            client = next(rest, "")
        elif word.startswith("--client="):
            client = word.partition("=")[2]
        elif not event:
            event = word
    return event, client


def _attend(event: str, given: Mapping[str, object], place: places.Place, started: float) -> None:
    """Do what an event asks for besides being spooled; what isn't needed isn't imported."""
    inject = switches.chosen(os.environ, switches.INJECT, switches.INJECTED)
    if event == "session-start" and "start" in inject:
        from .injection import start

        start(place, given.get("source"), _write)
    elif event == "user-prompt-submit" and "prompts" in inject and is_users_prompt(given):
        from .injection import ASK_SECONDS, at_prompt

        left = started + _ANSWERED_BY_SECONDS - time.monotonic()
        at_prompt(place, as_text(given["prompt"]), _write, seconds=min(ASK_SECONDS, left))
    elif event == "pre-compact":
        from .sessions import forget

        forget(place.home, place.session)
    elif event == "post-tool-use" and not given.get("agent_id") and is_own(given):
        from .own import ids_in
        from .sessions import note

        # What a call of ebbing's tools answered is in the context as well, unless a subagent made it.
        note(place.home, place.session, ids_in(as_text(given.get("tool_response"))))


def _write(data: bytes) -> None:
    rest = memoryview(data)
    # A closed stdout's number may by now belong to another file, which must not get the text.
    while rest and sys.stdout is not None:
        rest = rest[os.write(1, rest) :]


def _flush(place: places.Place, started: float) -> None:
    """Have a running server take the spool in now; it answers before it does."""
    from .asking import ask
    from .injection import ASK_SECONDS

    left = started + _ANSWERED_BY_SECONDS - time.monotonic()
    request = {"op": "flush", "scope": place.scope}
    if conversation := ask(place.home, place.scope, request, seconds=min(ASK_SECONDS, left)):
        conversation.close()


def _append(place: places.Place, event: str, given: Mapping[str, object], message: Received) -> None:
    capture = switches.chosen(os.environ, switches.CAPTURE, switches.CAPTURED)
    if event.startswith("post-tool-use") and "tools" not in capture:
        return
    path = places.spool_file(place.home)
    places.make_private_folder(os.path.dirname(path))
    now, noise = time.time_ns(), os.urandom(10)
    limit = SMALL_FIELD_LIMIT if _size(path) > _NEGLECTED_SPOOL_BYTES else FIELD_LIMIT
    text = line(event, given, scope=place.scope, now=now, noise=noise, limit=limit, lost=message.lost, capture=capture)
    append_or_set_beside(path, text.encode("ascii"), unique=uuid7(now, noise), wait=_LOCK_SECONDS)


def _place(given: Mapping[str, object], client: str) -> places.Place:
    session = given.get("session_id")
    return places.Place(
        places.home_folder(os.environ),
        places.chosen_scope(_folder(given), os.environ),
        session if isinstance(session, str) else "",
        client,
    )


def _folder(given: Mapping[str, object]) -> str:
    named = given.get("cwd")
    if isinstance(named, str) and places.is_path(named):
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
