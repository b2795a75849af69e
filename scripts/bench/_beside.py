"""A second process over a store, as a client's server is: it recalls, records what it showed, and takes the lock.

It runs the product's own parts: the recaller with its seven channels, the follower, the recording of what was shown;
only the embedding of a question is a random unit vector. A second thread asks for the write lock, as a save does.
"""

from __future__ import annotations

import json
import random
import select
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np

from ebbing.encoding.embedder import TextEmbedding
from ebbing.encoding.model import DEFAULT_MODEL, ModelSpec
from ebbing.lifecycle.decay import retention_of
from ebbing.lifecycle.ledger import Ledger
from ebbing.lifecycle.showings import Showing, Showings
from ebbing.retrieval.recaller import Recaller
from ebbing.retrieval.request import RecallRequest
from ebbing.schemas.ids import new_id
from ebbing.server.following import Follower
from ebbing.server.startup import without_collecting
from ebbing.store.codec import encode
from ebbing.store.store import Store

PAUSE: Final = 0.02
BUDGET_MS: Final = 50.0
ASKED: Final = 500
_TOKENS: Final = 6

Phase = dict[str, list[float]]
"""Milliseconds by what took them: recalls, their parts, waiting for the write lock; `core`: recalls, of a core."""


class RandomEmbedder:
    """Embeds any text as random unit vectors."""

    def __init__(self, dimension: int, seed: int) -> None:
        self._generator = np.random.default_rng(seed)
        self._dimension = dimension

    @property
    def spec(self) -> ModelSpec:
        """The model that it stands for."""
        return DEFAULT_MODEL

    def embed_documents(self, texts: Sequence[str]) -> list[TextEmbedding]:
        """One chunk a text."""
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> TextEmbedding:
        """One chunk and a few tokens."""
        vectors = self._generator.standard_normal((1 + _TOKENS, self._dimension)).astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return TextEmbedding(vectors[:1], vectors[1:], np.arange(_TOKENS, dtype=np.int32))

    def count_pieces(self, text: str) -> int:
        """About."""
        return len(text) // 4

    def close(self) -> None:
        """Nothing to close."""


@dataclass(slots=True)
class Stopwatch:
    """What this process measured in the phase it is in."""

    phase: Phase = field(default_factory=Phase)

    def timed(self, name: str, work: Callable[[], object]) -> None:
        """Do something and note how long it took."""
        started = time.perf_counter()
        work()
        self.phase.setdefault(name, []).append(1000 * (time.perf_counter() - started))


class Client:
    """Recalls from a store the way a server does."""

    def __init__(self, store: Store, scope: str, now: int) -> None:
        embedder = RandomEmbedder(store.vectors.dimension, 1)
        self.store, self.scope, self.now = store, scope, now
        self.showings = Showings(Ledger(store).shown_all)
        self.recaller = Recaller(
            store, lambda: embedder, lambda columns, seqs, at: retention_of(store, columns, seqs, at)
        )
        self._rng = random.Random(1)  # noqa: S311 - sampling
        self._texts = [*store.memories.texts(self._rng.sample(range(1, store.memories.count()), ASKED)).values()]

    def recall(self, watch: Stopwatch) -> None:
        """One recall, timed whole and in parts."""
        started, core = time.perf_counter(), time.thread_time()
        watch.timed("catalog", self.store.catalog.columns)
        watch.timed("matrix", self.store.resident.matrix)
        watch.timed("answer", self.answer)
        watch.phase.setdefault("recall", []).append(1000 * (time.perf_counter() - started))
        watch.phase.setdefault("core", []).append(1000 * (time.thread_time() - core))

    def answer(self) -> None:
        """Ask for four words of a memory, so that there is an answer, and have what was shown recorded."""
        query = " ".join(self._rng.sample(self._rng.choice(self._texts).split(), 4))
        request = RecallRequest(query=query, scopes=(self.scope,), now=self.now, include_faded=True)
        hits = self.recaller.recall(request).hits
        assert hits, "an empty answer takes no time worth measuring"
        memories = tuple(hit.memory for hit in hits)
        self.showings.add(Showing(self.scope, memories, new_id(self.now), {}, self.now))

    def lock(self) -> None:
        """Take the write lock and let it go."""
        with self.store.atomic(durable=False):
            return


def be_beside(store: Store, scope: str, now: int) -> None:
    """Be that process: a line on stdin begins a new phase, and "end" ends it all; then prints the phases as JSON."""
    # As a server starts: what lives as long as the process is not looked through for garbage in the middle of a recall.
    with without_collecting():
        client = Client(store, scope, now)
        follower = Follower(store)
        watch = Stopwatch()
        client.recall(watch)
    done = threading.Event()
    saver = threading.Thread(target=_take_locks, args=(client, watch, done), daemon=True)
    phases: list[Phase] = []
    with client.showings:
        follower.start()
        saver.start()
        say("ready")
        for line in orders():
            if line is None:
                client.recall(watch)
                time.sleep(PAUSE)
                continue
            phases.append(watch.phase)
            watch.phase = Phase()
        done.set()
        saver.join()
        follower.close()
    say(json.dumps(phases))


def _take_locks(client: Client, watch: Stopwatch, done: threading.Event) -> None:
    while not done.wait(PAUSE):
        watch.timed("lock", client.lock)


def be_busy(dimension: int) -> None:
    """Be a process that works as hard as a daily run and touches no store: half the time, on one core."""
    vectors = np.random.default_rng(0).standard_normal((200, dimension)).astype(np.float32)
    say("ready")
    while True:
        started = time.perf_counter()
        json.dumps(encode(vectors, 4).packed.tolist())
        time.sleep(min(0.05, time.perf_counter() - started))


def say(line: str) -> None:
    """Tell the process that started us."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def orders() -> Iterator[str | None]:
    """The lines on stdin up to and with "end", and None whenever there is none."""
    line: str | None = None
    while line != "end":
        ready, _, _ = select.select([sys.stdin], [], [], 0)
        line = sys.stdin.readline().strip() if ready else None
        yield line


class Beside:
    """The other process, as seen from here."""

    def __init__(self, script: Path, *arguments: str) -> None:
        command = [sys.executable, str(script), *arguments]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self._process.stdout.readline()

    def phase(self, name: str = "next") -> None:
        """Begin the next phase of what it records."""
        assert self._process.stdin is not None
        self._process.stdin.write(name + "\n")
        self._process.stdin.flush()

    def phases(self) -> list[Phase]:
        """End it; what it measured in each phase."""
        self.phase("end")
        assert self._process.stdout is not None
        found = json.loads(self._process.stdout.readline())
        self._process.wait()
        return found

    def kill(self) -> None:
        """End it at once."""
        self._process.kill()
        self._process.wait()


def compared(alone: Phase, loaded: Phase, busy: Phase) -> dict[str, float]:
    """Figures of recalls and of the write lock: without a run, beside unrelated work, and beside the run."""
    median = float(np.median(alone["recall"]))
    figures = {"quiet_p50_ms": median}
    for name, phase in (("quiet", alone), ("loaded", loaded), ("busy", busy)):
        late = np.array(phase["recall"]) - median
        figures[f"{name}_p99_ms"] = float(np.percentile(phase["recall"], 99))
        figures[f"{name}_worst_delay_ms"] = float(late.max())
        figures[f"{name}_over_50_ms"] = float((late > BUDGET_MS).mean())
        figures[f"{name}_worst_core_delay_ms"] = float(np.max(phase["core"]) - np.median(alone["core"]))
        figures[f"{name}_lock_p99_ms"] = float(np.percentile(phase["lock"], 99))
        figures[f"{name}_lock_worst_ms"] = float(np.max(phase["lock"]))
    figures["recalls_over_50_ms"] = figures["busy_over_50_ms"]
    figures["worst_delay_ms"] = figures["busy_worst_delay_ms"]
    for name in ("catalog", "matrix", "answer"):
        figures[f"worst_delay_{name}_ms"] = float(np.max(busy[name]) - np.median(alone[name]))
    return figures
