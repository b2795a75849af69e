"""A short round of every fuzzing target, always the same one; `scripts/fuzz/run.py` plays longer ones."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest
from fuzzing import Check, Target, play
from hypothesis import strategies as st
from targets import TARGETS

from ebbing.schemas.errors import InvalidInputError

_SEED = 11


@pytest.mark.parametrize("target", TARGETS.values(), ids=list(TARGETS))
def test_a_target_copes_with_whatever_it_is_given(target: Target) -> None:
    done = play(target, _SEED, target.suite)
    assert [finding.trace for finding in done.findings] == []
    assert done.executions >= target.suite


@contextmanager
def _refusing_large_numbers(folder: Path) -> Generator[Check]:
    seen: list[int] = []

    def judge(number: int) -> None:
        seen.append(number)
        if number > 1_000:
            raise InvalidInputError("that is too much")

    yield judge
    assert 7 not in seen, "seven was left behind"


FLAWED = Target("flawed", "numbers", st.integers(0, 100_000), _refusing_large_numbers)


def test_a_finding_is_the_smallest_input_and_comes_again_with_its_seed() -> None:
    [first] = play(FLAWED, 1, 50).findings
    [again] = play(FLAWED, 1, 50).findings
    assert first.shown == again.shown == "1001"
    assert "that is too much" in first.trace
    assert (first.target, first.seed) == ("flawed", 1)


def test_what_is_known_is_passed_over() -> None:
    [found] = play(FLAWED, 1, 50).findings
    done = play(FLAWED, 1, 50, frozenset({found.where}))
    assert (done.findings, done.executions) == ([], 50)


def test_what_a_round_leaves_behind_is_judged_too() -> None:
    sevens = Target("sevens", "one number", st.just(7), _refusing_large_numbers)
    [found] = play(sevens, 1, 5).findings
    assert "seven was left behind" in found.trace
