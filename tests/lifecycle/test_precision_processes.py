"""One process re-quantizes while another recalls and marks uses: nothing is lost, no version is skewed."""

import json
import os
import random
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from fading_store import PROJECT, FadingStore
from numpy.typing import NDArray

from ebbing.lifecycle.precision import requantize
from ebbing.lifecycle.states import effective_bits
from ebbing.schemas.memory import Event, Memory, State
from ebbing.store.codec import decode, sign_bits
from ebbing.store.resident import ResidentVectors
from ebbing.store.search import Reach

WORDS = ["amber", "birch", "cobalt", "delta", "ember", "fjord", "grove", "harbour", "indigo", "jasper"]
TEXTS = [
    f"{one} {other} gauge {number} reads {number * 37}"
    for number, (one, other) in enumerate((one, other) for one in WORDS for other in WORDS)
]
OPERATIONS = 10_000
ROUNDS_AT_LEAST = 1_000


@contextmanager
def requantizing(home: Path, rewrites: int) -> Generator[tuple[threading.Event, dict[str, int]]]:
    """Another process at it: an event says that it has done so much, the dictionary afterwards what it did."""
    support = str(Path(__file__).parents[1] / "support")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([os.environ.get("PYTHONPATH", ""), support])}
    script = Path(__file__).with_name("precision_process.py")
    command = [sys.executable, str(script), str(home), str(rewrites)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        enough, done, output = threading.Event(), dict[str, int](), process.stdout
        reader = threading.Thread(target=lambda: output.readline() and enough.set())
        reader.start()
        yield enough, done
        reader.join()
        rest, _ = process.communicate()
        assert process.returncode == 0
        done.update(json.loads(rest))


@dataclass(frozen=True, slots=True, eq=False)
class Before:
    """What was saved, and how it was embedded."""

    saved: list[Memory]
    exact: dict[int, NDArray[np.float32]]


def test_ten_thousand_operations_of_two_processes_lose_nothing(tmp_path: Path) -> None:
    with FadingStore(tmp_path) as world:
        saved = world.save(*TEXTS)
        before = Before(saved, {memory.seq: world.vector(memory) for memory in saved})
        world.store.resident.matrix()
        with requantizing(tmp_path, OPERATIONS - 2 * ROUNDS_AT_LEAST) as (enough, done):
            marks = recall_and_use(world, before, enough)
        assert 2 * marks.total() + done["demoted"] + done["promoted"] + done["faded"] >= OPERATIONS
        assert min(done["demoted"], done["promoted"]) > 100
        check_uses(world, before, marks)
        check_versions(world, before, done)
        check_vectors(world, before)
        check_indexes(world, before)


def recall_and_use(world: FadingStore, before: Before, enough: threading.Event) -> Counter[int]:
    """Ask for memories by their own embedding, which must find them, and mark each as used; how often each was."""
    luck = random.Random(3)
    reach = Reach(scopes=[world.store.scopes.ensure(PROJECT)], layered=False)
    marks: Counter[int] = Counter()
    while marks.total() < ROUNDS_AT_LEAST or not enough.is_set():
        memory = luck.choice(before.saved)
        found = world.store.nearest.search(before.exact[memory.seq][0], reach, 3)
        assert found.seqs[0] == memory.seq
        with world.store.atomic(durable=False):
            world.ledger.used(memory, world.now)
        marks[memory.seq] += 1
    return marks


def check_uses(world: FadingStore, before: Before, marks: Counter[int]) -> None:
    uses = {memory.seq: world.memory(memory).strength.uses for memory in before.saved}
    assert {seq: count for seq, count in uses.items() if count} == dict(marks)
    assert world.store.journal.count(Event.USED) == marks.total()


def check_versions(world: FadingStore, before: Before, done: dict[str, int]) -> None:
    rows = world.store.vectors.rows(list(before.exact))
    assert [row.seq for row in rows] == list(before.exact)
    assert sum(row.version - 1 for row in rows) == done["demoted"] + done["promoted"]
    noted = world.store.catalog.columns().bit_width
    assert [row.codes.bit_width for row in rows] == [noted[row.seq] for row in rows]


def check_vectors(world: FadingStore, before: Before) -> None:
    requantize(world.store, world.embedder, world.now)
    for row in world.store.vectors.rows(list(before.exact)):
        vector = decode(row.codes)[0]
        similar = vector @ before.exact[row.seq][0] / np.linalg.norm(vector)
        assert row.codes.bit_width == effective_bits(State(row.state))
        assert similar > (0.999999 if row.codes.bit_width == 32 else 0.9)


def check_indexes(world: FadingStore, before: Before) -> None:
    store = world.store
    state = store.catalog.columns().state
    [query] = sign_bits(before.exact[before.saved[0].seq])
    for tier in State:
        found = store.vectors.index.nearest(query.tobytes(), [1], len(TEXTS), range(tier, tier + 1))
        assert (
            sorted(seq for seq, _ in found) == np.flatnonzero((state == tier) & store.catalog.columns().alive).tolist()
        )
    kept, read = store.resident.matrix(), ResidentVectors(store.database, store.vectors).matrix()
    assert np.array_equal(kept.codes.whole().packed, read.codes.whole().packed)
    assert np.array_equal(kept.codes.scale, read.codes.scale)
    assert np.array_equal(kept.words, read.words)
    assert store.integrity() == []
