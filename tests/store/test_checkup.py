"""Looking at a store through a connection that can't write."""

from pathlib import Path

import pytest
from world import World

from ebbing.schemas.errors import StoreCorruptError, StoreReadOnlyError
from ebbing.store.checkup import CoarseIndex, backups_in, examine, versions


def test_a_sound_store_is_counted(tmp_path: Path) -> None:
    with World(tmp_path / "home") as world:
        world.save("The port is 8080.")
        world.save("The queue is called mail.")
        found = examine(tmp_path / "home" / "memory.db")
    assert (found.integrity, found.memories, found.unindexed, found.orphaned) == ((), 2, 0, 0)
    assert found.schema == found.known_schema
    assert [(index.rows, index.expected) for index in found.coarse] == [(2, 2)]


def test_a_lost_index_is_seen_as_lost_and_not_as_an_error(tmp_path: Path) -> None:
    with World(tmp_path / "home") as world:
        world.save("The port is 8080.")
        with world.services.store.atomic():
            world.services.store.vectors.index.drop()
        [index] = examine(tmp_path / "home" / "memory.db").coarse
    assert index == CoarseIndex(index.model, None, 1)


def test_a_store_is_looked_at_while_another_process_writes(tmp_path: Path) -> None:
    with World(tmp_path / "home") as world:
        world.save("The port is 8080.")
        with world.services.store.atomic():
            world.services.store.meta.set("half", "done")
            assert examine(tmp_path / "home" / "memory.db").memories == 1


def test_what_is_no_database_is_reported_as_damaged(tmp_path: Path) -> None:
    (tmp_path / "memory.db").write_bytes(b"nothing of the kind " * 300)
    with pytest.raises(StoreCorruptError):
        examine(tmp_path / "memory.db")


def test_a_missing_file_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(StoreReadOnlyError):
        examine(tmp_path / "memory.db")
    assert list(tmp_path.iterdir()) == []


def test_versions_name_the_engine_its_driver_and_the_extension() -> None:
    found = versions()
    assert found.keys() == {"sqlite", "apsw", "sqlite-vec"}
    assert all(version for version in found.values())


def test_backups_are_listed_oldest_first(tmp_path: Path) -> None:
    with World(tmp_path / "home") as world:
        made = [world.services.store.backups.make("a", world.now + number) for number in range(3)]
    assert backups_in(tmp_path / "home") == made
    assert backups_in(tmp_path / "none") == []
