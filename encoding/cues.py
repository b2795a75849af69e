"""Cues of weight in a text: words by which people say that something matters, or that something went badly."""

from __future__ import annotations

import re

_AROUSAL = re.compile(
    r"\b(?:outage|incident|production (?:is )?down|data loss|lost data|corrupt(?:ed|ion)?|security|breach|leak(?:ed)?"
    r"|urgent(?:ly)?|emergency|critical(?:ly)?|crash(?:e[sd]|ing)?|broken|angry|furious|terrible|awful|finally|amazing"
    r"|disaster|panic|rollback|rolled back|severe)\b|!{2,}",
    re.IGNORECASE,
)
_PRIORITY = re.compile(
    r"(?<!not )(?<!n't )(?<!n’t )(?<!no longer )\b(?:never|always|must(?: not)?|important(?:ly)?"
    r"|remember (?:this|that|to)|keep in mind|do not|don['’]t|required?|mandatory"
    r"|under no circumstances|make sure|note that|critical|crucial|essential|from now on|no exceptions?)\b",
    re.IGNORECASE,
)
_STEP = 0.35


def arousal(text: str) -> float:
    """How stirring a text is, in [0, 1]: each different cue takes a part of what is left to 1."""
    return _saturating(_AROUSAL, text)


def priority(text: str) -> float:
    """How much a text insists, in [0, 1]: the importance of a memory whose writer gave none."""
    return _saturating(_PRIORITY, text)


def _saturating(pattern: re.Pattern[str], text: str) -> float:
    cues = {match.lower() for match in pattern.findall(text)}
    return round(1.0 - (1.0 - _STEP) ** len(cues), 6)
