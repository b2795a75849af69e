"""Pass many inputs through a model in batches of similar length, and keep only what is asked for."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np
from numpy.typing import NDArray

from .graph import Graph

BATCH_PIECES: Final = 256
"""Most pieces of a batch, padding included. One core is fully used from about 64 pieces on; more only takes memory."""


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """One input: its piece ids, int32 (n,), and the positions of the pieces whose vectors are wanted, int32 (k,)."""

    ids: NDArray[np.int32]
    keep: NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Output:
    """What a job gave: the unit mean of all states, float32 (d,), and the unit vectors at `keep`, float32 (k, d)."""

    vector: NDArray[np.float32]
    tokens: NDArray[np.float32]


def forward(graph: Graph, jobs: Sequence[Job], threads: int) -> list[Output]:
    """Return the outputs of `jobs`, in their order, computed on up to `threads` cores.

    Raises:
        ModelError: the runtime failed.
    """
    batches = list(batched(jobs))
    run = partial(_run, graph, jobs)
    if threads > 1 and len(batches) > 1:
        with ThreadPoolExecutor(threads, "ebbing-embed") as pool:
            done = list(pool.map(run, batches))
    else:
        done = [run(batch) for batch in batches]
    outputs = {
        i: output for batch, some in zip(batches, done, strict=True) for i, output in zip(batch, some, strict=True)
    }
    return [outputs[i] for i in range(len(jobs))]


def batched(jobs: Sequence[Job]) -> Iterator[list[int]]:
    """Yield the indices of `jobs` in batches, longest first, each of at most `BATCH_PIECES` or of one job."""
    batch: list[int] = []
    for i in sorted(range(len(jobs)), key=lambda i: -len(jobs[i].ids)):
        # Sorted, so the first of a batch is as long as all are padded to.
        if batch and (len(batch) + 1) * len(jobs[batch[0]].ids) > BATCH_PIECES:
            yield batch
            batch = []
        batch.append(i)
    if batch:
        yield batch


def unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return `vectors`, float32 (…, d), at length 1; a zero vector stays zero."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return (vectors / np.maximum(lengths, np.finfo(np.float32).tiny)).astype(np.float32, copy=False)


def _run(graph: Graph, jobs: Sequence[Job], batch: Sequence[int]) -> list[Output]:
    longest = max(len(jobs[i].ids) for i in batch)
    ids = np.zeros((len(batch), longest), np.int64)
    mask = np.zeros_like(ids)
    for row, i in enumerate(batch):
        ids[row, : len(jobs[i].ids)] = jobs[i].ids
        mask[row, : len(jobs[i].ids)] = 1
    hidden = graph.run(ids, mask)
    return [_output(jobs[i], hidden[row]) for row, i in enumerate(batch)]


def _output(job: Job, states: NDArray[np.float32]) -> Output:
    # Row by row, so that padding never enters a sum: the vector is the same whatever the batch.
    return Output(unit(states[: len(job.ids)].mean(axis=0)), unit(states[job.keep]))
