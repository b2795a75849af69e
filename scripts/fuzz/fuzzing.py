"""Targets, and rounds of inputs that a target must cope with.

A round opens the target's surroundings once, gives it some inputs and looks at what is left behind. All inputs of a
round follow from its seed, so a seed is all that is needed to see a finding again.
"""

from __future__ import annotations

import faulthandler
import tempfile
import time
import traceback
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

Check = Callable[[Any], None]

HANGS_AFTER_SECONDS: Final = 120
UNHURRIED: Final = (HealthCheck.data_too_large, HealthCheck.filter_too_much, HealthCheck.too_slow)
_PHASES: Final = (Phase.generate, Phase.shrink)
_LONGEST_SHOWN: Final = 4_000


@dataclass(frozen=True, slots=True)
class Target:
    """Something that takes input from outside.

    Attributes:
        name: what `--target` calls it.
        about: what is given to what, in one line.
        inputs: the inputs, most of them nearly right.
        opened: a context manager over a folder that gives the judge of one input; leaving it judges what is left.
        examples: inputs of a round.
        suite: inputs of the short round that is part of the tests.
    """

    name: str
    about: str
    inputs: st.SearchStrategy[Any]
    opened: Callable[[Path], AbstractContextManager[Check]]
    examples: int = 300
    suite: int = 25


@dataclass(frozen=True, slots=True)
class Finding:
    """An input that a target did not cope with: `seed` is that of its round, `where` tells one cause from another."""

    target: str
    seed: int
    where: str
    shown: str
    trace: str


@dataclass(slots=True)
class Round:
    """What a round came to."""

    executions: int = 0
    findings: list[Finding] = field(default_factory=list[Finding])


def play(target: Target, number: int, examples: int, known: frozenset[str] = frozenset()) -> Round:
    """One round, with `number` as its seed; findings whose place is `known` are passed over."""
    done = Round()
    judged = _Judged(target, number, known, done)
    try:
        with tempfile.TemporaryDirectory(prefix="ebbing-fuzz-", ignore_cleanup_errors=True) as folder:
            _within(target, Path(folder), judged, number, examples)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is what was looked for
        judged.note(error)
    finally:
        faulthandler.cancel_dump_traceback_later()
    return done


def _within(target: Target, folder: Path, judged: _Judged, number: int, examples: int) -> None:
    with target.opened(folder) as check:

        @seed(number)
        @settings(
            max_examples=examples,
            database=None,
            deadline=None,
            phases=_PHASES,
            report_multiple_bugs=False,
            suppress_health_check=UNHURRIED,
        )
        @given(target.inputs)
        def one(value: Any) -> None:
            judged(check, value)

        one()


class _Judged:
    """Counts inputs, remembers the last one that failed, and lets nothing hang for ever."""

    def __init__(self, target: Target, number: int, known: frozenset[str], done: Round) -> None:
        self._target = target
        self._seed = number
        self._known = known
        self._done = done
        self._failed: tuple[Any, Exception] | None = None
        self._armed = 0.0

    def __call__(self, check: Check, value: Any) -> None:
        self._arm()
        self._done.executions += 1
        try:
            check(value)
        except Exception as error:
            if place_of(error) in self._known:
                return
            self._failed = (value, error)
            raise

    def note(self, error: Exception) -> None:
        """Make a finding of what ended the round: the smallest input that failed, or what was left behind."""
        value, cause = self._failed or ("(what the whole round left behind)", error)
        where = place_of(cause)
        if where not in self._known:
            trace = "".join(traceback.format_exception(cause))
            self._done.findings.append(Finding(self._target.name, self._seed, where, shown(value), trace))

    def _arm(self) -> None:
        """Have a C thread end the process with a traceback, even where an expression holds the interpreter."""
        now = time.monotonic()
        if now - self._armed > 1.0:
            self._armed = now
            faulthandler.dump_traceback_later(HANGS_AFTER_SECONDS, exit=True)


def place_of(error: BaseException) -> str:
    """Where an error comes from: its type and the innermost lines of ebbing and of a target."""
    named = getattr(error, "where", None)
    if isinstance(named, str):
        return named
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "/ebbing/" in frame.filename or "/fuzz/target_" in frame.filename]
    places = [f"{Path(frame.filename).name}:{frame.name}" for frame in (ours or frames)[-2:]]
    return " < ".join([type(error).__name__, *reversed(places)])


def shown(value: Any) -> str:
    """An input as Python would write it, its middle left out where it is long."""
    text = repr(value)
    if len(text) <= _LONGEST_SHOWN:
        return text
    return f"{text[: _LONGEST_SHOWN // 2]} … {len(text):,} characters … {text[-_LONGEST_SHOWN // 2 :]}"
