"""Frames are made once for each change of the memories that they describe, ahead of a question where there is time."""

from __future__ import annotations

from pathlib import Path

from recall_store import RecallStore

from ebbing.retrieval.frames import Frames
from ebbing.store.catalog import Catalog


class CountingCatalog(Catalog):
    """A catalog that counts the frames that are made from it."""

    made = 0

    def speakers(self) -> dict[str, int]:
        self.made += 1
        return super().speakers()


def test_a_scope_that_was_asked_for_is_made_ready_when_its_memories_change(tmp_path: Path) -> None:
    with RecallStore(tmp_path) as memories:
        memories.save("one")
        catalog = memories.store.catalog = CountingCatalog(memories.store.database)
        frames = Frames(memories.store)
        frames.refresh(catalog.columns())
        assert catalog.made == 0
        frames.of(catalog.columns(), [1])
        memories.save("two")
        columns = catalog.columns()
        frames.refresh(columns)
        frames.refresh(columns)
        assert catalog.made == 2
        assert len(frames.of(columns, [1]).layout) == 2
        assert catalog.made == 2
