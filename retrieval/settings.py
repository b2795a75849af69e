"""What may be set about recall; the defaults are the measured ones."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from .channels.registry import CHANNELS
from .floor import Floors, fitted_floors
from .weights import Weights, fitted_weights


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallSettings:
    """How recall searches, fuses and abstains.

    Attributes:
        channels: the channels that are asked.
        fusion: "scores" for the fitted model, "rrf" for weighted reciprocal ranks (for comparison).
        weights: of the fitted model.
        pool: how many memories late interaction looks at.
        wide_pool: the same for questions whose answer is spread over several memories.
        bonus: the most that associative channels add, as a share of the range of the evidence.
        slots: how many places at the end of an answer they may fill for wide questions.
        floors: when to say that nothing is relevant; None never says so.
        interaction: whether late interaction takes part.
    """

    channels: tuple[str, ...] = CHANNELS
    fusion: Literal["scores", "rrf"] = "scores"
    weights: Weights = field(default_factory=fitted_weights)
    pool: int = 64
    wide_pool: int = 100
    bonus: float = 0.05
    slots: int = 1
    floors: Floors | None = field(default_factory=fitted_floors)
    interaction: bool = True
