"""Turn texts into unit vectors: one for each chunk, one for each piece that carries content."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from ..schemas.errors import ModelError
from .chunks import spans
from .forward import Job, forward, unit
from .graph import Graph
from .model import ModelFiles, ModelSpec
from .pieces import SPECIAL_PIECES, PieceCounter, PieceRun

_GROUP: Final = 256


@dataclass(frozen=True, slots=True, eq=False)
class TextEmbedding:
    """The embedding of one text.

    Attributes:
        chunks: float32 (c, d), unit rows, one for each chunk of the text, in order; at least one.
        tokens: float32 (t, d), unit rows, one for each content piece of the text, in order. Stop words, punctuation and
            pieces that the model does not know are left out; pieces in the overlap of two chunks come once.
        pieces: int32 (t,), the word-piece ids of `tokens`.
    """

    chunks: NDArray[np.float32]
    tokens: NDArray[np.float32]
    pieces: NDArray[np.int32]

    @property
    def vector(self) -> NDArray[np.float32]:
        """float32 (d,): the unit mean of the chunks."""
        return unit(self.chunks.mean(axis=0))


class Embedder(Protocol):
    """Embeds texts with one model. Texts are as `clean` leaves them. Thread-safe."""

    @property
    def spec(self) -> ModelSpec:
        """The model."""
        ...

    def embed_documents(self, texts: Sequence[str]) -> list[TextEmbedding]:
        """Return one embedding for each text, in their order. A text of stop words alone keeps its first piece.

        A token vector takes 4·d bytes and a long text has hundreds, so pass no more than some hundred texts at a time.

        Raises:
            ModelError: the model failed, or the embedder is closed.
        """
        ...

    def embed_query(self, text: str) -> TextEmbedding:
        """Return the embedding of a query. One of stop words alone keeps them all.

        Raises:
            ModelError: the model failed, or the embedder is closed.
        """
        ...

    def count_pieces(self, text: str) -> int:
        """Return how many word pieces `text` has, the special ones not included."""
        ...

    def close(self) -> None:
        """Release the model; closing twice is fine."""
        ...


class OnnxEmbedder:
    """An `Embedder` over an ONNX graph.

    Args:
        files: a model's files, already verified.
        threads: how many cores `embed_documents` may use; a query always uses one.

    Raises:
        ModelError: onnxruntime is not usable, or the files are not a model as their spec describes.
    """

    def __init__(self, files: ModelFiles, threads: int = 1) -> None:
        self._spec = files.spec
        self._threads = threads
        self._counter = PieceCounter(files.path("tokenizer"))
        self._graph: Graph | None = Graph(files.path("graph"))
        width = self.embed_query("ready").chunks.shape[1]
        if width != self._spec.dimension:
            raise ModelError(f"the model {self._spec.id} gives {width} dimensions instead of {self._spec.dimension}")

    @property
    def spec(self) -> ModelSpec:
        """See `Embedder`."""
        return self._spec

    def embed_documents(self, texts: Sequence[str]) -> list[TextEmbedding]:
        """See `Embedder`."""
        found: list[TextEmbedding] = []
        for start in range(0, len(texts), _GROUP):
            group = [self._jobs(text, self._spec.document_prefix) for text in texts[start : start + _GROUP]]
            found += self._embed(group, self._threads)
        return found

    def embed_query(self, text: str) -> TextEmbedding:
        """See `Embedder`."""
        return self._embed([self._jobs(text, self._spec.query_prefix, query=True)], threads=1)[0]

    def count_pieces(self, text: str) -> int:
        """See `Embedder`."""
        return self._counter.count_pieces(text)

    def close(self) -> None:
        """See `Embedder`."""
        self._graph = None

    def _embed(self, texts: Sequence[Sequence[Job]], threads: int) -> list[TextEmbedding]:
        graph = self._graph
        if graph is None:
            raise ModelError("the embedder is closed")
        outputs = iter(forward(graph, [job for jobs in texts for job in jobs], threads))
        found: list[TextEmbedding] = []
        for jobs in texts:
            parts = [next(outputs) for _ in jobs]
            found.append(
                TextEmbedding(
                    chunks=np.stack([part.vector for part in parts]),
                    tokens=np.concatenate([part.tokens for part in parts]),
                    pieces=np.concatenate([job.ids[job.keep] for job in jobs]),
                )
            )
        return found

    def _jobs(self, text: str, prefix: str, *, query: bool = False) -> list[Job]:
        """One job for each chunk of `text`."""
        room = self._spec.window - SPECIAL_PIECES - (self.count_pieces(prefix) if prefix else 0)
        runs: list[PieceRun] = []
        covered = 0
        for span in spans(text, self.count_pieces, max(1, room)):
            fresh_from = len(prefix) + max(0, covered - span.start)
            runs.append(self._counter.pieces(prefix + text[span.start : span.end], self._spec.window, fresh_from))
            covered = span.end
        return [Job(run.ids, keep) for run, keep in zip(runs, kept_positions(runs, query=query), strict=True)]


def kept_positions(runs: Sequence[PieceRun], *, query: bool) -> list[NDArray[np.int32]]:
    """Return for each of the `runs` of one text which positions, int32 (k,), get a token vector.

    They are those of the content pieces. Where a text has none, a query keeps its words and a document its first piece,
    so that there is something to match.
    """
    if any(len(run.content) for run in runs):
        return [run.content for run in runs]
    if query and any(len(run.words) for run in runs):
        return [run.words for run in runs]
    first = next((i for i, run in enumerate(runs) if len(run.plain)), 0)
    return [run.plain[: int(i == first)] for i, run in enumerate(runs)]
