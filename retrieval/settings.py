"""What may be set about recall; the defaults are the measured ones."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from .channels.registry import EVIDENCE
from .weights import Weights, fitted_weights


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallSettings:
    """How recall searches, fuses and abstains.

    Attributes:
        channels: the channels that are asked.
        fusion: "scores" for the fitted model, "rrf" for weighted reciprocal ranks (for comparison).
        weights: of the fitted model.
        pool: how many memories late interaction looks at.
        floor: abstain below this probability that the question is about what is remembered; 0 never abstains.
        interaction: whether late interaction takes part.
    """

    channels: tuple[str, ...] = EVIDENCE
    fusion: Literal["scores", "rrf"] = "scores"
    weights: Weights = field(default_factory=fitted_weights)
    pool: int = 100
    floor: float = 0.0
    interaction: bool = True
