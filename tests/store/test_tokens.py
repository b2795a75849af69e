"""Token embeddings: in text order, of one model, counted piece by piece."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from plain_store import DIMENSION, open_store, save

from ebbing.store.codec import decode
from ebbing.store.store import Store
from ebbing.store.vectors import Vectors


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """An empty store."""
    with open_store(tmp_path) as opened:
        yield opened


def rows(seed: int, count: int) -> NDArray[np.float32]:
    """Random unit vectors (n, 64)."""
    vectors = np.random.default_rng(seed).standard_normal((count, DIMENSION))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32).reshape(count, DIMENSION)


def pieces(*numbers: int) -> NDArray[np.int32]:
    """Word pieces."""
    return np.array(numbers, dtype=np.int32)


def counted(store: Store, *numbers: int) -> tuple[list[float], int]:
    """In how many memories pieces occur, and how many memories there are."""
    items, everything = store.tokens.items_with(pieces(*numbers), store.vectors.model)
    return items.tolist(), everything


def test_tokens_come_in_text_order_by_memory_whatever_the_order_asked(store: Store) -> None:
    first, second = save(store, "one"), save(store, "two")
    store.tokens.put(first, store.vectors.model, rows(1, 3), pieces(30, 10, 20))
    store.tokens.put(second, store.vectors.model, rows(2, 2), pieces(10, 10))
    found = store.tokens.get([second, 999, first], store.vectors.model)
    assert found.seqs.tolist() == [first] * 3 + [second] * 2
    assert found.pieces.tolist() == [30, 10, 20, 10, 10]
    nearest = np.argmax(decode(found.codes) @ np.concatenate([rows(1, 3), rows(2, 2)]).T, axis=1)
    assert nearest.tolist() == [0, 1, 2, 3, 4]


def test_more_memories_than_a_statement_has_places_come_in_order_too(store: Store) -> None:
    with store.atomic(durable=False):
        seqs = [save(store, f"fact {number}") for number in range(1_020)]
        for seq in seqs:
            store.tokens.put(seq, store.vectors.model, rows(1, 1), pieces(seq))
    found = store.tokens.get(seqs[::-1], store.vectors.model)
    assert found.seqs.tolist() == found.pieces.tolist() == seqs


def test_pieces_are_counted_once_a_memory_and_follow_every_change(store: Store) -> None:
    first, second = save(store, "one"), save(store, "two")
    store.tokens.put(first, store.vectors.model, rows(1, 3), pieces(10, 10, 20))
    store.tokens.put(second, store.vectors.model, rows(2, 1), pieces(10))
    assert counted(store, 10, 20, 30) == ([2.0, 1.0, 0.0], 2)
    store.tokens.put(first, store.vectors.model, rows(3, 1), pieces(30))
    assert counted(store, 10, 20, 30) == ([1.0, 0.0, 1.0], 2)
    store.tokens.remove([first, first, 999])
    assert counted(store, 10, 20, 30) == ([1.0, 0.0, 0.0], 1)


def test_a_text_without_content_words_has_no_tokens(store: Store) -> None:
    seq = save(store, "of the")
    store.tokens.put(seq, store.vectors.model, rows(1, 0), pieces())
    found = store.tokens.get([seq], store.vectors.model)
    assert len(found.seqs) == len(found.pieces) == len(found.codes) == 0
    assert counted(store, 10) == ([0.0], 1)


def test_tokens_of_another_model_are_not_given(store: Store) -> None:
    seq = save(store, "one")
    other = Vectors(store.database, store.meta, "other", DIMENSION)
    store.tokens.put(seq, other.model, rows(1, 2), pieces(10, 20))
    assert len(store.tokens.get([seq], store.vectors.model).seqs) == 0
    assert counted(store, 10) == ([0.0], 0)
    store.tokens.put(seq, store.vectors.model, rows(1, 1), pieces(10))
    assert counted(store, 10) == ([1.0], 1)
    assert len(store.tokens.get([seq], other.model).seqs) == 0
