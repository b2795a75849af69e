"""Channels that count more or less than by default, through recall."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pytest
from recall_store import NOW, RecallStore

from ebbing.retrieval.channels.base import Ranking
from ebbing.retrieval.learned import Parts, multiplied, reweighted, with_bonus_parts
from ebbing.retrieval.recaller import Recaller
from ebbing.retrieval.request import RecallRequest, RecallResult


@pytest.fixture
def memories(tmp_path: Path) -> Iterator[RecallStore]:
    with RecallStore(tmp_path) as opened:
        opened.save("The retry budget of the uploader is five attempts, and the uploader retries.")
        opened.save("Uploads are attempted again five times at most.")
        opened.save("The uploader writes to a bucket.")
        yield opened


def ask(memories: RecallStore, learned: Mapping[str, Mapping[str, float]] | None = None) -> RecallResult:
    recaller = Recaller(
        memories.store,
        lambda: memories.embedder,
        lambda _columns, seqs, _now: np.ones(len(seqs)),
        learned=None if learned is None else lambda: learned,
    )
    return recaller.recall(RecallRequest(query="uploader retry budget", scopes=("p",), now=NOW))


def test_hits_tell_what_each_channel_contributed(memories: RecallStore) -> None:
    best = ask(memories).hits[0]
    assert {"lexical", "semantic", "interaction"} <= best.parts.keys()
    assert best.parts["lexical"] > 0


def test_nothing_learned_leaves_every_score_as_it_is(memories: RecallStore) -> None:
    plain = [(hit.memory.id, hit.score) for hit in ask(memories).hits]
    idle: list[dict[str, dict[str, float]]] = [
        {},
        {"simple": {}},
        {"simple": {"lexical": 1.0}},
        {"list": {"lexical": 3.0}},
    ]
    for learned in idle:
        assert [(hit.memory.id, hit.score) for hit in ask(memories, learned).hits] == plain


def test_a_channel_that_counts_more_changes_scores_by_its_contribution(memories: RecallStore) -> None:
    plain = {hit.memory.id: hit for hit in ask(memories).hits}
    more = ask(memories, {"simple": {"lexical": 2.0}}).hits
    assert {hit.memory.id for hit in more} == plain.keys()
    assert any(hit.score > plain[hit.memory.id].score + 0.05 for hit in more)
    assert [hit.parts for hit in more] == [plain[hit.memory.id].parts for hit in more]


def test_order_follows_the_multiplied_contributions() -> None:
    model = Ranking(np.array([4, 7]), np.array([2.0, 1.5], np.float32), {"interaction": np.array([1.0, 2.0])})
    parts = Parts(model.rows, {"lexical": np.array([0.2, 1.0], np.float32)})
    changed = reweighted(model, parts, {"lexical": 2.0, "gist": 3.0})
    assert changed.rows.tolist() == [7, 4]
    assert np.allclose(changed.scores, [2.5, 2.2])
    assert changed.features["interaction"].tolist() == [2.0, 1.0]
    assert reweighted(model, parts, {"lexical": 1.0}) is model
    assert parts.of(5) == {}


def test_shares_of_the_bonus_are_multiplied_too() -> None:
    assert multiplied({"entity": 0.5, "gist": 0.3}, {"entity": 2.0}) == {"entity": 1.0, "gist": 0.3}


def test_what_a_channel_contributes_in_both_ways_adds_up() -> None:
    model, whole = with_bonus()
    assert whole.of(7) == {"entity": pytest.approx(0.2 + 0.1 * 0.5), "lexical": 0.5}
    assert whole.of(4) == {"entity": 0.5, "lexical": 1.5}
    assert whole.of(5) == {}
    assert len(model) == 2


def test_a_multiplier_moves_the_models_scores_by_its_part_in_them_and_not_by_the_bonus() -> None:
    model, whole = with_bonus()
    assert np.allclose(reweighted(model, whole, {"entity": 3.0}).scores, [2.0 + 2 * 0.5, 1.0 + 2 * 0.2])
    assert reweighted(model, whole, {"activation": 3.0}) is model


def with_bonus() -> tuple[Ranking, Parts]:
    """Two rows with the parts of two channels, and the bonus of two, one of which is among them."""
    model = Ranking(np.array([4, 7]), np.array([2.0, 1.0], np.float32))
    found = {"entity": Ranking(np.array([7]), np.array([3.0], np.float32))}
    values = {"entity": np.array([0.5, 0.2], np.float32), "lexical": np.array([1.5, 0.5], np.float32)}
    return model, with_bonus_parts(Parts(model.rows, values), model, found, {"entity": 0.5, "activation": 0.5}, 0.1)
