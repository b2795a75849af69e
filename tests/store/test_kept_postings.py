"""Kept posting lists: the same as those read anew, whatever was saved, undone, removed or built anew in between."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from plain_store import open_store, save

from ebbing.schemas.errors import StoreError
from ebbing.store.kept_postings import KeptPostings
from ebbing.store.lexical import Lexical, Postings
from ebbing.store.store import Store

WORDS = ("deploy", "deploys", "café", "queue", "operational", "x1", "日本")


class CountingLexical(Lexical):
    """A lexical index that counts the lists that are read as a whole."""

    read = 0

    def postings(self, term: str) -> Postings:
        self.read += 1
        return super().postings(term)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """An empty store."""
    with open_store(tmp_path) as opened:
        yield opened


def told(store: Store, kept: KeptPostings) -> list[tuple[list[int], list[float]]]:
    """What the kept lists of all words say of memories that are there."""
    with store.snapshot():
        alive = store.catalog.columns().alive
        return [
            (found.seqs[alive[found.seqs]].tolist(), found.counts[alive[found.seqs]].tolist())
            for found in kept.of(store.lexical.terms(WORDS))
        ]


def read_anew(store: Store) -> list[tuple[list[int], list[float]]]:
    """The same, nothing kept."""
    return told(store, KeptPostings(store.database, store.lexical))


def undone(store: Store, text: str) -> None:
    """Save a text and fail."""
    with store.atomic():
        save(store, text)
        raise StoreError("enough")


STEPS = st.lists(
    st.tuples(st.sampled_from(["save", "undo", "erase", "rebuild"]), st.lists(st.sampled_from(WORDS), min_size=1)),
    max_size=8,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(steps=STEPS)
def test_kept_lists_equal_those_read_anew(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, list[str]]]
) -> None:
    with open_store(tmp_path_factory.mktemp("home")) as store:
        texts = {save(store, "queue deploy deploy"): "queue deploy deploy"}
        for step, words in steps:
            told(store, store.postings)
            text = " ".join(words)
            if step == "save":
                texts[save(store, text)] = text
            elif step == "undo":
                with pytest.raises(StoreError, match="enough"):
                    undone(store, text)
            elif step == "erase" and texts:
                seq = max(texts)
                del texts[seq]
                store.erase([seq])
            elif step == "rebuild":
                store.lexical.rebuild((seq, text, "") for seq, text in texts.items())
            assert told(store, store.postings) == read_anew(store)


def test_of_what_another_process_saved_only_that_is_read(tmp_path: Path) -> None:
    with open_store(tmp_path) as store, open_store(tmp_path) as other:
        lexical = CountingLexical(store.database)
        kept = KeptPostings(store.database, lexical)
        first = save(store, "the queue")
        kept.of(store.lexical.terms(["queue"]))
        second = save(other, "queue queue")
        [found] = kept.of(store.lexical.terms(["queue"]))
        assert found.seqs.tolist() == [first, second]
        assert found.counts.tolist() == [1.0, 2.0]
        assert lexical.read == 1


def test_a_text_that_was_indexed_anew_is_noticed(store: Store) -> None:
    seq = save(store, "the queue")
    terms = store.lexical.terms(["café", "queue"])
    assert [found.seqs.tolist() for found in store.postings.of(terms)] == [[], [seq]]
    with store.atomic():
        store.lexical.remove([seq])
        store.lexical.add(seq, "the café", "")
    assert store.postings.of(terms)[0].seqs.tolist() == [seq]


def test_what_is_being_written_is_seen_and_not_kept(store: Store) -> None:
    first = save(store, "the queue")
    terms = store.lexical.terms(["queue"])
    seen: list[list[int]] = []

    def write_and_fail() -> None:
        with store.atomic():
            seen.append([first, save(store, "queue")])
            assert store.postings.of(terms)[0].seqs.tolist() == seen[0]
            raise StoreError("enough")

    with pytest.raises(StoreError, match="enough"):
        write_and_fail()
    assert store.postings.of(terms)[0].seqs.tolist() == [first]


def test_lists_that_nobody_asks_for_make_room(store: Store) -> None:
    lexical = CountingLexical(store.database)
    kept = KeptPostings(store.database, lexical, most=5)
    for _ in range(3):
        save(store, "deploy café queue")
    terms = store.lexical.terms(["deploy", "café"])
    kept.of(terms)
    kept.of({"cafe": "café"})
    assert lexical.read == 2
    kept.of({"deploy": "deploy"})
    assert lexical.read == 3
