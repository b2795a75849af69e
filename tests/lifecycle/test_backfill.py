"""Memories without a vector of the store's model get one, whatever happens on the way."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from fading_store import FadingStore
from fake_embedder import FAKE_MODEL, FakeEmbedder

from ebbing.encoding.model import ModelSpec
from ebbing.encoding.words import match_expression, query_terms
from ebbing.lifecycle.backfill import backfill
from ebbing.lifecycle.decay import refresh
from ebbing.lifecycle.precision import requantize
from ebbing.lifecycle.rebuild import rebuild
from ebbing.schemas.errors import ModelError
from ebbing.schemas.memory import Memory, State
from ebbing.store.codec import decode
from ebbing.store.search import Reach

NEW_MODEL = replace(FAKE_MODEL, id="new-words")
SMALL_MODEL = replace(FAKE_MODEL, id="small-words", dimension=128)
TEXTS = [f"host number {number} serves the {word} page" for number, word in enumerate(["red", "blue", "green"] * 50)]
BATCH = 32


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """The folder of a store whose 150 memories were embedded by the usual model; a third of them have faded."""
    with FadingStore(tmp_path) as world:
        world.save(*TEXTS[:50])
        world.fade_to(State.ARCHIVE)
        requantize(world.store, None, world.now)
        world.save(*TEXTS[50:])
    return tmp_path


def found_by_words(world: FadingStore, query: str) -> list[int]:
    """Seqs of what the words of a query find."""
    expression = match_expression(query_terms(query).words)
    return [seq for seq, _ in world.store.lexical.search(expression, list(world.store.scopes.keys()), 5)]


def found_by_meaning(world: FadingStore, query: str) -> list[int]:
    """Seqs of what the embedding of a query finds."""
    [vector] = world.embedder.embed_query(query).chunks
    reach = Reach(scopes=list(world.store.scopes.keys()))
    return world.store.nearest.search(vector, reach, 5).seqs.tolist()


@pytest.mark.parametrize("spec", [NEW_MODEL, SMALL_MODEL], ids=["same-dimension", "other-dimension"])
def test_vectors_of_two_models_are_never_compared(old: Path, spec: ModelSpec) -> None:
    with FadingStore(old, FakeEmbedder(spec=spec)) as world:
        assert found_by_meaning(world, "host number 77 serves the green page") == []
        assert len(world.store.resident.matrix().seqs) == 0
        assert world.store.vectors.rows(range(1, 151)) == []
        assert found_by_meaning(world, "host number 77 serves the green page") == []
        assert found_by_words(world, "host number 77")[0] == 78
        backfill(world.store, world.embedder)
        assert found_by_meaning(world, "host number 77 serves the green page")[0] == 78
        assert len(world.store.resident.matrix().seqs) == 150
        assert found_by_meaning(world, "host number 77 serves the green page")[0] == 78


def test_a_half_embedded_store_finds_the_rest_by_words(old: Path) -> None:
    with FadingStore(old, FakeEmbedder(spec=NEW_MODEL)) as world:
        turns = iter([False, True])
        assert backfill(world.store, world.embedder, stopped=lambda: next(turns)) == BATCH
        assert set(found_by_meaning(world, "host number 140 serves the page")) <= set(range(1, BATCH + 1))
        assert found_by_words(world, "host number 140")[0] == 141


def test_new_vectors_have_the_bits_of_the_memorys_state(old: Path) -> None:
    with FadingStore(old, FakeEmbedder(spec=NEW_MODEL)) as world:
        backfill(world.store, world.embedder)
        rows = world.store.vectors.rows(range(1, 151))
        assert [row.codes.bit_width for row in rows] == [2] * 50 + [32] * 100
        tokens = world.store.tokens.get(range(1, 151), world.store.vectors.model)
        assert set(tokens.seqs.tolist()) == set(range(51, 151))
        assert world.store.vectors.index_rows() == 150


def test_the_last_vector_of_a_model_takes_its_index_with_it(old: Path) -> None:
    tables = "SELECT name FROM sqlite_master WHERE name LIKE 'coarse%'"
    with FadingStore(old, FakeEmbedder(spec=NEW_MODEL)) as world:
        before = {name for (name,) in world.store.database.rows(tables)}
        backfill(world.store, world.embedder)
        after = {name for (name,) in world.store.database.rows(tables)}
        assert {name for name in before if name.startswith("coarse_1")} == before - after
        assert world.store.database.rows("SELECT name FROM model") == [(NEW_MODEL.id,)]


def test_a_run_killed_in_the_middle_is_finished_by_the_next_one(old: Path) -> None:
    script = Path(__file__).with_name("backfill_process.py")
    support = str(Path(__file__).parents[1] / "support")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([os.environ.get("PYTHONPATH", ""), support])}
    with subprocess.Popen(
        [sys.executable, str(script), str(old)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for _ in range(2):
            process.stdout.readline()
            process.stdin.write("go on\n")
            process.stdin.flush()
        # It has begun the third batch, so two are committed.
        assert process.stdout.readline() == f"{2 * BATCH}\n"
        process.kill()
        process.communicate()
    with FadingStore(old, FakeEmbedder(spec=NEW_MODEL)) as world:
        assert world.store.integrity() == []
        assert world.store.vectors.count() == 2 * BATCH
        assert backfill(world.store, world.embedder) == len(TEXTS) - 2 * BATCH
        assert world.embedder.embedded == TEXTS[2 * BATCH :]
        rows = world.store.vectors.rows(range(51, 151))
        expected = FakeEmbedder(spec=NEW_MODEL).embed_documents(TEXTS[50:])
        assert all(np.array_equal(decode(row.codes), one.chunks) for row, one in zip(rows, expected, strict=True))
        assert world.store.vectors.index_rows() == world.store.vectors.expected_index_rows() == len(TEXTS)


def test_an_embedder_of_another_model_is_refused(old: Path) -> None:
    with FadingStore(old, FakeEmbedder(spec=NEW_MODEL)) as world, pytest.raises(ModelError):
        backfill(world.store, FakeEmbedder())


def test_nothing_is_embedded_twice(old: Path) -> None:
    with FadingStore(old, FakeEmbedder(spec=NEW_MODEL)) as world:
        assert backfill(world.store, world.embedder) == len(TEXTS)
        assert backfill(world.store, world.embedder) == 0
        assert sorted(world.embedder.embedded) == sorted(TEXTS)


def without_vectors(world: FadingStore, *texts: str) -> list[Memory]:
    """Facts as they are saved while there is no model."""
    saved = world.save(*texts)
    world.store.vectors.remove([memory.seq for memory in saved])
    world.store.tokens.remove([memory.seq for memory in saved])
    return saved


def links(world: FadingStore) -> list[tuple[int, int]]:
    """The ends of all links."""
    return sorted((int(a), int(b)) for a, b in world.store.database.rows("SELECT seq, other FROM link"))


def test_what_is_embedded_late_is_linked_to_the_nearest_and_the_journal_can_say_so_again(tmp_path: Path) -> None:
    with FadingStore(tmp_path) as world:
        [known] = world.save("the red page is served by host 7")
        late, later, far = without_vectors(
            world, "the red page is served by host 8", "the red page is served by host 9", "a walk in a forest"
        )
        assert backfill(world.store, world.embedder, link_at=world.now) == 3
        near = {known.seq, late.seq, later.seq}
        assert links(world) == sorted((a, b) for a in near for b in near if a != b)
        assert far.seq not in {seq for pair in links(world) for seq in pair}
        lived = world.store.database.rows("SELECT * FROM link ORDER BY seq, other")
        refresh(world.store, world.now)
        figures = world.store.database.rows("SELECT seq, association, stability, rate FROM strength ORDER BY seq")
        with world.store.atomic():
            world.store.database.execute("DELETE FROM link")
            world.store.database.execute("UPDATE strength SET association = 0.9")
        rebuild(world.store, world.now)
        assert world.store.database.rows("SELECT * FROM link ORDER BY seq, other") == lived
        again = world.store.database.rows("SELECT seq, association, stability, rate FROM strength ORDER BY seq")
        assert again == figures
        assert again[0][1] > 0


def test_another_model_links_nothing_anew(old: Path) -> None:
    with FadingStore(old, FakeEmbedder(spec=NEW_MODEL)) as world:
        before = links(world)
        backfill(world.store, world.embedder, link_at=world.now)
        assert links(world) == before
