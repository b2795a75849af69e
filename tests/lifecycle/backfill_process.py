"""Embeds a store's memories by another model, saying so after each batch: for the test that kills it in the middle."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from fake_embedder import FAKE_MODEL, FakeEmbedder

from ebbing.encoding.embedder import TextEmbedding
from ebbing.lifecycle.backfill import backfill
from ebbing.store.store import Store

NEW_MODEL = replace(FAKE_MODEL, id="new-words")


class Reporting(FakeEmbedder):
    """Waits for a line on standard input before each batch but the first."""

    def embed_documents(self, texts: Sequence[str]) -> list[TextEmbedding]:
        print(len(self.embedded), flush=True)  # noqa: T201 - what the test reads
        sys.stdin.readline()
        return super().embed_documents(texts)


if __name__ == "__main__":
    with Store(Path(sys.argv[1]), 0, model_name=NEW_MODEL.id, dimension=NEW_MODEL.dimension) as store:
        backfill(store, Reporting(spec=NEW_MODEL))
