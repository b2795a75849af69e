"""Evidence with neighbours: layout, BM25, cosine, late interaction, against plain definitions."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from fake_embedder import FakeEmbedder
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from recall_store import NOW, RecallStore

from ebbing.retrieval.analysis import analyse
from ebbing.retrieval.channels.registry import channel
from ebbing.retrieval.frames import Frames
from ebbing.retrieval.inquiry import context_for
from ebbing.retrieval.late_interaction import DECAY, late_interaction, query_tokens
from ebbing.retrieval.layout import Layout, layout_of, neighbours, shifted
from ebbing.retrieval.lexical_evidence import DECAY as WORD_DECAY
from ebbing.retrieval.lexical_evidence import lengths_of, lexical_evidence, rare_share
from ebbing.retrieval.request import RecallRequest
from ebbing.retrieval.semantic_evidence import cosines, norms_of, semantic_evidence
from ebbing.store.store import Store


@pytest.fixture
def memories(tmp_path: Path) -> Iterator[RecallStore]:
    with RecallStore(tmp_path) as opened:
        for number in range(6):
            opened.save(f"first {number} apple", session="a")
            opened.save(f"second {number} pear", session="b")
        opened.save("alone and without a session")
        opened.save("somewhere else", scope="q", session="a")
        yield opened


def layout(store: Store, *scopes: int) -> Layout:
    return layout_of(store.catalog.columns(), scopes)


def test_rows_are_in_session_order_and_sessions_of_two_scopes_stay_apart(memories: RecallStore) -> None:
    both = layout(memories.store, 1, 2)
    assert len(both) == 14
    assert both.sessions == 4
    assert both.row_of[both.seqs].tolist() == list(range(14))
    first = both.session[both.row_of[1]]
    assert (both.session == first).sum() == 6


def test_a_neighbour_counts_only_in_its_session(memories: RecallStore) -> None:
    one = layout(memories.store, 1)
    pulse = np.zeros(len(one), np.float32)
    last_of_a = int(one.row_of[11])
    pulse[last_of_a] = 1.0
    spread = one.spread(pulse, {-1: 0.5, 1: 0.25})
    assert spread[last_of_a] == 1.0
    assert spread[last_of_a - 1] == pytest.approx(0.25)
    assert spread[last_of_a + 1] == 0.0


def test_long_neighbours_count_less(tmp_path: Path) -> None:
    with RecallStore(tmp_path) as memories:
        memories.save("word " * 240, session="a")
        memories.save("short answer", session="a")
        assert layout(memories.store, 1).near[-1][1] == pytest.approx(0.25)


def laid_out(session: NDArray[np.int32], words: NDArray[np.float32]) -> Layout:
    """A layout of rows in sessions (ascending)."""
    rows, near = np.arange(len(words)), neighbours(session, words)
    offsets = frozenset(offset for offset, share in near.items() if share.any())
    return Layout(0, (1,), rows, rows.astype(np.int32), session, len(set(session.tolist())), words, near, offsets)


@given(seed=st.integers(0, 1000), kept=st.integers(0, 12))
def test_picking_rows_gives_what_a_pass_over_all_gives(seed: int, kept: int) -> None:
    chosen = np.random.default_rng(seed)
    size = 120
    words = chosen.integers(1, 200, size).astype(np.float32)
    session = np.sort(chosen.integers(0, 30 if seed % 3 else size, size)).astype(np.int32)
    one = laid_out(session, words)
    rows = np.sort(chosen.choice(size, kept, replace=False))
    values = np.zeros(size, np.float32)
    values[rows] = chosen.integers(1, 5, kept)
    around = one.around(rows)
    assert around is not None
    whole = one.spread(values, WORD_DECAY)
    assert set(np.flatnonzero(whole)) <= set(around.tolist())
    assert np.array_equal(one.spread_at(around, values, WORD_DECAY), whole[around])


def test_many_rows_are_not_picked(memories: RecallStore) -> None:
    assert layout(memories.store, 1).around(np.arange(9)) is None


@pytest.mark.parametrize("offset", [-3, -1, 1, 3])
@pytest.mark.parametrize("size", [0, 1, 2, 10])
def test_shifted_slices_fit_each_other(offset: int, size: int) -> None:
    rows = np.arange(size)
    target, source = shifted(offset, size)
    assert (rows[source] - rows[target] == offset).all()


def test_bm25_ranks_the_memory_then_its_neighbours_and_tells_what_is_known(memories: RecallStore) -> None:
    one = layout(memories.store, 1)
    postings = [memories.store.lexical.postings(term) for term in ("3", "appl", "zebra")]
    found = lexical_evidence(one, lengths_of(one), postings)
    assert int(np.argmax(found.near)) == one.row_of[7]
    assert found.alone[one.row_of[13]] == 0
    assert 0 < found.known < found.mass
    assert found.session[one.row_of[1]] > found.session[one.row_of[2]]


def test_the_words_of_the_memory_alone_are_measured_by_their_own_rarity(tmp_path: Path) -> None:
    # Every memory has a neighbour with each word, so that with neighbours none of them is rare.
    with RecallStore(tmp_path) as memories:
        wanted = memories.save("apple pear plum", session="a")
        for number in range(11):
            memories.save(("apple", "pear", "plum")[number % 3], session="a")
        with memories.store.snapshot():
            request = RecallRequest(query="apple pear plum", scopes=("p",), now=NOW)
            context = context_for(memories.store, Frames(memories.store), request, analyse(request.query), None)
            features = channel("lexical").search(context).features
        assert features["words_alone"].max() < 2
        assert int(np.argmax(features["words_alone"])) == context.layout.row_of[wanted]


@given(st.lists(st.sets(st.integers(0, 59)), max_size=6))
def test_rare_names_count_up_to_one_and_common_ones_little(found: list[set[int]]) -> None:
    shares = rare_share([np.array(sorted(rows), np.intp) for rows in found], 60)
    assert shares.shape == (60,)
    assert (shares >= 0).all()
    assert (shares <= 1 + 1e-6).all()
    assert set(np.flatnonzero(shares).tolist()) == set().union(*found)


def test_a_name_that_one_memory_has_counts_whole_and_one_that_none_has_is_no_matter() -> None:
    rows = [np.array(some, np.intp) for some in ([3], [], list(range(50)))]
    shares = rare_share(rows, 100)
    assert shares[3] > 0.85
    assert shares[3] - shares[4] > 5 * shares[4]
    assert rare_share(rows[:2], 100)[3] == pytest.approx(1.0)


def test_cosine_alone_and_with_neighbours_is_highest_at_the_memory(memories: RecallStore) -> None:
    one, matrix = layout(memories.store, 1), memories.store.resident.matrix()
    query = memories.embedder.embed_query("first 3 apple").chunks
    found = semantic_evidence(one, norms_of(one), one.rows_or_none(matrix.owners), matrix, query)
    assert int(np.argmax(found.alone)) == one.row_of[7]
    assert found.alone.max() == pytest.approx(1.0, abs=0.02)
    assert int(np.argmax(found.near)) == one.row_of[7]


def test_of_many_rows_the_nearest_are_scored_exactly_and_the_others_about_right(tmp_path: Path) -> None:
    rows = np.random.default_rng(3).standard_normal((6000, 384)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    query = rows[:1] + 0.8 * rows[1:2]
    query /= np.linalg.norm(query)
    with RecallStore(tmp_path) as memories:
        for _ in range(2):
            memories.save("chunks")
        with memories.store.atomic(durable=False):
            memories.store.vectors.put(1, 1, rows[:3000], 8)
            memories.store.vectors.put(2, 1, rows[3000:], 8)
        found, exact = cosines(memories.store.resident.matrix(), query), (rows @ query[0])
    assert found[:2] == pytest.approx(exact[:2], abs=0.01)
    assert float(np.abs(found - exact).max()) < 0.35
    assert float(np.abs(found - exact).mean()) < 0.08


def test_late_interaction_follows_its_definition(memories: RecallStore) -> None:
    store, one = memories.store, layout(memories.store, 1)
    query = memories.embedder.embed_query("first 3 apple")
    model = store.vectors.model
    weighed = query_tokens(query.tokens, query.pieces, store.tokens, model)
    assert weighed.weights.sum() == pytest.approx(1.0)
    rows = np.arange(len(one), dtype=np.intp)
    found = late_interaction(one, rows, weighed, store.tokens, model)
    embedder = FakeEmbedder()
    texts = [memory.content for memory in store.memories.by_seqs(one.seqs.tolist())]
    matches = np.stack([(query.tokens @ embedded.tokens.T).max(axis=1) for embedded in embedder.embed_documents(texts)])
    for row in range(len(one)):
        best = matches[row].copy()
        for offset, decay in DECAY.items():
            near = row + offset
            if 0 <= near < len(one) and one.session[near] == one.session[row]:
                best = np.maximum(best, decay * matches[near])
        assert found[row] == pytest.approx(float(best @ weighed.weights), abs=0.12)


def test_memories_whose_token_embeddings_are_gone_are_marked_so(memories: RecallStore) -> None:
    store, one = memories.store, layout(memories.store, 1)
    store.tokens.remove([1])
    query = memories.embedder.embed_query("first 3 apple")
    weighed = query_tokens(query.tokens, query.pieces, store.tokens, store.vectors.model)
    found = late_interaction(one, np.arange(len(one), dtype=np.intp), weighed, store.tokens, store.vectors.model)
    assert np.isnan(found).tolist() == [seq == 1 for seq in one.seqs.tolist()]
