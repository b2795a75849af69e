"""The channels by name; each is imported when it is first used."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Final

from .base import Channel

EVIDENCE: Final = ("semantic", "lexical")
ASSOCIATIVE: Final = ("entity", "temporal", "activation", "gist", "hopfield")
CHANNELS: Final = (*EVIDENCE, *ASSOCIATIVE)


@cache
def channel(name: str) -> Channel:
    """The channel called `name`, one of `CHANNELS`."""
    module = import_module(f".{name}", __package__)
    made: Channel = getattr(module, f"{name.capitalize()}Channel")()
    return made
