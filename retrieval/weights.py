"""The fitted weights, from a data file beside this one: for turns of named speakers, and for everything else."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

INTERACTION: Final = "interaction"
_FILE: Final = Path(__file__).with_name("weights.json")


@dataclass(frozen=True, slots=True)
class WeightSet:
    """Weights by feature: `first` chooses the pool, `final` ranks it and has one for late interaction."""

    first: Mapping[str, float]
    final: Mapping[str, float]

    @classmethod
    def parse(cls, data: Mapping[str, Any]) -> WeightSet:
        """A set from its JSON object."""
        return cls(
            {str(name): float(value) for name, value in data["first"].items()},
            {str(name): float(value) for name, value in data["final"].items()},
        )


@dataclass(frozen=True, slots=True)
class Weights:
    """Both sets; see `cues.is_dialogue` for which applies."""

    dialogue: WeightSet
    plain: WeightSet

    @classmethod
    def parse(cls, data: Mapping[str, Any]) -> Weights:
        """Both sets from the data file's JSON object."""
        return cls(WeightSet.parse(data["dialogue"]), WeightSet.parse(data["plain"]))


@cache
def fitted_weights() -> Weights:
    """The weights that ship with the package; `scripts/fit_weights.py` writes the file."""
    return Weights.parse(json.loads(_FILE.read_text(encoding="utf-8")))
