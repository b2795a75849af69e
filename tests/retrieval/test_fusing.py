"""Bonus, spreading, reserved places, reciprocal ranks, strength: arithmetic on rankings."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbing.retrieval.bonus import spread_out, with_bonus, with_places
from ebbing.retrieval.channels.base import Ranking
from ebbing.retrieval.recaller import UNIT, strengthened
from ebbing.retrieval.rrf import reciprocal_ranks


def ranking(rows: list[int], scores: list[float]) -> Ranking:
    return Ranking(np.array(rows, np.intp), np.array(scores, np.float32))


def falling(values: list[float]) -> list[float]:
    return sorted(values, reverse=True)


scores = st.lists(st.floats(-10, 10, width=32), min_size=1, max_size=30).map(falling)


@given(scores, st.floats(0, 0.1))
def test_a_bonus_stays_within_its_share_of_the_range_and_never_makes_a_new_best(
    values: list[float], cap: float
) -> None:
    evidence = ranking(list(range(len(values))), values)
    loud = ranking(list(range(len(values)))[::-1], [1.0] * len(values))
    raised = with_bonus(evidence, {"entity": loud, "hopfield": loud}, {"entity": 5.0}, cap, agreement=True)
    most = cap * (values[0] - values[-1])
    assert (raised <= evidence.scores[0]).all()
    assert (raised - evidence.scores <= most + 1e-4).all()
    assert (raised >= evidence.scores).all()


def test_what_independent_groups_of_channels_found_is_raised() -> None:
    evidence = ranking([0, 1, 2, 3], [4.0, 3.0, 2.0, 1.0])
    found = {"semantic": ranking([2, 0], [1.0, 0.5]), "lexical": ranking([2], [1.0]), "activation": ranking([2], [1.0])}
    raised = with_bonus(evidence, found, {}, 0.1, agreement=True)
    assert raised[2] > evidence.scores[2]
    assert raised[1] == evidence.scores[1]


def test_channels_of_one_group_do_not_count_as_agreement() -> None:
    evidence = ranking([0, 1, 2], [3.0, 2.0, 1.0])
    found = {"semantic": ranking([1], [1.0]), "hopfield": ranking([1], [1.0])}
    assert with_bonus(evidence, found, {}, 0.1, agreement=True).tolist() == evidence.scores.tolist()


@given(scores, st.floats(0, 2), st.integers(1, 12), st.integers(1, 4))
def test_spreading_keeps_the_rows_and_the_best_and_its_scores_fall(
    values: list[float], penalty: float, limit: int, sessions: int
) -> None:
    given_ranking = ranking(list(range(len(values))), values)
    of_session = np.arange(len(values), dtype=np.int32) % sessions
    spread = spread_out(given_ranking, of_session, penalty, limit)
    assert sorted(spread.rows.tolist()) == sorted(given_ranking.rows.tolist())
    assert spread.scores[0] == given_ranking.scores[0]
    assert (np.diff(spread.scores) <= 1e-6).all()


def test_spreading_brings_other_sessions_forward() -> None:
    near = ranking([0, 1, 2, 3], [2.0, 1.9, 1.8, 1.7])
    spread = spread_out(near, np.array([0, 0, 0, 1], np.int32), 0.4, 4)
    assert spread.rows.tolist()[:2] == [0, 3]


def test_reserved_places_are_the_last_ones_and_hold_what_was_not_there() -> None:
    evidence = ranking(list(range(12)), falling([float(number) for number in range(12)]))
    found = {"activation": ranking([0, 50, 11], [1.0, 0.9, 0.1])}
    filled = with_places(evidence, found, {"activation": 1.0}, 1, 10)
    assert filled.rows[:10].tolist() == [0, 1, 2, 3, 4, 5, 6, 7, 8, 50]
    assert (np.diff(filled.scores) <= 0).all()
    assert with_places(evidence, {}, {"activation": 1.0}, 1, 10) is evidence


def test_no_place_is_given_away_where_the_answer_has_the_strongest_association() -> None:
    evidence = ranking(list(range(12)), falling([float(number) for number in range(12)]))
    found = {"activation": ranking([0, 50, 11], [1.0, 0.7, 0.1])}
    assert with_places(evidence, found, {"activation": 1.0}, 1, 10) is evidence


def test_reciprocal_ranks_follow_the_published_weights() -> None:
    found = {"semantic": ranking([3, 1], [1.0, 0.5]), "gist": ranking([1], [9.0])}
    fused = reciprocal_ranks(found, 5, 10)
    assert fused.rows.tolist() == [1, 3]
    assert fused.scores.tolist() == pytest.approx([1.2 / 17 + 0.8 / 16, 1.2 / 16])


def test_strength_counts_only_near_the_best() -> None:
    relevance = np.array([UNIT, UNIT * 0.9, UNIT * 0.5], np.float32)
    raised = strengthened(relevance, np.array([0.0, 1.0, 1.0]), np.array([0.0, 1.0, 1.0], np.float32))
    assert raised[1] == pytest.approx(0.9 + 0.04 + 0.05)
    assert raised[0] == pytest.approx(1.0 - 0.04)
    assert raised[2] == pytest.approx(0.5)
