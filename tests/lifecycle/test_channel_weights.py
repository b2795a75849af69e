"""How much channels count, learned from choices: shrunk, believed as far as it foresees, without a jump."""

import json
import math
import random
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbing.lifecycle.channel_weights import EVERY, Learned, Lesson, taught
from ebbing.lifecycle.choices import PLACE

BETTER_BY_WORDS = ({"lexical": 1.0, "semantic": -1.0},)
CHANNELS = ("lexical", "semantic", "interaction")
_names = st.sampled_from(["lexical", "semantic", "entity", "rest", "place"])
choices = st.lists(st.dictionaries(_names, st.floats(-1e6, 1e6), max_size=3), max_size=4).map(tuple)
lessons = st.builds(
    Lesson, st.sampled_from(["simple", "list"]), st.lists(choices, max_size=2).map(tuple), st.floats(0.05, 1.0)
)


def after(signals: int, choice: Sequence[Mapping[str, float]]) -> Learned:
    known = Learned()
    for _ in range(signals):
        known = taught(known, Lesson("simple", (tuple(choice),)))
    return known


def lived(signals: int, taste: Mapping[str, float], *, heat: float = 1.0, place: float = 0.0, seed: int = 7) -> Learned:
    """What is known of a user who picks one of ten, shown by the sum of what the channels say."""
    rng, known = random.Random(seed), Learned()
    for number in range(signals):
        shown = [{name: rng.gauss(0, 1.0) for name in CHANNELS} for _ in range(10)]
        shown.sort(key=lambda parts: -sum(parts.values()))
        ranked = [{**parts, PLACE: -math.log(rank)} for rank, parts in enumerate(shown, 1)]
        drawn = [
            math.exp(heat * sum(taste.get(name, 1.0) * parts[name] for name in CHANNELS) + place * parts[PLACE])
            for parts in ranked
        ]
        [taken] = rng.choices(range(10), drawn)
        choice = tuple(
            {name: ranked[taken][name] - parts[name] for name in parts}
            for number, parts in enumerate(ranked)
            if number != taken
        )
        known = taught(known, Lesson(("simple", "list")[number % 2], (choice,)))
    return known


def test_what_finds_the_useful_comes_to_count_more_and_what_does_not_less() -> None:
    multipliers = lived(200, {"lexical": 2.0, "semantic": 0.3}).multipliers()["simple"]
    assert multipliers["lexical"] > 1.2
    assert multipliers["semantic"] < 0.7


def test_one_signal_moves_a_multiplier_by_a_few_percent_at_most() -> None:
    for size in (0.01, 0.1, 0.3, 1.0, 10.0, 1_000.0):
        values = after(1, [{"lexical": size, "semantic": -3 * size}]).multipliers()["simple"].values()
        assert all(abs(value - 1.0) < 0.08 for value in values)


def test_nothing_counts_before_it_has_foreseen_a_signal_better_than_the_defaults() -> None:
    assert set(after(1, BETTER_BY_WORDS).multipliers()["simple"].values()) == {1.0}
    assert after(2, BETTER_BY_WORDS).belief > 0.0


def test_a_weak_signal_counts_less_than_a_given_one() -> None:
    strong, weak = Learned(), Learned()
    for _ in range(10):
        strong = taught(strong, Lesson("simple", (BETTER_BY_WORDS,)))
        weak = taught(weak, Lesson("simple", (BETTER_BY_WORDS,), 0.2))
    counts = [known.multipliers()["simple"]["lexical"] for known in (weak, strong)]
    assert 1.0 < counts[0] < 1.0 + 0.5 * (counts[1] - 1.0)


def test_classes_of_questions_share_most_of_what_they_learn() -> None:
    multipliers = after(30, BETTER_BY_WORDS).multipliers()
    assert multipliers["simple"]["lexical"] > multipliers[EVERY]["lexical"] > 1.0


@pytest.mark.parametrize("user", [{}, {"heat": 0.0}, {"heat": 0.0, "place": 2.0}, {"place": 1.0}])
@pytest.mark.parametrize("seed", [1, 2])
def test_who_agrees_with_the_defaults_or_picks_at_random_or_by_place_leaves_them_where_they_are(
    user: Mapping[str, float], seed: int
) -> None:
    known = lived(400, {}, **user, seed=seed)
    assert known.belief < 0.3
    assert all(abs(value - 1.0) < 0.05 for value in known.multipliers()[EVERY].values())


def test_a_taste_is_found_though_the_user_often_takes_what_stands_first() -> None:
    known = lived(500, {"lexical": 2.0, "semantic": 0.3}, place=1.0)
    assert known.belief > 0.95
    assert known.multipliers()[EVERY]["lexical"] > 1.5 * known.multipliers()[EVERY]["semantic"]


def test_what_no_channel_contributed_explains_a_choice_and_is_not_learned() -> None:
    alone = after(5, [{"lexical": 0.5}]).multipliers()["simple"]
    explained = after(5, [{"lexical": 0.5, "rest": 6.0}]).multipliers()["simple"]
    assert 0.0 <= explained["lexical"] - 1.0 < 0.1 * (alone["lexical"] - 1.0)
    assert set(explained) == {"lexical"}


@settings(max_examples=40)
@given(st.lists(lessons, max_size=20))
def test_multipliers_stay_in_their_bounds_and_survive_the_store(taken: list[Lesson]) -> None:
    known = Learned()
    for lesson in taken:
        known = taught(known, Lesson.of_data(json.loads(json.dumps(lesson.as_data()))))
    for multipliers in known.multipliers().values():
        assert all(1 / 3 - 1e-9 <= value <= 3 + 1e-9 for value in multipliers.values())
    assert Learned.of_data(json.loads(json.dumps(known.as_data()))) == known


@pytest.mark.parametrize(
    "lesson", [Lesson("simple", ()), Lesson("simple", ((),)), Lesson("simple", (BETTER_BY_WORDS,), 0.0)]
)
def test_no_choice_and_no_weight_teach_nothing(lesson: Lesson) -> None:
    assert taught(Learned(), lesson) == Learned()
    assert Learned().multipliers() == {}
