"""What comes to mind at a prompt: the few memories that bear on it and that the session has not seen.

Nobody asked, so silence is the usual answer: recall's own floor must be passed, raw observations and what was called
wrong never are shown, and what follows far behind the best stays away.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from ..encoding.clean import clean, strip_private
from ..lifecycle.channel_lessons import rounded
from ..lifecycle.prompt_source import disputed
from ..lifecycle.showings import Showing
from ..retrieval.render import Rendered, render
from ..retrieval.request import Hit, RecallRequest, RecallResult
from ..schemas.ids import new_id
from ..schemas.memory import Kind, Memory
from .checks import visible_scopes
from .services import Services

MAX_TOKENS: Final = 1_000
MAX_CHARACTERS: Final = 9_500
MOST_MEMORIES: Final = 5

# Of recall's scores, whose unit is about the range of a pool: a memory that shares a date or a stray word stays below.
_LEAST: Final = 1.0
# The same where there is no model: words alone give lower scores.
_LEAST_BY_WORDS: Final = 0.45
_WINDOW: Final = 0.25
# An observation is what was said or happened, this prompt soon included, before anybody judged its worth.
_KINDS: Final = frozenset(Kind) - {Kind.OBSERVATION}


@dataclass(frozen=True, slots=True)
class Reminder:
    """A text to add to a prompt, and what it shows."""

    recall_id: str
    scope: str
    text: str
    memories: tuple[Memory, ...]
    found: Mapping[str, Any]


def remind(
    services: Services, prompt: str, scope: str, seen: Collection[str], session: str | None = None
) -> Reminder | None:
    """The memories that bear on a prompt, within 1,000 tokens and 9,500 characters; None if there are none.

    Args:
        services: the floors below.
        prompt: what the user wrote, or its beginning and end.
        scope: the project key of the session.
        seen: ids of memories that the session has in its context.
        session: the client's name of the session.

    Raises:
        StoreError: if the store can't be read.
    """
    question = strip_private(clean(prompt)).strip()[: services.limits.query_characters]
    if not question:
        return None
    scopes = visible_scopes(services, scope)
    now = services.clock()
    request = RecallRequest(query=question, scopes=scopes, now=now, kinds=_KINDS, limit=MOST_MEMORIES)
    result = services.recaller.recall(request)
    least = _LEAST_BY_WORDS if services.embedder(0.0) is None else _LEAST
    relevant = _relevant(result.hits, least)
    told = {*seen, *(disputed(services.store) if relevant else ())}
    fresh = [hit for hit in relevant if hit.memory.id not in told]
    if not fresh:
        return None
    recall_id = new_id(now)
    rendered = _rendered(services, replace(result, hits=tuple(fresh), notices=(_notice(recall_id),)))
    shown = [hit for hit in fresh if hit.memory.id in rendered.shown]
    if not shown:
        return None
    found = {
        "class": result.query_class,
        "channels": {hit.memory.id: list(hit.channels) for hit in shown},
        "parts": {hit.memory.id: rounded(hit.parts) for hit in shown if hit.parts},
        "session": session,
    }
    return Reminder(recall_id, scopes[0], rendered.text, tuple(hit.memory for hit in shown), found)


def record(services: Services, reminder: Reminder) -> None:
    """Have it written down, a moment later, that a reminder was shown, so that `learn` knows its recall_id."""
    data = {**reminder.found, "at": "prompt"}
    showing = Showing(reminder.scope, reminder.memories, reminder.recall_id, data, services.clock())
    services.showings.add(showing)


def _relevant(hits: tuple[Hit, ...], least: float) -> list[Hit]:
    return [hit for hit in hits if hit.score >= max(least, hits[0].score - _WINDOW)]


def _rendered(services: Services, result: RecallResult) -> Rendered:
    """As many hits, best first, as fit both limits."""
    for count in range(len(result.hits), 0, -1):
        some = replace(result, hits=result.hits[:count])
        rendered = render(some, max_tokens=MAX_TOKENS, count_tokens=services.count_tokens, tz=services.timezone)
        if len(rendered.text.encode("utf-16-le")) // 2 <= MAX_CHARACTERS:
            return rendered
    return Rendered("", (), len(result.hits))


def _notice(recall_id: str) -> str:
    return f"They are from earlier sessions and may bear on this prompt; recall_id {recall_id} stands for all of them."
