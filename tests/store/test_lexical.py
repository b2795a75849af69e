"""The lexical index: found by word, stem and part in every state, gone when removed, the same when built anew."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from plain_store import PROJECT, open_store, save

from ebbing.schemas.errors import StoreError
from ebbing.store.store import Store

OTHER = "/projects/other"
WORDS = ["deploy", "deploys", "deployed", "cache", "queue", "日本語", "café", "naïve", "רשת", "🐟", "x1"]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """An empty store."""
    with open_store(tmp_path) as opened:
        yield opened


def quoted(text: str) -> str:
    """An expression that matches a text as a phrase."""
    return '"' + text.replace('"', '""') + '"'


def found(store: Store, text: str, *scopes: str) -> list[int]:
    """Seqs that hold a phrase, best first."""
    numbers = [number for scope in scopes or (PROJECT,) if (number := store.scopes.find(scope)) is not None]
    return [seq for seq, _ in store.lexical.search(quoted(text), numbers, 50)]


def found_by_part(store: Store, text: str) -> list[int]:
    """Seqs that hold a part of a text."""
    number = store.scopes.find(PROJECT)
    assert number is not None
    return [seq for seq, _ in store.lexical.search_substrings(quoted(text), [number], 50)]


def test_words_are_found_by_their_stem_whatever_their_case_and_accents(store: Store) -> None:
    seq = save(store, "Deployments restarted the Café servers")
    assert found(store, "deployment") == found(store, "RESTARTING") == found(store, "cafe") == [seq]
    assert found(store, "queue") == []


def test_parts_of_words_and_texts_without_word_boundaries_are_found(store: Store) -> None:
    seq = save(store, "東京の配送設定は無効です handleRequest")
    assert found_by_part(store, "配送設定") == found_by_part(store, "leReq") == [seq]


def test_the_more_a_text_says_of_a_word_the_better_its_score(store: Store) -> None:
    save(store, "the queue holds one of many things that we keep in here for later use by others")
    twice = save(store, "queue queue")
    assert found(store, "queue")[0] == twice
    scores = [score for _, score in store.lexical.search(quoted("queue"), [1], 50)]
    assert scores == sorted(scores, reverse=True)
    assert scores[-1] > 0


def test_only_the_scopes_that_were_asked_for_answer(store: Store) -> None:
    ours, theirs = save(store, "the queue"), save(store, "the queue", scope=OTHER)
    assert found(store, "queue") == [ours]
    assert sorted(found(store, "queue", PROJECT, OTHER)) == [ours, theirs]
    assert store.lexical.search(quoted("queue"), [], 50) == store.lexical.search("", [1], 50) == []


def test_what_was_removed_is_found_no_more_and_its_neighbours_are(store: Store) -> None:
    gone, stays = save(store, "the red queue"), save(store, "the blue queue")
    with store.atomic():
        store.lexical.remove([gone])
    assert found(store, "queue") == found_by_part(store, "queue") == [stays]
    store.lexical.optimize()
    of_queue, of_red = (store.lexical.postings(term) for term in store.lexical.terms(["queue", "red"]))
    assert of_queue.seqs.tolist() == [stays]
    assert of_red.seqs.tolist() == []
    assert store.integrity() == []


def test_removing_what_is_not_there_changes_nothing(store: Store) -> None:
    stays = save(store, "the queue")
    store.lexical.remove([stays + 1, stays + 1000])
    assert found(store, "queue") == [stays]
    assert store.integrity() == []


def test_an_undone_save_is_not_found(store: Store) -> None:
    def fail() -> None:
        with store.atomic():
            save(store, "the queue")
            raise StoreError("enough")

    with pytest.raises(StoreError, match="enough"):
        fail()
    seq = save(store, "the port")
    assert found(store, "queue") == []
    assert found(store, "port") == [seq]


def test_postings_count_every_occurrence_of_a_stem(store: Store) -> None:
    first, _, third = save(store, "test tests testing other"), save(store, "nothing"), save(store, "tested")
    postings = store.lexical.postings("test")
    assert postings.seqs.tolist() == [first, third]
    assert postings.counts.tolist() == [3.0, 1.0]
    assert store.lexical.postings("absent").seqs.tolist() == []


def test_terms_are_those_of_the_index_each_with_the_text_that_becomes_it(store: Store) -> None:
    terms = store.lexical.terms(["Deployments", "café", "a_b", "--", "deployment"])
    assert terms == {"deploy": "Deployments", "cafe": "café", "a": "a", "b": "b"}
    assert store.lexical.terms([]) == {}


@pytest.mark.parametrize(
    "text", ['"', "NEAR", "AND OR", "a*", "C++", "don't", "a/b", "GB/s", "-x", "col:val", "(", "^"]
)
def test_query_syntax_in_quotes_is_only_text(store: Store, text: str) -> None:
    seq = save(store, f"before {text} after")
    assert found(store, f"before {text} after") == [seq]


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    texts=st.lists(st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join), min_size=1, max_size=8),
    removed=st.sets(st.integers(0, 7)),
    query=st.sampled_from(WORDS),
)
def test_an_index_built_anew_equals_the_one_that_grew(
    store: Store, texts: list[str], removed: set[int], query: str
) -> None:
    with store.atomic(durable=False):
        seqs = [save(store, text) for text in texts]
        gone = [seq for place, seq in enumerate(seqs) if place in removed]
        store.erase(gone)
    grown = found(store, query), found_by_part(store, query)
    kept = [(seq, text) for seq, text in zip(seqs, texts, strict=True) if seq not in gone]
    everything = [(memory.seq, memory.content) for batch in store.memories.all() for memory in batch]
    assert [pair for pair in everything if pair[0] in seqs] == kept
    assert store.lexical.rebuild((seq, text, text) for seq, text in everything) == len(everything)
    assert sorted(found(store, query)) == sorted(grown[0])
    assert sorted(found_by_part(store, query)) == sorted(grown[1])
    with store.atomic(durable=False):
        store.erase([seq for seq, _ in everything])


def test_merging_in_steps_changes_no_answer(store: Store) -> None:
    seqs = [save(store, f"the queue number {number}") for number in range(40)]
    before = found(store, "queue")
    for _ in range(5):
        store.lexical.merge(pages=10)
    assert found(store, "queue") == before
    assert sorted(before) == seqs


def test_what_holds_a_name_or_a_phrase_is_told_unless_it_is_too_much_to_tell_anything(store: Store) -> None:
    seqs = [save(store, "node-1 says hello worlds " * (1 + number % 3)) for number in range(9)]
    scopes = list(store.scopes.keys())
    for found, expression in ((store.lexical.containing, "node-1"), (store.lexical.saying, "hello world")):
        assert found(quoted(expression), scopes, 9) == seqs
        assert found(quoted(expression), scopes, 8) == []
        assert found(quoted(expression), [], 9) == []
        assert found("", scopes, 9) == []
    assert store.lexical.saying(quoted("world hello"), scopes, 9) != seqs
