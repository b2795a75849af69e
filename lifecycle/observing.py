"""Observing: raw events become observations, cheaply. What they are worth is decided by consolidation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..encoding.writer import Draft, Prepared, prepare
from ..schemas.errors import EbbingError, InvalidInputError, TooLargeError
from ..schemas.instants import parse
from ..schemas.memory import Kind, Provenance
from ..store.spool import SpoolEvent
from ..store.store import Store
from .constants import DEFAULTS, DecaySettings
from .event_text import actor_of, describe
from .feedback import starting_trust
from .ledger import Ledger

MAX_EVENT_CHARACTERS = 20_000
_MAX_NAME = 256
_FUTURE_TOLERANCE = 86_400_000_000
_HOUR = 3_600_000_000


@dataclass(frozen=True, slots=True)
class Taken:
    """What became of a batch: `rejected` holds (index, reason)."""

    accepted: int
    duplicates: int
    rejected: tuple[tuple[int, str], ...] = ()


class Observer:
    """Stores observations in batches, each batch one transaction."""

    def __init__(self, store: Store, ledger: Ledger, settings: DecaySettings = DEFAULTS) -> None:
        """Write to `store` through `ledger`."""
        self._store = store
        self._ledger = ledger
        self._settings = settings

    def take(
        self, events: Sequence[Mapping[str, Any]], scope: str, session: str | None, client: str | None, now: int
    ) -> Taken:
        """Store what an agent hands over; one bad event never fails the batch.

        Raises:
            StoreError: if the store can't be written; none was stored.
        """
        prepared: list[Prepared] = []
        rejected: list[tuple[int, str]] = []
        for index, event in enumerate(events):
            try:
                prepared += prepare([self._draft(event, scope, session, client, now)], None)
            except EbbingError as error:
                rejected.append((index, str(error)))
        accepted = self._store_all(prepared, now)
        return Taken(accepted, len(prepared) - accepted, tuple(rejected))

    def ingest(self, now: int, limit: int = 500) -> int:
        """Store what hooks left in the spool; returns how many events were taken.

        A crash between the commit and the end of a batch means reading it again, which event ids make harmless.

        Raises:
            StoreError: if the store or the spool can't be written; the events stay in the spool.
        """
        count = 0
        while (batch := self._store.spool.take(limit)) is not None:
            with batch:
                self._take_spooled(batch.lines, now)
                batch.done()
            count += len(batch.lines)
        return count

    def _take_spooled(self, events: Sequence[SpoolEvent], now: int) -> None:
        prepared: list[Prepared] = []
        for event in events:
            text = describe(event.event, event.payload)
            if text is None:
                continue
            draft = self._spooled_draft(event, text, now)
            try:
                prepared += prepare([draft], None)
            except InvalidInputError:
                # Nothing to remember: all of it was private or blank.
                continue
        with self._store.atomic():
            for scope, at in _activity(events):
                self._ledger.activity(scope, min(at, now))
            self._store_all(prepared, now)

    def _spooled_draft(self, event: SpoolEvent, text: str, now: int) -> Draft:
        actor = actor_of(event.event, _tool_of(event))
        return Draft(
            content=text,
            scope=event.scope,
            kind=Kind.OBSERVATION,
            recorded_at=min(event.at, now),
            trust=starting_trust(actor, self._settings),
            provenance=Provenance(actor, "hook", event.session or None, event.event),
            event_id=event.event_id,
        )

    def _store_all(self, prepared: Sequence[Prepared], now: int) -> int:
        with self._store.atomic():
            ids = [item.new.event_id for item in prepared if item.new.event_id is not None]
            known = self._store.memories.known_events(ids)
            stored = 0
            for item in prepared:
                if item.new.event_id in known:
                    continue
                if item.new.event_id is not None:
                    known.add(item.new.event_id)
                seq = self._ledger.saved(item.new, now)
                self._store.lexical.add(seq, item.new.index_text, item.new.trigram_text)
                self._store.graph.mention(seq, item.new.entities)
                stored += 1
        return stored

    def _draft(self, event: Mapping[str, Any], scope: str, session: str | None, client: str | None, now: int) -> Draft:
        text = event.get("text")
        if not isinstance(text, str):
            raise InvalidInputError("an event needs a text")
        if len(text) > MAX_EVENT_CHARACTERS:
            raise TooLargeError(f"the text has {len(text):,} characters, more than {MAX_EVENT_CHARACTERS:,}")
        name = _name(event, "event") or "observed"
        tool = _name(event, "tool")
        actor = actor_of(name, tool)
        draft = Draft(
            content=text if event.get("ok") is not False else f"failed: {text}",
            scope=scope,
            kind=Kind.OBSERVATION,
            recorded_at=now,
            trust=starting_trust(actor, self._settings),
            provenance=Provenance(actor, client, _name(event, "session") or session, tool or name),
            event_id=_name(event, "event_id"),
        )
        at = event.get("at")
        return draft if at is None else replace(draft, recorded_at=_past(at, now))


def _name(event: Mapping[str, Any], key: str) -> str | None:
    value = event.get(key)
    if value is None:
        return None
    if not isinstance(value, str) or len(value) > _MAX_NAME:
        raise InvalidInputError(f"{key} must be a string of at most {_MAX_NAME} characters")
    return value.strip() or None


def _tool_of(event: SpoolEvent) -> str | None:
    tool = event.payload.get("tool_name")
    return tool if isinstance(tool, str) else None


def _past(at: object, now: int) -> int:
    if not isinstance(at, str):
        raise InvalidInputError("at must be an ISO 8601 time, such as 2026-03-01T09:30:00Z")
    instant = parse(at)
    if instant > now + _FUTURE_TOLERANCE:
        raise InvalidInputError("at lies in the future: leave it out for now")
    return min(instant, now)


def _activity(events: Sequence[SpoolEvent]) -> list[tuple[str, int]]:
    """(scope, instant) of the events that count as activity: in each scope those an hour apart, and the last.

    A spool may hold many days, and each of them is a day on which the scope's memories aged.
    """
    counted: list[tuple[str, int]] = []
    for scope in dict.fromkeys(event.scope for event in events):
        instants = sorted(event.at for event in events if event.scope == scope)
        last = instants[0] - _HOUR
        for at in instants:
            if at - last >= _HOUR or at == instants[-1]:
                counted.append((scope, at))
                last = at
    return counted
