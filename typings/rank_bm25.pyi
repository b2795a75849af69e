from collections.abc import Callable, Sequence

from numpy import float64
from numpy.typing import NDArray

class BM25:
    corpus_size: int
    avgdl: float
    idf: dict[str, float]
    doc_len: list[int]
    def get_scores(self, query: Sequence[str]) -> NDArray[float64]: ...
    def get_batch_scores(self, query: Sequence[str], doc_ids: Sequence[int]) -> list[float]: ...

class BM25Okapi(BM25):
    def __init__(
        self,
        corpus: Sequence[Sequence[str]],
        tokenizer: Callable[[str], list[str]] | None = None,
        k1: float = 1.5,
        b: float = 0.75,
        epsilon: float = 0.25,
    ) -> None: ...

class BM25L(BM25):
    def __init__(
        self,
        corpus: Sequence[Sequence[str]],
        tokenizer: Callable[[str], list[str]] | None = None,
        k1: float = 1.5,
        b: float = 0.75,
        delta: float = 0.5,
    ) -> None: ...

class BM25Plus(BM25):
    def __init__(
        self,
        corpus: Sequence[Sequence[str]],
        tokenizer: Callable[[str], list[str]] | None = None,
        k1: float = 1.5,
        b: float = 0.75,
        delta: float = 1,
    ) -> None: ...
