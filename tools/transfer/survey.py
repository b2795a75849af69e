"""What an export holds and what it would change here, found out before anything is written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ...schemas.activity import ActivityClock
from ...store.carried import Record
from ...store.importing import Importing, digest
from .lines import Line


@dataclass(slots=True)
class Survey:
    """Takes the lines of an export; afterwards its fields say what becomes of each memory, by id.

    `added` come new, `updated` have more of a history in the file, `unchanged` have the same here, `kept` have gone on
    here since, `erased` were erased here on purpose, `doubles` came from deliveries that are other memories here.
    `bad` says what is wrong with which line.
    """

    header: Record
    here: set[str]
    events: Mapping[str, str]
    gone: set[str]
    bad: dict[int, str] = field(default_factory=dict[int, str])
    added: set[str] = field(default_factory=set[str])
    updated: set[str] = field(default_factory=set[str])
    unchanged: set[str] = field(default_factory=set[str])
    kept: set[str] = field(default_factory=set[str])
    erased: set[str] = field(default_factory=set[str])
    doubles: set[str] = field(default_factory=set[str])
    clocks: dict[str, ActivityClock] = field(default_factory=dict[str, ActivityClock])
    _seen: dict[str, int] = field(default_factory=dict[str, int])
    _delivered: dict[str, int] = field(default_factory=dict[str, int])
    _histories: dict[str, Counter[bytes]] = field(default_factory=dict[str, Counter[bytes]])
    _counts: Counter[str] = field(default_factory=Counter[str])

    def take(self, lines: Iterable[Line]) -> None:
        """Look at every line."""
        last = 1
        for line in lines:
            last = line.number
            wrong = line.wrong if line.record is None else self._look(line.number, line.record)
            if wrong:
                self.bad[line.number] = wrong
        short = {
            name: wanted - self._counts[name]
            for name, wanted in self.header["records"].items()
            if isinstance(wanted, int) and wanted > self._counts[name]
        }
        if short and not self.bad:
            missing = ", ".join(f"{count:,} {name}" for name, count in short.items())
            self.bad[last + 1] = f"the file ends early: {missing} records that the header counts are missing"

    def decide(self, importing: Importing) -> None:
        """Compare the histories of the memories that are here too."""
        for identifier in self._seen.keys() & self.here:
            theirs, ours = self._histories.get(identifier, Counter()), importing.history(identifier)
            if ours == theirs:
                self.unchanged.add(identifier)
            else:
                (self.updated if ours < theirs else self.kept).add(identifier)

    def writes(self, identifier: str) -> bool:
        """Whether the file's word on a memory counts."""
        return identifier in self.added or identifier in self.updated

    def writes_entry(self, record: Record) -> bool:
        """Whether a journal entry of the file may be added: of what is written, of scopes, and of what is not here."""
        memory = record["memory"]
        if memory is None or self.writes(memory):
            return True
        return not any(memory in some for some in (self.here, self.gone, self.doubles))

    def _look(self, number: int, record: Record) -> str:
        self._counts[record["type"]] += 1
        if record["type"] == "memory":
            return self._memory(number, record)
        if record["type"] == "scope" and record["clock_origin"] is not None:
            self.clocks[record["key"]] = clock_of(record)
        elif record["type"] == "journal" and record["memory"] in self.here:
            self._histories.setdefault(record["memory"], Counter())[digest(record)] += 1
        elif record["type"] == "links":
            return self._links(record)
        return ""

    def _memory(self, number: int, record: Record) -> str:
        identifier, event = record["id"], record.get("event_id")
        if identifier in self._seen:
            return f"the memory stands in line {self._seen[identifier]} already"
        if event is not None and event in self._delivered:
            return f"its delivery is that of the memory in line {self._delivered[event]}"
        self._seen[identifier] = number
        if event is not None:
            self._delivered[event] = number
        if identifier in self.gone:
            self.erased.add(identifier)
        elif self.events.get(event or "", identifier) != identifier:
            self.doubles.add(identifier)
        elif identifier not in self.here:
            self.added.add(identifier)
        return ""

    def _links(self, record: Record) -> str:
        named = [record["memory"], *(link[0] for link in record["links"])]
        unknown = [name for name in named if name not in self._seen and name not in self.here]
        # What a bad line left out is known by its own number.
        return "it links a memory that is neither in the file nor here" if unknown and not self.bad else ""


def clock_of(record: Record) -> ActivityClock:
    """The activity clock of a scope's record that has one."""
    return ActivityClock(
        origin=record["clock_origin"],
        closed_days=record["clock_closed"],
        segment_start=record["clock_start"],
        segment_end=record["clock_end"],
        latest=record["clock_latest"],
    )
