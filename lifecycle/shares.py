"""What one memory brings into another when the two are merged, and what is left when that is undone.

Pure. The journal holds each share, so that merging can be replayed, and undone as if it had never been.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Self

from ..schemas.memory import Event, Memory, State, Strength
from ..store.journal import Entry
from . import feedback, fold
from .constants import DEFAULTS, DecaySettings

COPY_WEIGHT: Final = 0.5
_STATES = {state.label: state for state in State}


@dataclass(frozen=True, slots=True)
class Share:
    """Evidence and use of one memory. Of `figures` only state, uses, spaced uses, last use and anchor are meant."""

    confirmations: int
    trust: float
    figures: Strength

    @classmethod
    def of(cls, memory: Memory) -> Self:
        """What a memory has."""
        return cls(memory.confirmations, memory.trust, memory.strength)

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Self:
        """What `written` gave."""
        figures = Strength(
            state=_STATES[data["state"]],
            uses=data["uses"],
            spaced_uses=data["spaced_uses"],
            last_use_at=data["last_use_at"],
            anchor_tau=data["anchor_tau"],
        )
        return cls(data["confirmations"], data["trust"], figures)

    def written(self) -> dict[str, Any]:
        """As JSON, every number as exact as it is."""
        figures = self.figures
        return {
            "confirmations": self.confirmations,
            "trust": self.trust,
            "state": figures.state.label,
            "uses": figures.uses,
            "spaced_uses": figures.spaced_uses,
            "last_use_at": figures.last_use_at,
            "anchor_tau": figures.anchor_tau,
        }

    def over(self, figures: Strength) -> Strength:
        """Figures with what is meant here put in."""
        own = self.figures
        return replace(
            figures,
            state=own.state,
            uses=own.uses,
            spaced_uses=own.spaced_uses,
            last_use_at=own.last_use_at,
            anchor_tau=own.anchor_tau,
        )

    def plus(self, copy: Share) -> Share:
        """With the share of a near-duplicate: confirmations and uses add up, the better trust stays."""
        return Share(
            self.confirmations + copy.confirmations,
            max(self.trust, copy.trust),
            fold.merged(self.figures, copy.figures),
        )


def without(history: Sequence[Entry], copy: str, settings: DecaySettings = DEFAULTS) -> Share | None:
    """What a memory would have if `copy` had never been merged into it; None where its journal can't tell.

    `history` is the memory's whole journal, oldest first. The state is not replayed.
    """
    share: Share | None = None
    for entry in history:
        if share is None and entry.event is Event.MERGED and "copy" in entry.data:
            # It came without its journal: what it had before its first merge is where to start.
            share = Share.read(entry.data["before"])
        if share is None and "trust" in entry.data and entry.event in (Event.SAVED, Event.GISTED):
            share = Share(0, entry.data["trust"], Strength(anchor_tau=entry.data["tau"]))
        elif share is not None and not _is_void(entry, history, copy):
            share = _after(share, entry, settings)
    return share


def merges(history: Sequence[Entry], copy: str) -> list[Mapping[str, Any]]:
    """What was merged into a memory and is still in it, `copy` left out: the journal's data, oldest first."""
    return [entry.data for entry in history if "before" in entry.data and _merges(entry, history, copy)]


def _merges(entry: Entry, history: Sequence[Entry], copy: str) -> bool:
    return entry.event is Event.MERGED and "copy" in entry.data and not _is_void(entry, history, copy)


def _is_void(entry: Entry, history: Sequence[Entry], copy: str) -> bool:
    """Whether a merge was undone later, or is the one that is being undone."""
    merged = entry.data.get("copy")
    if entry.event is not Event.MERGED or merged is None:
        return False
    return merged == copy or any(
        later.event is Event.UNMERGED and later.data.get("copy") == merged and later.number > entry.number
        for later in history
    )


def _after(share: Share, entry: Entry, settings: DecaySettings) -> Share:
    data, figures = entry.data, share.figures
    match entry.event:
        case Event.USED | Event.REUSED | Event.RESTORED:
            return replace(share, figures=_moved(figures, entry, settings))
        case Event.CONFIRMED:
            trust = feedback.confirmed(share.trust, settings, at_least=data.get("at_least", 0.0))
            return replace(share, trust=trust, confirmations=share.confirmations + 1)
        case Event.CONTRADICTED:
            return replace(share, trust=feedback.contradicted(share.trust, settings))
        case Event.MERGED if "copy" in data:
            return share.plus(Share.read(data))
        case _:
            return share


def _moved(figures: Strength, entry: Entry, settings: DecaySettings) -> Strength:
    tau = entry.data["tau"]
    match entry.event:
        case Event.USED:
            return fold.used(figures, entry.at, tau, settings)
        case Event.REUSED:
            return fold.reused(figures, entry.data["share"], tau)
        case _:
            return replace(figures, anchor_tau=tau)
