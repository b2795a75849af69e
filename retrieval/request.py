"""What recall is asked and what it answers. All instants are int µs since the epoch, UTC."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..schemas.memory import Kind, Memory


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallRequest:
    """One question.

    Attributes:
        scopes: the keys that may be seen, exactly these.
        since: recorded at this instant or later.
        until: recorded before this instant or at it.
        as_of: a point in valid time: what was valid then, superseded memories included.
        include_faded: also what was forgotten, by time or by request.
        include_superseded: also what newer memories replaced, with the chain of replacements.
        now: the instant of the call.
        session: the caller's own session.
        explain: whether the caller wants the reasons.
    """

    query: str
    scopes: tuple[str, ...]
    now: int
    kinds: frozenset[Kind] | None = None
    limit: int = 10
    since: int | None = None
    until: int | None = None
    as_of: int | None = None
    include_faded: bool = False
    include_superseded: bool = False
    session: str | None = None
    explain: bool = False


@dataclass(frozen=True, slots=True)
class Hit:
    """One memory that answers.

    Attributes:
        score: relevance with the small bonuses of §5 of the design; only comparable within one answer.
        channels: the channels that found it.
        retention: R at the time of the call, 0 to 1.
        text: the memory at its state's resolution: verbatim, gist or cue.
        parts: what each channel contributes to the score by default, in log-odds; empty for an associated memory.
        superseded_by: the ids that replaced it, oldest first, when superseded memories were asked for.
    """

    memory: Memory
    score: float
    channels: tuple[str, ...]
    retention: float
    text: str
    superseded_by: tuple[str, ...] = ()
    parts: Mapping[str, float] = field(default_factory=dict[str, float])


@dataclass(frozen=True, slots=True)
class RecallResult:
    """The answer, best first.

    Attributes:
        below_floor: how many memories matched but were too weak to be called relevant.
        query_class: what kind of question the router took it for.
        reasons: why, in words for people.
        notices: what the caller should know of how it was answered.
    """

    hits: tuple[Hit, ...]
    below_floor: int
    query_class: str
    reasons: tuple[str, ...]
    notices: tuple[str, ...] = ()
