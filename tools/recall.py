"""recall: find what is remembered, or read memories whole by id."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..lifecycle.channel_lessons import rounded
from ..lifecycle.showings import Showing
from ..retrieval.render import render, render_originals
from ..retrieval.request import RecallRequest, RecallResult
from ..schemas.errors import InvalidInputError
from ..schemas.ids import new_id
from ..schemas.instants import iso
from ..schemas.memory import Kind, Memory
from ..schemas.wire import RecalledMemory, RecallReply
from .checks import between, instant, kind_of, memories_by_id, ordered, question, visible_scopes
from .services import Services

WAIT_FOR_MODEL = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallArguments:
    """What a caller may say; dates are ISO 8601."""

    query: str = ""
    scope: str | None = None
    kinds: Sequence[str] = ()
    limit: int = 10
    max_tokens: int = 1_200
    since: str | None = None
    until: str | None = None
    as_of: str | None = None
    include_faded: bool = False
    ids: Sequence[str] = ()
    explain: bool = False


def recall(services: Services, arguments: RecallArguments) -> RecallReply:
    """Answer a recall; what it showed is recorded a moment later.

    Raises:
        InvalidInputError: for arguments that can't be used; the text says what to change.
        StoreError: if the store can't be read.
    """
    scopes = visible_scopes(services, arguments.scope)
    tokens = int(between(arguments.max_tokens, 50, services.limits.recall_tokens, "max_tokens"))
    if arguments.ids:
        return _originals(services, memories_by_id(services, arguments.ids, scopes), tokens)
    request = _request(services, arguments, scopes)
    result = services.recaller.recall(request)
    return _reply(services, request, result, tokens)


def _request(services: Services, arguments: RecallArguments, scopes: tuple[str, ...]) -> RecallRequest:
    query = question(services, arguments.query)
    if not query:
        raise InvalidInputError("recall needs a query in plain words, or ids to read memories whole")
    since = instant(arguments.since, "since")
    until = instant(arguments.until, "until", end_of_day=True)
    ordered(since, until, "since and until")
    kinds = frozenset(kind_of(name) for name in arguments.kinds)
    return RecallRequest(
        query=query,
        scopes=scopes,
        kinds=kinds or None,
        limit=int(between(arguments.limit, 1, services.limits.recall_results, "limit")),
        since=since,
        until=until,
        as_of=instant(arguments.as_of, "as_of", end_of_day=True),
        include_faded=arguments.include_faded,
        now=services.clock(),
        session=services.session,
        explain=arguments.explain,
    )


def _reply(services: Services, request: RecallRequest, result: RecallResult, max_tokens: int) -> RecallReply:
    rendered = render(result, max_tokens=max_tokens, count_tokens=services.count_tokens, tz=services.timezone)
    now = services.clock()
    recall_id = new_id(now)
    shown = [hit for hit in result.hits if hit.memory.id in rendered.shown]
    if shown:
        found = {hit.memory.id: list(hit.channels) for hit in shown}
        parts = {hit.memory.id: rounded(hit.parts) for hit in shown if hit.parts}
        data = {"class": result.query_class, "channels": found, "parts": parts, "session": request.session}
        services.showings.add(Showing(request.scopes[0], tuple(hit.memory for hit in shown), recall_id, data, now))
    return RecallReply(
        recall_id=recall_id,
        text=rendered.text,
        memories=[_wire(hit.memory, hit.text, round(hit.score, 4), list(hit.channels)) for hit in shown],
        omitted=rendered.omitted,
        below_floor=result.below_floor,
        notices=list(result.notices),
        explanation={"class": result.query_class, "reasons": list(result.reasons)} if request.explain else None,
    )


def _originals(services: Services, memories: list[Memory], max_tokens: int) -> RecallReply:
    rendered = render_originals(memories, max_tokens=max_tokens, count_tokens=services.count_tokens)
    now = services.clock()
    recall_id = new_id(now)
    shown = [memory for memory in memories if memory.id in rendered.shown]
    if shown:
        services.showings.add(Showing(services.scope, tuple(shown), recall_id, {"class": "ids"}, now))
    return RecallReply(
        recall_id=recall_id,
        text=rendered.text,
        memories=[_wire(memory, memory.content, 1.0, ["id"]) for memory in shown],
        omitted=rendered.omitted,
        below_floor=0,
        notices=[],
    )


def _wire(memory: Memory, text: str, score: float, channels: list[str]) -> RecalledMemory:
    return RecalledMemory(
        id=memory.id,
        kind=str(memory.kind),
        state=memory.strength.state.label,
        scope=memory.scope,
        text=text,
        recorded_at=iso(memory.recorded_at),
        score=score,
        found_by=channels,
        trust=round(memory.trust, 3),
        source=memory.provenance.source,
        valid_to=None if memory.valid_to is None else iso(memory.valid_to),
        superseded_by=memory.superseded_by,
    )


KIND_NAMES = tuple(str(kind) for kind in Kind)
