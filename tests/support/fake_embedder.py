"""A working embedder without a model: hashed words and letter trigrams, so that similar texts get similar vectors."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from ebbing.encoding.chunks import chunks
from ebbing.encoding.embedder import TextEmbedding
from ebbing.encoding.forward import unit
from ebbing.encoding.model import ModelFile, ModelSpec
from ebbing.encoding.stopwords import content_positions
from ebbing.schemas.errors import ModelError

DIMENSION = 384
FAKE_MODEL = ModelSpec(
    id="fake-words",
    dimension=DIMENSION,
    window=256,
    files=(ModelFile("fake.onnx", "0" * 64, "graph"), ModelFile("tokenizer.json", "1" * 64, "tokenizer")),
)
_WORD = re.compile(r"\w+|[^\w\s]")
_VOCABULARY = 30_000


class FakeEmbedder:
    """An `Embedder` whose vectors follow from the words alone.

    Args:
        synonyms: words that mean the same as others, such as {"car": "automobile"}: their vectors are equal.
        spec: the model it claims to be; give another id to play a changed model, whose vectors are others.
    """

    def __init__(self, synonyms: Mapping[str, str] | None = None, spec: ModelSpec = FAKE_MODEL) -> None:
        self._synonyms = dict(synonyms or {})
        self._spec = spec
        self._closed = False
        self.embedded: list[str] = []
        """Every text that was embedded, in order, so that a test can see what was computed again."""

    @property
    def spec(self) -> ModelSpec:
        return self._spec

    def embed_documents(self, texts: Sequence[str]) -> list[TextEmbedding]:
        return [self._embed(text, query=False) for text in texts]

    def embed_query(self, text: str) -> TextEmbedding:
        return self._embed(text, query=True)

    def count_pieces(self, text: str) -> int:
        return len(_WORD.findall(text))

    def close(self) -> None:
        self._closed = True

    def _embed(self, text: str, *, query: bool) -> TextEmbedding:
        if self._closed:
            raise ModelError("the embedder is closed")
        self.embedded.append(text)
        words = self._words(text)
        content = [words[i] for i in content_positions(words)] or (words if query else words[:1])
        parts = chunks(text, self.count_pieces, self._spec.window - 2)
        return TextEmbedding(
            chunks=np.stack([self._chunk(part) for part in parts]),
            tokens=_matrix([self._vector(word) for word in content], self._spec.dimension),
            pieces=np.array([crc32(word.encode()) % _VOCABULARY for word in content], np.int32),
        )

    def _words(self, text: str) -> list[str]:
        words: list[str] = _WORD.findall(text.lower())
        return [self._synonyms.get(word, word) for word in words]

    def _chunk(self, text: str) -> NDArray[np.float32]:
        words = self._words(text)
        content = [words[i] for i in content_positions(words)] or words or ["[empty]"]
        return unit(_matrix([self._vector(word) for word in content], self._spec.dimension).sum(axis=0))

    def _vector(self, word: str) -> NDArray[np.float32]:
        return word_vector(word, self._spec.id, self._spec.dimension)


@lru_cache(maxsize=20_000)
def word_vector(word: str, model_id: str, dimension: int) -> NDArray[np.float32]:
    """float32 (d,), unit: the word's own direction and those of its letter trigrams, half and half."""
    framed = f"<{word}>"
    grams = sorted({framed[i : i + 3] for i in range(len(framed) - 2)})
    shared = unit(_matrix([_direction(f"{model_id} {gram}", dimension) for gram in grams], dimension).sum(axis=0))
    return unit(_direction(f"{model_id} word {word}", dimension) + shared)


@lru_cache(maxsize=50_000)
def _direction(seed: str, dimension: int) -> NDArray[np.float32]:
    digest = int.from_bytes(hashlib.blake2b(seed.encode("utf-8", "replace"), digest_size=8).digest())
    return unit(np.random.default_rng(digest).standard_normal(dimension).astype(np.float32))


def _matrix(rows: Sequence[NDArray[np.float32]], dimension: int) -> NDArray[np.float32]:
    return np.stack(rows) if rows else np.zeros((0, dimension), np.float32)
