"""A copy of the database back in its place: checked, only while nobody else uses it, and nothing is lost on the way."""

import stat
from pathlib import Path

import apsw
import pytest
from plain_store import NOW, open_store, save
from store_processes import start_process

from ebbing.schemas.errors import (
    InvalidInputError,
    StoreBusyError,
    StoreCorruptError,
    StoreTooNewError,
)
from ebbing.schemas.memory import Event
from ebbing.store.connections import run
from ebbing.store.journal import Entry
from ebbing.store.restore import Restored, restore


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A folder with a closed store of one memory, and a copy beside it from before a second one was saved."""
    with open_store(tmp_path / "home") as store:
        save(store, "first")
        store.backups.write_to(tmp_path / "copy.db")
        save(store, "second")
    return tmp_path / "home"


def put_back(home: Path, copy: str = "copy.db") -> Restored:
    return restore(home.parent / copy, home / "memory.db", NOW)


def texts(home: Path) -> list[str]:
    with open_store(home) as store:
        assert store.integrity() == []
        return [memory.content for batch in store.memories.all() for memory in batch]


def kept_texts(kept: Path) -> list[str]:
    connection = apsw.Connection(str(kept), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return [str(text) for (text,) in run(connection, "SELECT content FROM memory ORDER BY seq")]
    finally:
        connection.close()


def test_the_store_is_what_the_copy_was_and_what_it_replaced_is_kept(home: Path) -> None:
    done = put_back(home)
    assert (done.memories, done.returned) == (1, ())
    assert texts(home) == ["first"]
    assert done.kept is not None
    assert kept_texts(done.kept) == ["first", "second"]
    assert stat.S_IMODE(done.kept.stat().st_mode) == stat.S_IMODE((home / "memory.db").stat().st_mode) == 0o600
    # And back again, from what was kept.
    assert restore(done.kept, home / "memory.db", NOW + 1).memories == 2
    assert texts(home) == ["first", "second"]


def test_a_log_that_was_left_behind_is_kept_too(home: Path) -> None:
    held = open_store(home)
    save(held, "third, in the log only")
    copies = home.parent / "crashed"
    copies.mkdir()
    for name in ("memory.db", "memory.db-wal"):
        (copies / name).write_bytes((home / name).read_bytes())
    held.close()
    done = restore(home.parent / "copy.db", copies / "memory.db", NOW)
    assert done.kept is not None
    assert kept_texts(done.kept) == ["first", "second", "third, in the log only"]
    assert texts(copies) == ["first"]


def test_a_copy_with_a_log_beside_it_is_read_with_its_log(home: Path) -> None:
    with open_store(home) as held:
        save(held, "third, in the log only")
        for ending in ("", "-wal"):
            (home.parent / f"live.db{ending}").write_bytes((home / f"memory.db{ending}").read_bytes())
    assert put_back(home, "live.db").memories == 3
    assert texts(home) == ["first", "second", "third, in the log only"]


def test_nothing_is_changed_while_another_process_has_the_store_open(home: Path) -> None:
    with start_process("hold", home) as holder:
        assert holder.stdout is not None
        assert holder.stdin is not None
        assert holder.stdout.readline() == "ready\n"
        with pytest.raises(StoreBusyError, match="another process"):
            put_back(home)
        holder.stdin.write("go\n")
        holder.stdin.flush()
        holder.wait()
    assert texts(home) == ["first", "second"]
    assert put_back(home).memories == 1


def test_a_damaged_or_foreign_or_newer_copy_changes_nothing(home: Path) -> None:
    outside = home.parent
    (outside / "text.db").write_bytes(b"this is no database " * 500)
    (outside / "empty.db").touch()
    data = bytearray((outside / "copy.db").read_bytes())
    data[8192:12288] = b"\xa5" * 4096
    (outside / "damaged.db").write_bytes(data)
    for name in ("text.db", "empty.db", "damaged.db"):
        with pytest.raises(StoreCorruptError):
            put_back(home, name)
    newer = apsw.Connection(str(outside / "copy.db"))
    run(newer, "INSERT INTO migration VALUES (999, 'future', 0)")
    newer.close()
    with pytest.raises(StoreTooNewError):
        put_back(home)
    for name in ("missing.db", "home/memory.db", "home"):
        with pytest.raises(InvalidInputError):
            put_back(home, name)
    assert texts(home) == ["first", "second"]


@pytest.mark.parametrize("content", [b"this is no database " * 500, b""], ids=["unreadable", "empty"])
def test_a_store_that_cannot_be_read_is_moved_aside_with_its_log(home: Path, content: bytes) -> None:
    (home / "memory.db").write_bytes(content)
    (home / "memory.db-wal").write_bytes(b"what is left of the log")
    done = put_back(home)
    assert texts(home) == ["first"]
    assert done.kept is not None
    assert done.kept.with_name(done.kept.name + "-wal").read_bytes() == b"what is left of the log"
    assert not content or done.kept.read_bytes() == content


def test_a_damaged_store_is_kept_under_a_name_that_no_backup_has(home: Path) -> None:
    data = bytearray((home / "memory.db").read_bytes())
    data[8192:12288] = b"\xa5" * 4096
    (home / "memory.db").write_bytes(data)
    done = put_back(home)
    assert texts(home) == ["first"]
    assert done.kept is not None
    assert done.kept.name.startswith("damaged-")


def test_a_store_begins_from_a_copy_where_there_was_none(home: Path, tmp_path: Path) -> None:
    done = restore(home.parent / "copy.db", tmp_path / "new" / "memory.db", NOW)
    assert (done.memories, done.kept) == (1, None)
    assert texts(tmp_path / "new") == ["first"]


def test_memories_that_had_been_erased_are_named_when_they_return(home: Path) -> None:
    with open_store(home) as store:
        [first, _] = next(store.memories.all())
        store.journal.append(Entry(NOW, Event.ERASED, None, first.id))
        store.erase([first.seq])
    assert put_back(home).returned == (first.id,)
