"""Episodes: what a turn was about, in the words that were used in it. Pure: a turn in, a text out, or nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..encoding.extract import clipped, gist
from ..encoding.own_words import own_words
from .lessons import is_trivial, plain
from .observed import Act, Observed

LONGEST_NOTE = 2_000
"""Characters of a note that are kept word for word; of a longer one its gist is."""
_ASKED, _SAID, _NOTE_GIST, _DONE = 300, 480, 600, 6
_LEAST_WORDS, _LEAST_NOTE_WORDS = 4, 3
_CHATTER = re.compile(
    r"^(?:(?:ok(?:ay)?|yes|no|y|n|yep|sure|thanks?|thank you|great|perfect|nice|cool|good|done|continue|go on|go ahead"
    r"|next|please|lgtm|stop|retry|again|try again|looks good|sounds good|do it|proceed|hi|hello|hey|test|status)"
    r"[\s.,!?]*)+$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Episode:
    """The text of an episode, who tells it, and the observations it was made of."""

    text: str
    actor: str
    sources: tuple[Observed, ...]


def episodes(turn: Sequence[Observed]) -> list[Episode]:
    """The episode of a turn, or of each note where nobody asked for anything; empty for noise."""
    told = [event for event in turn if event.act in (Act.ASKED, Act.SAID)]
    notes = [episode for event in turn if event.act is Act.NOTED and (episode := _note(event)) is not None]
    if not told and not any(event.act in (Act.RAN, Act.EDITED) for event in turn):
        return notes
    whole = _of_turn(turn)
    return notes if whole is None else [whole, *notes]


def is_noise(text: str) -> bool:
    """Whether a text says nothing that could matter later: an acknowledgement, a word or two, no words at all."""
    plain_text = text.strip()
    return _CHATTER.match(plain_text) is not None or len(re.findall(r"\w{2,}", plain_text)) < _LEAST_NOTE_WORDS


def _note(event: Observed) -> Episode | None:
    if is_noise(event.text):
        return None
    text = event.text if len(event.text) <= LONGEST_NOTE else gist(event.text, _NOTE_GIST)
    return Episode(text, event.memory.provenance.actor, (event,))


def _of_turn(turn: Sequence[Observed]) -> Episode | None:
    asked = [event for event in turn if event.act is Act.ASKED and not is_noise(event.text)]
    said = [event for event in turn if event.act is Act.SAID and not is_noise(event.text)][-1:]
    done = [
        event for event in turn if event.act is Act.EDITED or (event.act is Act.RAN and not is_trivial(event.called))
    ]
    done = [event for event in done if event.called]
    parts = [f"Asked: {gist(_said(event), _ASKED)}" for event in asked]
    parts += [f"Done: {'; '.join(_doings(done))}."] if done else []
    parts += [f"Outcome: {gist(_said(event), _SAID)}" for event in said]
    sources = (*asked, *done, *said)
    words = sum(len(event.text.split()) for event in (*asked, *said))
    if not sources or (not done and words < _LEAST_WORDS * 2):
        return None
    return Episode("\n".join(parts), "agent", sources)


def _said(event: Observed) -> str:
    """What somebody said in their own words; all of it where those are none, since even a pasted log was a matter."""
    words = " ".join(own_words(event.text).split())
    return words if len(words.split()) >= _LEAST_WORDS else event.text


def _doings(done: Sequence[Observed]) -> list[str]:
    """What was done, each file and command once, with how the command ended last."""
    edited = list(dict.fromkeys(clipped(event.called, 120) for event in done if event.act is Act.EDITED))
    ended: dict[str, list[str]] = {}
    for event in done:
        if event.act is Act.RAN:
            ended.setdefault(plain(event.called), []).append("failed" if event.failed else "ok")
    files = [f"edited {', '.join(edited[:_DONE])}"] if edited else []
    return files + [
        f"ran `{clipped(command, 120)}` ({_course(ends)})" for command, ends in list(ended.items())[-_DONE:]
    ]


def _course(ends: list[str]) -> str:
    return ends[-1] if len(set(ends)) == 1 else "failed, then ok" if ends[-1] == "ok" else "ok, then failed"
