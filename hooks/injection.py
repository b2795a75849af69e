"""What a hook prints: the soft prompt at a session's start, and what a server finds relevant to a prompt."""

from __future__ import annotations

import time

from . import sessions
from .clients import answer, takes_in
from .jsonline import dumps
from .own import ids_in
from .places import GLOBAL_SCOPE, Place, soft_prompt_file
from .private import without_private

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

CHARACTER_LIMIT = 9_500
"""Clients cut an injected text at 10,000 characters; they count UTF-16 units."""
ASK_SECONDS = 0.3
"""A server that hasn't answered by then isn't waited for: the user's prompt is."""
LONGEST_QUESTION = 6_000
"""Characters of a prompt that are sent to a server: its beginning, and a quarter of them from its end."""

_ALREADY_IN_CONTEXT = ("resume", "fork")
_LARGEST_FILE = 1 << 18
_NOTE = "[{lines} more lines are stored; recall returns them]"


def start(place: Place, source: object, write: Callable[[bytes], object]) -> None:
    """Write the scope's soft prompt, else the global one, and note what of it the session has now seen.

    A resumed or forked session still has what an earlier start put into its context.

    Raises:
        OSError: if a prompt file exists and can't be read, or it can't be written.
    """
    text = fitted(prepared(place.home, place.scope))
    if source in _ALREADY_IN_CONTEXT:
        if not sessions.is_known(place.home, place.session):
            sessions.note(place.home, place.session, ids_in(text))
        return
    if text:
        write(worded(place.client, "session-start", text))
    if text or sessions.is_known(place.home, place.session):
        sessions.note(place.home, place.session, ids_in(text), anew=True)


def at_prompt(
    place: Place,
    prompt: str,
    write: Callable[[bytes], object],
    *,
    seconds: float,
    clock: Callable[[], float] = time.monotonic,
) -> None:
    """Write what a running server remembers of a prompt's matter and this session hasn't seen, or nothing.

    Raises:
        OSError: if it can't be written.
    """
    from .asking import ask

    request = {
        "op": "prompt",
        "prompt": shortened(without_private(prompt)),
        "scope": place.scope,
        "session": place.session,
        "seen": sessions.seen(place.home, place.session),
    }
    conversation = ask(place.home, place.scope, request, seconds=seconds, clock=clock)
    if conversation is None:
        return
    try:
        text, ids = conversation.reply.get("text"), conversation.reply.get("ids")
        if not text or not isinstance(text, str) or not isinstance(ids, list):
            return
        write(worded(place.client, "user-prompt-submit", fitted(text)))
        sessions.note(place.home, place.session, ids_in(" ".join(map(str, ids))))  # pyright: ignore[reportUnknownArgumentType]
        conversation.passed_on()
    finally:
        conversation.close()


def worded(client: str, event: str, text: str) -> bytes:
    """What a client wants to read to take a text in; nothing for one that takes none."""
    return (dumps(answer(client, event, text)) + "\n").encode("ascii") if takes_in(client) else b""


def shortened(prompt: str) -> str:
    """A prompt, or its beginning and its end: what it asks for stands in one of them."""
    if len(prompt) <= LONGEST_QUESTION:
        return prompt
    tail = LONGEST_QUESTION // 4
    return f"{prompt[: LONGEST_QUESTION - tail]}\n{prompt[-tail:]}"


def prepared(home: str, scope: str) -> str:
    """The soft prompt that was prepared for a scope, else the global one; empty if there is none.

    Raises:
        OSError: if a prompt file exists and can't be read.
    """
    return _read(home, scope) or _read(home, GLOBAL_SCOPE)


def fitted(text: str, limit: int = CHARACTER_LIMIT) -> str:
    """The text within `limit` UTF-16 units: whole lines, then a note of how many were left out."""
    if _units(text) <= limit:
        return text
    lines = text.split("\n")
    room = limit - len(_NOTE.format(lines=len(lines))) - 1
    kept: list[str] = []
    for line in lines:
        room -= _units(line) + 1
        if room < 0:
            break
        kept.append(line)
    return "\n".join([*kept, _NOTE.format(lines=len(lines) - len(kept))])


def _read(home: str, scope: str) -> str:
    try:
        with open(soft_prompt_file(home, scope), "rb") as file:
            return file.read(_LARGEST_FILE).decode("utf-8", "replace").strip()
    except FileNotFoundError:
        return ""


def _units(text: str) -> int:
    return len(text) + sum(character > "\uffff" for character in text)
