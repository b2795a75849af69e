"""One contract for all channels, and for each a question that it alone answers."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from fake_embedder import FakeEmbedder
from recall_store import DAY, NOW, RecallStore

from ebbing.encoding.associate import GIST
from ebbing.retrieval.analysis import analyse
from ebbing.retrieval.channels.base import Context, Ranking
from ebbing.retrieval.channels.registry import CHANNELS, SEEDED, channel
from ebbing.retrieval.frames import Frames
from ebbing.retrieval.inquiry import context_for
from ebbing.retrieval.request import RecallRequest
from ebbing.store.graph import Link

QUESTIONS = {
    "semantic": ("the automobile", "the garden hose"),
    "lexical": ("the Zanzibar keys", "the worker threads"),
    "entity": ("what about src/billing/tax.py", "what about src/ship/label.py"),
    "temporal": ("what happened on 3 March 1970", "what happened in February 1970"),
    "activation": ("worker threads queue", "garden hose leaks"),
    "gist": ("worker threads queue", "garden hose leaks"),
    "hopfield": ("worker threads queue", "garden hose leaks"),
}


@pytest.fixture
def memories(tmp_path: Path) -> Iterator[RecallStore]:
    with RecallStore(tmp_path, FakeEmbedder({"automobile": "car"})) as opened:
        opened.save("An automobile stands on the street.")
        opened.save("Zanzibar holds the spare keys.", recorded_at=61 * DAY)
        opened.save("Rounding is wrong.", entities=(("path", "src/billing/tax.py"),), recorded_at=40 * DAY)
        opened.save("Labels print twice.", entities=(("path", "src/ship/label.py"),))
        for number in range(12):
            opened.save(f"The worker pool has {number} threads and a queue.", session=f"w{number // 4}")
            opened.save(f"The garden hose leaks at joint {number}.", session=f"g{number // 4}")
        yield opened


def context_of(memories: RecallStore, query: str, *, seeds: tuple[int, ...] = ()) -> Context:
    request = RecallRequest(query=query, scopes=("p",), now=NOW)
    embedding = memories.embedder.embed_query(query)
    context = context_for(memories.store, Frames(memories.store), request, analyse(query), embedding)
    rows = context.layout.rows(np.array(seeds, dtype=np.int64))
    return replace(context, seeds=Ranking(rows, np.linspace(1.0, 0.5, len(rows), dtype=np.float32)))


def search(memories: RecallStore, name: str, query: str, seeds: tuple[int, ...] | None = None) -> Ranking:
    with memories.store.snapshot():
        context = context_of(memories, query)
        if name in SEEDED:
            found = channel("lexical").search(context).rows[:20]
            chosen = tuple(context.layout.seqs[found].tolist()) if seeds is None else seeds
            context = context_of(memories, query, seeds=chosen)
        return channel(name).search(context)


@pytest.mark.parametrize("name", CHANNELS)
def test_ranks_known_rows_once_with_falling_positive_scores_and_the_same_each_time(
    memories: RecallStore, name: str
) -> None:
    query, _ = QUESTIONS[name]
    found, again = search(memories, name, query), search(memories, name, query)
    assert len(found) > 0
    assert len(set(found.rows.tolist())) == len(found)
    assert found.rows.min() >= 0
    assert (np.diff(found.scores) <= 0).all()
    assert found.scores[-1] > 0
    assert found.rows.tolist() == again.rows.tolist()
    assert found.scores.tolist() == again.scores.tolist()


@pytest.mark.parametrize("name", CHANNELS)
def test_abstains_where_it_has_nothing_to_go_by(tmp_path: Path, name: str) -> None:
    with RecallStore(tmp_path) as empty, empty.store.snapshot():
        assert len(channel(name).search(context_of(empty, "anything at all"))) == 0


@pytest.mark.parametrize("name", CHANNELS)
def test_its_ranking_depends_on_the_question(memories: RecallStore, name: str) -> None:
    one, other = (search(memories, name, query) for query in QUESTIONS[name])
    assert one.rows[0] != other.rows[0]
    assert spearman(one, other) < 0.9


@pytest.mark.parametrize("name", CHANNELS)
def test_never_returns_a_row_that_may_not_be_shown(memories: RecallStore, name: str) -> None:
    query, _ = QUESTIONS[name]
    found = search(memories, name, query)
    with memories.store.snapshot():
        context = context_of(memories, query, seeds=(5, 7, 9) if name in SEEDED else ())
        hidden = np.ones(len(context.layout), np.bool_)
        hidden[found.rows] = False
        assert not set(channel(name).search(replace(context, eligible=hidden)).rows) & set(found.rows)


def test_only_meaning_finds_what_shares_no_word(memories: RecallStore) -> None:
    assert found_by(memories, "car", {"semantic"}) == "An automobile stands on the street."
    assert len(search(memories, "lexical", "car")) == 0


def test_only_words_find_an_exact_name_when_there_is_no_model(memories: RecallStore) -> None:
    answer = memories.ask("Zanzibar", with_model=False)
    assert answer.hits[0].memory.content == "Zanzibar holds the spare keys."
    assert answer.hits[0].channels == ("lexical",)


def test_only_entities_find_a_memory_by_the_file_it_is_about(memories: RecallStore) -> None:
    assert found_by(memories, "src/billing/tax.py", {"entity"}) == "Rounding is wrong."
    assert len(search(memories, "lexical", "src/billing/tax.py")) == 0


def test_only_time_finds_what_was_recorded_on_a_day(memories: RecallStore) -> None:
    assert found_by(memories, "what happened on 3 March 1970", {"temporal"}) == "Zanzibar holds the spare keys."


def test_relative_times_are_seen_from_the_moment_of_the_call(memories: RecallStore) -> None:
    yesterday = memories.save("The pump was replaced.", recorded_at=NOW - DAY)
    found = search(memories, "temporal", "what did we do yesterday?")
    with memories.store.snapshot():
        assert context_of(memories, "x").layout.seqs[found.rows[0]] == yesterday


def test_only_activation_reaches_a_memory_that_shares_nothing_but_a_link(memories: RecallStore) -> None:
    known, hidden = memories.save("Quartz oscillator drifts."), memories.save("Replace part 7.")
    memories.store.graph.connect([Link(known, hidden, "cause", 1.0)])
    found = search(memories, "activation", "quartz oscillator", seeds=(known,))
    with memories.store.snapshot():
        assert hidden in context_of(memories, "x").layout.seqs[found.rows]


def test_hubs_pass_on_less_than_rare_links(memories: RecallStore) -> None:
    seed, hub, rare = (memories.save(text) for text in ("Seed of thought.", "Hub of things.", "Rare bird."))
    others = [memories.save(f"Leaf {number} of oak.") for number in range(20)]
    memories.store.graph.connect([Link(seed, hub, "similar", 0.6), Link(seed, rare, "similar", 0.6)])
    memories.store.graph.connect([Link(hub, other, "similar", 0.6) for other in others])
    found = search(memories, "activation", "seed", seeds=(seed,))
    with memories.store.snapshot():
        order = context_of(memories, "x").layout.seqs[found.rows].tolist()
    assert order.index(rare) < order.index(hub)


def test_only_the_hopfield_step_reaches_what_is_like_the_memory_that_the_question_brings_to_mind(
    memories: RecallStore,
) -> None:
    known = memories.save("Quartz oscillator zebrafish marmalade.")
    others = [memories.save(f"Tin is item {number} of the list.") for number in range(12)]
    hidden = memories.save("Zebrafish marmalade.")
    found = search(memories, "hopfield", "quartz oscillator", seeds=(known, *others))
    with memories.store.snapshot():
        order = context_of(memories, "x").layout.seqs[found.rows].tolist()
        by_meaning = search(memories, "semantic", "quartz oscillator")
        without = context_of(memories, "x").layout.seqs[by_meaning.rows].tolist()
    assert order.index(hidden) == 1
    assert hidden not in without[:5]
    assert len(search(memories, "lexical", "quartz oscillator")) == 1


def test_only_the_gist_leads_from_a_summary_to_its_sources(memories: RecallStore) -> None:
    gist = memories.save("Summary.", gist="The migration to the new ledger failed twice.")
    source = memories.save("Rolled back at midnight; operators were paged.")
    memories.store.graph.connect([Link(gist, source, GIST, 1.0)])
    found = search(memories, "gist", "ledger migration", seeds=(gist,))
    with memories.store.snapshot():
        assert context_of(memories, "x").layout.seqs[found.rows].tolist() == [gist, source]


def spearman(one: Ranking, other: Ranking) -> float:
    """Rank correlation over the rows that either ranking has."""
    union = sorted({*one.rows.tolist(), *other.rows.tolist()})
    orders = [dict(zip(ranking.rows.tolist(), ranking.scores.tolist(), strict=True)) for ranking in (one, other)]
    scores = [np.array([order.get(row, 0.0) for row in union]) for order in orders]
    ranks = [np.argsort(np.argsort(one)) for one in scores]
    return float(np.corrcoef(ranks[0], ranks[1])[0, 1])


def found_by(memories: RecallStore, query: str, names: set[str]) -> str:
    (name,) = names
    best = search(memories, name, query).rows[0]
    with memories.store.snapshot():
        seq = int(context_of(memories, query).layout.seqs[best])
    return memories.store.memories.by_seqs([seq])[0].content
