"""The channels by name; each is imported when it is first used."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Final

from .base import Channel

EVIDENCE: Final = ("semantic", "lexical")
DIRECT: Final = (*EVIDENCE, "entity", "temporal")
"""These need only the question; the others start from what these found."""
EMBEDDED: Final = frozenset({"semantic"})
"""Of those the ones that need the question's embedding."""
SEEDED: Final = ("activation", "gist", "hopfield")
CHANNELS: Final = (*DIRECT, *SEEDED)


@cache
def channel(name: str) -> Channel:
    """The channel called `name`, one of `CHANNELS`."""
    module = import_module(f".{name}", __package__)
    made: Channel = getattr(module, f"{name.capitalize()}Channel")()
    return made
