"""How much channels count, learned from pairs: shrunk, bounded, and without a jump at the start."""

import json
import random
from math import exp

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbing.lifecycle.channel_weights import ClassWeights, Lesson, parse, taught

BETTER_BY_WORDS = {"lexical": 1.0, "semantic": -1.0}
pairs = st.dictionaries(st.sampled_from(["lexical", "semantic", "entity"]), st.floats(-50, 50), max_size=3)
lessons = st.builds(
    Lesson,
    st.sampled_from(["simple", "list"]),
    st.lists(pairs, max_size=4).map(tuple),
    st.floats(0.05, 1.0),
)


def after(signals: int, pair: dict[str, float]) -> ClassWeights:
    known: dict[str, ClassWeights] = {}
    for _ in range(signals):
        known = taught(known, Lesson("simple", (pair,)))
    return known["simple"]


def test_what_finds_the_useful_comes_to_count_more_and_what_does_not_less() -> None:
    multipliers = after(200, BETTER_BY_WORDS).multipliers()
    assert multipliers["lexical"] > 1.2
    assert multipliers["semantic"] < 0.85


def test_one_signal_moves_a_multiplier_by_a_few_percent_at_most() -> None:
    for size in (0.01, 0.1, 0.3, 1.0, 10.0, 1_000.0):
        values = after(1, {"lexical": size, "semantic": -3 * size}).multipliers().values()
        assert all(abs(value - 1.0) < 0.08 for value in values)


def test_a_weak_signal_counts_less_than_a_given_one() -> None:
    strong = taught({}, Lesson("simple", (BETTER_BY_WORDS,)))["simple"]
    weak = taught({}, Lesson("simple", (BETTER_BY_WORDS,), 0.2))["simple"]
    assert 0.0 < weak.offsets["lexical"] < 0.5 * strong.offsets["lexical"]


def test_classes_of_questions_learn_apart() -> None:
    known = taught(taught({}, Lesson("simple", (BETTER_BY_WORDS,))), Lesson("list", ({"entity": 1.0},)))
    assert set(known) == {"simple", "list"}
    assert set(known["list"].offsets) == {"entity"}


def test_signals_that_agree_with_the_defaults_leave_them_about_where_they_are() -> None:
    rng = random.Random(7)
    known: dict[str, ClassWeights] = {}
    for _ in range(1_000):
        pair = {"lexical": rng.gauss(0, 1.5), "semantic": rng.gauss(0, 1.5)}
        if rng.random() > 1 / (1 + exp(-sum(pair.values()))):
            pair = {name: -value for name, value in pair.items()}
        known = taught(known, Lesson("simple", (pair,)))
    assert all(abs(value - 1.0) < 0.15 for value in known["simple"].multipliers().values())


def test_what_no_channel_contributed_explains_a_choice_and_is_not_learned() -> None:
    alone = after(1, {"lexical": 0.5})
    explained = after(1, {"lexical": 0.5, "rest": 6.0})
    assert 0.0 < explained.offsets["lexical"] < 0.1 * alone.offsets["lexical"]
    assert set(explained.offsets) == {"lexical"}


@given(st.lists(lessons, max_size=30))
def test_multipliers_stay_in_their_bounds_and_survive_the_store(taken: list[Lesson]) -> None:
    known: dict[str, ClassWeights] = {}
    for lesson in taken:
        known = taught(known, Lesson.of_data(json.loads(json.dumps(lesson.as_data()))))
    for weights in known.values():
        assert all(1 / 3 - 1e-9 <= value <= 3 + 1e-9 for value in weights.multipliers().values())
    assert parse(json.loads(json.dumps({name: one.as_data() for name, one in known.items()}))) == known


@pytest.mark.parametrize("lesson", [Lesson("simple", ()), Lesson("simple", (BETTER_BY_WORDS,), 0.0)])
def test_no_pair_and_no_weight_teach_nothing(lesson: Lesson) -> None:
    assert taught({}, lesson) == {}
