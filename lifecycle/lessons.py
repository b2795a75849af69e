"""Lessons of a turn: what made a failing command work, and which command works where another doesn't. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..encoding.extract import clipped
from ..encoding.told import FIX
from ..schemas.memory import Kind
from .observed import Act, Observed

_TRIVIAL = re.compile(
    r"^(?:ls|ll|dir|cat|cd|pwd|echo|head|tail|less|which|whoami|date|tree|wc|true|clear|history|env|sleep|stat|file"
    r"|grep|rg|find|fd|sed -n|git (?:status|diff|log|show|branch|stash list|remote))\b"
)
_OUTSIDE = re.compile(r"(?:^|[;&|]\s*)(?:curl|wget|http|lynx|gh (?:issue|pr) view)\b")
_WRAPPING = re.compile(r"^(?:\s*(?:cd [^;&|]+(?:&&|;)|[A-Z_][A-Z0-9_]*=\S*|sudo|time|timeout \S+)\s*)+")
_PIPED = re.compile(r"\s*(?:2>&1|\|\s*(?:head|tail|tee|cat|less)\b[^|;&]*)\s*$")
_LONGEST_COMMAND, _MOST_FILES = 160, 4
_LEAST_ALIKE = 0.5


@dataclass(frozen=True, slots=True)
class Lesson:
    """A thing learned from what tools did, in their words, and the observations it was made of."""

    kind: Kind
    text: str
    sources: tuple[Observed, ...]
    tags: tuple[str, ...] = ()


def is_trivial(command: str) -> bool:
    """Whether a command only looks around."""
    return _TRIVIAL.match(plain(command)) is not None


def plain(command: str) -> str:
    """A command in one line, without the folder it runs in, its environment, and what only shortens its output."""
    folded = " ".join(command.split())
    bare = _WRAPPING.sub("", folded)
    while (shorter := _PIPED.sub("", bare)) != bare:
        bare = shorter
    return bare or folded


def lessons(turn: Sequence[Observed]) -> list[Lesson]:
    """The fixes and procedures of one turn, in its order."""
    steps = [step for step in turn if _counts(step)]
    found: list[Lesson] = []
    for place, step in enumerate(steps):
        if step.act is Act.RAN and step.failed and (lesson := _lesson(step, steps[place + 1 :])) is not None:
            found.append(lesson)
    return list({lesson.text: lesson for lesson in found}.values())


def _counts(step: Observed) -> bool:
    if step.act is Act.EDITED:
        return bool(step.called) and not step.failed
    is_run = step.act is Act.RAN and bool(step.called)
    return is_run and not is_trivial(step.called) and not _OUTSIDE.search(step.called)


def _lesson(failed: Observed, later: Sequence[Observed]) -> Lesson | None:
    """What the steps after a failure teach; nothing if it fails once more before it works, since that one will tell."""
    command = plain(failed.called)
    for place, step in enumerate(later):
        if step.act is Act.RAN and plain(step.called) == command:
            return None if step.failed else _fix(failed, later[:place], step)
    runs = [step for step in later if step.act is Act.RAN]
    edits_first = bool(later) and later[0].act is Act.EDITED
    worked = next((step for step in runs[:3] if not step.failed and _alike(command, plain(step.called))), None)
    return None if worked is None or edits_first else _procedure(failed, worked)


def _fix(failed: Observed, between: Sequence[Observed], worked: Observed) -> Lesson | None:
    helped = [step for step in between if not step.failed]
    edits = list(dict.fromkeys(_name(step.called) for step in helped if step.act is Act.EDITED))
    runs = list(dict.fromkeys(plain(step.called) for step in helped if step.act is Act.RAN))
    if not edits and not runs:
        return None
    told = [f"editing {', '.join(edits[-_MOST_FILES:])}"] if edits else []
    told += [f"running `{_shown(runs[-1])}`"] if runs else []
    text = f"{_failure(failed)}; fixed by {' and '.join(told)}."
    return Lesson(Kind.FACT, text, (failed, *helped, worked), (FIX,))


def _procedure(failed: Observed, worked: Observed) -> Lesson:
    text = f"`{_shown(plain(worked.called))}` works where {_failure(failed)}."
    return Lesson(Kind.PROCEDURE, text, (failed, worked))


def _failure(failed: Observed) -> str:
    reason = failed.error.rstrip(" .:;")
    return f"`{_shown(plain(failed.called))}` failed" + (f" because of: {reason}" if reason else "")


def _alike(one: str, other: str) -> bool:
    """Whether two commands are after the same: they share half the words of the shorter one, or its program."""
    left, right = _words(one), _words(other)
    return one != other and len(left & right) >= _LEAST_ALIKE * min(len(left), len(right)) > 0


def _words(command: str) -> set[str]:
    return {
        word.rpartition("/")[2].strip("'\"").rstrip("0123456789.")
        for word in command.split()
        if not word.startswith("-")
    } - {"", "run"}


def _name(called: str) -> str:
    return clipped(called.split("\n", maxsplit=1)[0], _LONGEST_COMMAND)


def _shown(command: str) -> str:
    return clipped(command, _LONGEST_COMMAND).replace("`", "'")
