"""Between which values a number may be set: beyond them a formula has no result, or a date no calendar."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

Range = tuple[float, float]

_SHARE: Final[Range] = (0.0, 1.0)
_DAYS: Final[Range] = (0.001, 1e6)
_ANY: Final[Range] = (0.0, 1e6)

_RANGES: Final[Mapping[str, Range]] = {
    "EBBING_BUSY_TIMEOUT_MS": (0.0, 1e9),
    # A thousand years either way.
    "EBBING_CLOCK_OFFSET_DAYS": (-365_000.0, 365_000.0),
    "EBBING_WALL_DAYS_PER_DAY": _DAYS,
    "EBBING_STABILITY_FLOOR": _DAYS,
    "EBBING_SPACING_DAYS": _DAYS,
    "EBBING_ACTIVATION_DAYS": _DAYS,
    "EBBING_HEAT_WINDOW": (1.0, 63.0),
    "EBBING_BUDGET_BYTES": (1.0, 1e15),
    "EBBING_BUDGET_MEMORIES": (1.0, 1e12),
    # A natural logarithm.
    "EBBING_LASTING_SHARE": (-100.0, 100.0),
}
_BEGINNINGS: Final[Mapping[str, Range]] = {
    "EBBING_VALUE_": (0.0, 100.0),
    "EBBING_LASTING_": (0.0, 100.0),
}
_ENDINGS: Final[Mapping[str, Range]] = {"_ABOVE": _SHARE, "_MARK": _SHARE, "HYSTERESIS": (0.0, 0.5)}
BITS: Final = (32, 8, 4, 2)
"""What the five variables that begin with `EBBING_BITS_` may be."""
_TRUSTS: Final = ("USER", "TOOL", "AGENT", "OUTSIDE", "GAIN", "LOSS")


def range_of(variable: str) -> Range:
    """The least and the greatest value of a variable that is a number."""
    if variable in _RANGES:
        return _RANGES[variable]
    if variable.removeprefix("EBBING_TRUST_") in _TRUSTS:
        return _SHARE
    named = [found for ending, found in _ENDINGS.items() if variable.endswith(ending)]
    named += [found for beginning, found in _BEGINNINGS.items() if variable.startswith(beginning)]
    return named[0] if named else _ANY
