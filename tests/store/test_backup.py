"""Backups: whole, private, few, and rewritten without their neighbours noticing."""

import os
import stat
import threading
from pathlib import Path

import pytest
from plain_store import NOW, PROJECT, open_store, save

from ebbing.schemas.errors import StoreError, StoreReadOnlyError


def texts_in(backup: Path, home: Path) -> list[str]:
    """What a backup holds, opened as a store of its own."""
    home.mkdir()
    (home / "memory.db").write_bytes(backup.read_bytes())
    with open_store(home) as store:
        assert store.integrity() == []
        return [memory.content for memory in store.memories.in_scope(PROJECT)]


def test_a_backup_is_a_whole_store_as_of_its_moment(tmp_path: Path) -> None:
    with open_store(tmp_path / "home") as store:
        save(store, "before")
        backup = store.backups.make("test", NOW)
        save(store, "after")
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    assert texts_in(backup, tmp_path / "other") == ["before"]


def test_a_backup_made_inside_of_a_write_shows_what_was_there_before(tmp_path: Path) -> None:
    with open_store(tmp_path / "home") as store:
        save(store, "before")
        with store.atomic():
            save(store, "not yet committed")
            backup = store.backups.make("test", NOW)
    assert texts_in(backup, tmp_path / "other") == ["before"]


def test_the_newest_five_are_kept(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        made = [store.backups.make("test", NOW + number) for number in range(7)]
        assert store.backups.list() == made[2:]


def test_threads_that_back_up_at_the_same_moment_make_a_whole_one(tmp_path: Path) -> None:
    with open_store(tmp_path / "home") as store:
        for number in range(20):
            save(store, f"fact {number}")
        threads = [threading.Thread(target=store.backups.make, args=("test", NOW)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        [backup] = store.backups.list()
    assert len(texts_in(backup, tmp_path / "other")) == 20


def test_copies_that_a_crash_left_unfinished_are_removed(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        store.backups.folder.mkdir()
        (store.backups.folder / "memory-20200101T000000000000-test.partial").write_text("half")
        (store.backups.folder / "memory-20200101T000000000000-test.partial-journal").write_text("half")
        backup = store.backups.make("test", NOW)
        assert list(store.backups.folder.iterdir()) == [backup]


def test_a_backup_that_can_not_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        store.backups.folder.write_text("in the way")
        with pytest.raises(StoreReadOnlyError, match="backup"):
            store.backups.make("test", NOW)
        save(store, "goes on")
        assert store.memories.count() == 1


def test_a_damaged_store_is_not_copied_over_good_backups(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        save(store, "fact")
        store.backups.make("test", NOW)
        store.database.checkpoint()
        size = (tmp_path / "memory.db").stat().st_size
        with (tmp_path / "memory.db").open("r+b") as file:
            file.truncate(size // 3)
        with pytest.raises(StoreError):
            store.backups.make("test", NOW + 1)
        assert len(store.backups.list()) == 1


def test_a_draft_takes_its_backups_place_only_while_that_is_what_was_copied(tmp_path: Path) -> None:
    with open_store(tmp_path / "home") as store:
        save(store, "one")
        backup = store.backups.make("test", NOW)
        with store.backups.draft(backup) as draft:
            with open_store(draft.home) as copy:
                save(copy, "two")
            assert store.backups.is_draft(draft.copy)
            assert store.backups.put_back(draft)
        with store.backups.draft(backup) as late:
            backup.write_bytes(backup.read_bytes())
            assert not store.backups.put_back(late)
        with store.backups.draft(backup) as late:
            backup.unlink()
            assert not store.backups.put_back(late)
            assert not store.backups.list()
        assert list(store.backups.folder.iterdir()) == []


def test_a_draft_is_private_and_those_of_dead_processes_are_removed(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        save(store, "one")
        backup = store.backups.make("test", NOW)
        old = store.backups.folder / "erasing-old"
        old.mkdir()
        os.utime(old, (0, 0))
        with store.backups.draft(backup) as draft:
            assert stat.S_IMODE(draft.copy.stat().st_mode) == 0o600
            assert stat.S_IMODE(draft.home.stat().st_mode) == 0o700
            assert sorted(store.backups.folder.iterdir()) == sorted([draft.home, backup])
