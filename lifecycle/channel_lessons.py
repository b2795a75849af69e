"""From feedback on a recall to a lesson about the channels: kept in the store, journalled, replayable, forgettable."""

from __future__ import annotations

import json
import logging
from collections.abc import Collection, Mapping, Sequence
from math import log
from typing import Any, Final

from ..schemas.memory import Event
from ..store.journal import Entry
from ..store.store import Store
from .channel_weights import Learned, Lesson, taught
from .choices import PLACE

_log = logging.getLogger(__name__)

KEY: Final = "learned.choices"
_OTHERS: Final = 15
_DIGITS: Final = 4
_LOOKED_BACK: Final = 20


class ChannelLessons:
    """What feedback has taught about the channels of one store. Safe for several threads and processes."""

    def __init__(self, store: Store) -> None:
        """Read and write through `store`."""
        self._store = store
        self._parsed: tuple[str | None, Learned, dict[str, dict[str, float]]] = (None, Learned(), {})

    def known(self) -> Learned:
        """What was learned.

        Raises:
            StoreError: if the store can't be read.
        """
        text = self._store.meta.get(KEY)
        if text != self._parsed[0]:
            learned = Learned() if text is None else _read(text)
            self._parsed = (text, learned, learned.multipliers())
        return self._parsed[1]

    def multipliers(self) -> dict[str, dict[str, float]]:
        """By class of question, `EVERY` for those not named, and channel; a channel that is not named counts 1."""
        self.known()
        return self._parsed[2]

    def teach(self, recall_id: str | None, useful: Sequence[str], at: int, weight: float = 1.0) -> bool:
        """Learn from memories that proved useful after a recall, by default the latest that showed one of them.

        A memory teaches once for each recall, and once more where a weak signal is followed by a stronger one. Whether
        anything was learned.

        Raises:
            StoreError: if the store can't be written; nothing was changed.
        """
        with self._store.atomic():
            entries = self._entries(recall_id, useful)
            shown = next((entry for entry in entries if entry.event is Event.SHOWN), None)
            if shown is None:
                return False
            learned = [entry for entry in entries if entry.event is Event.LEARNED and entry.data["weight"] >= weight]
            already = {one for entry in learned for one in entry.data["useful"]}
            lesson = lesson_of(shown.data, useful, already, weight)
            if not lesson.choices:
                return False
            data = {**lesson.as_data(), "useful": [one for one in useful if one not in already]}
            self._store.journal.append(Entry(at, Event.LEARNED, shown.scope, None, shown.ref, data))
            write(self._store, taught(self.known(), lesson))
        return True

    def reset(self, at: int) -> bool:
        """Forget all of it, so that every channel counts as by default; whether there was anything."""
        with self._store.atomic():
            if not self.known().signals:
                return False
            self._store.journal.append(Entry(at, Event.UNLEARNED))
            write(self._store, Learned())
        return True

    def _entries(self, recall_id: str | None, useful: Sequence[str]) -> list[Entry]:
        if recall_id is not None:
            return self._store.journal.of_ref(recall_id)
        for entry in self._store.journal.newest(Event.SHOWN, _LOOKED_BACK):
            if entry.ref is not None and not set(useful).isdisjoint(entry.data.get("memories", ())):
                return self._store.journal.of_ref(entry.ref)
        return []


def lesson_of(shown: Mapping[str, Any], useful: Collection[str], already: Collection[str], weight: float) -> Lesson:
    """The choice of each useful memory among the others that were shown and said to be of no use so far."""
    told: Mapping[str, Mapping[str, float]] = shown.get("parts", {})
    parts = {
        name: {**told[name], PLACE: -log(rank)}
        for rank, name in enumerate(shown.get("memories", ()), 1)
        if name in told
    }
    new = [name for name in parts if name not in already]
    others = [name for name in new if name not in useful][:_OTHERS]
    choices = [tuple(_difference(parts[one], parts[other]) for other in others) for one in new if one in useful]
    return Lesson(str(shown.get("class")), tuple(choices) if others else (), weight)


def write(store: Store, learned: Learned) -> None:
    """Keep what was learned, in the caller's transaction."""
    store.meta.set(KEY, json.dumps(learned.as_data(), sort_keys=True))


def _read(text: str) -> Learned:
    """What was kept; nothing where the row is not what `write` writes, which an import may bring."""
    try:
        return Learned.of_data(json.loads(text))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        _log.warning("what was learned of the channels can't be read and counts for nothing: %r", error)
        return Learned()


def rounded(parts: Mapping[str, float]) -> dict[str, float]:
    """Contributions as the journal keeps them; zeros are left out."""
    short = {name: round(value, _DIGITS) for name, value in parts.items()}
    return {name: value for name, value in short.items() if value}


def _difference(one: Mapping[str, float], other: Mapping[str, float]) -> dict[str, float]:
    return {
        name: round(one.get(name, 0.0) - other.get(name, 0.0), _DIGITS) for name in sorted(one.keys() | other.keys())
    }
