"""Embeddings of benchmark texts, kept in the temporary folder so that repeated runs need no model."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ebbing.encoding.embedder import Embedder, TextEmbedding
from ebbing.encoding.model_spec import ModelSpec
from ebbing.store.codec import Codes, decode, encode

_SHARD = 500
_TOKEN_BITS = 8


@dataclass(frozen=True, slots=True)
class Prepared:
    """An embedder that knows its answers: the questions were embedded before."""

    inner: Embedder
    known: Mapping[str, TextEmbedding]

    @property
    def spec(self) -> ModelSpec:
        """The model."""
        return self.inner.spec

    def embed_query(self, text: str) -> TextEmbedding:
        """Look it up."""
        return self.known[text]

    def embed_documents(self, texts: Sequence[str]) -> list[TextEmbedding]:
        """Not looked up."""
        return self.inner.embed_documents(texts)

    def count_pieces(self, text: str) -> int:
        """Not looked up."""
        return self.inner.count_pieces(text)

    def close(self) -> None:
        """Nothing to close."""


def cached(embedder: Embedder, texts: Sequence[str], *, query: bool = False) -> Iterator[TextEmbedding]:
    """The embedding of each text in order; token vectors come back at 8 bits, which no figure can tell."""
    folder = Path(tempfile.gettempdir(), "ebbing-bench-embeddings")
    folder.mkdir(mode=0o700, exist_ok=True)
    for start in range(0, len(texts), _SHARD):
        shard = list(texts[start : start + _SHARD])
        path = folder / f"{_key(embedder.spec.id, shard, query=query)}.npz"
        if not path.exists():
            _write(path, _embed(embedder, shard, query=query))
        yield from _read(path)


def _embed(embedder: Embedder, texts: list[str], *, query: bool) -> list[TextEmbedding]:
    return [embedder.embed_query(text) for text in texts] if query else embedder.embed_documents(texts)


def _key(model: str, texts: list[str], *, query: bool) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for text in (model, str(query), *texts):
        digest.update(text.encode("utf-8", "surrogatepass") + b"\0")
    return digest.hexdigest()


def _write(path: Path, embeddings: list[TextEmbedding]) -> None:
    codes = encode(np.concatenate([one.tokens for one in embeddings]), _TOKEN_BITS)
    beside = path.with_suffix(".part.npz")
    np.savez(
        beside,
        chunks=np.concatenate([one.chunks for one in embeddings]),
        chunk_counts=[len(one.chunks) for one in embeddings],
        packed=codes.packed,
        scale=codes.scale,
        pieces=np.concatenate([one.pieces for one in embeddings]),
        counts=[len(one.pieces) for one in embeddings],
    )
    beside.replace(path)


def _read(path: Path) -> Iterator[TextEmbedding]:
    with np.load(path) as file:
        data = {name: file[name] for name in file.files}
    chunk, token = 0, 0
    for chunks, tokens in zip(data["chunk_counts"], data["counts"], strict=True):
        part = slice(token, token + tokens)
        vectors = decode(Codes(_TOKEN_BITS, data["packed"][part], data["scale"][part]))
        yield TextEmbedding(data["chunks"][chunk : chunk + chunks], vectors, data["pieces"][part])
        chunk, token = chunk + chunks, token + tokens
