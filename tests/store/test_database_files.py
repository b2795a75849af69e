"""The file on disk: private, never made anew in place of a lost one, and errors that say what is wrong with it."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from plain_store import open_store, save
from store_processes import run_process

from ebbing.schemas.errors import StoreCorruptError, StoreError, StoreReadOnlyError
from ebbing.store.database import Database


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A folder with a closed store of 300 memories."""
    with open_store(tmp_path / "home") as store, store.atomic():
        for number in range(300):
            save(store, f"fact {number}")
    return tmp_path / "home"


@pytest.fixture
def no_umask() -> Iterator[None]:
    """A process that lets everybody do everything with what it makes."""
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    """Permission bits."""
    return stat.S_IMODE(path.stat().st_mode)


def contents(folder: Path) -> dict[str, bytes]:
    """Every file's bytes by name."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.usefixtures("no_umask")
def test_everything_the_store_makes_is_private_whatever_the_umask(tmp_path: Path) -> None:
    home = tmp_path / "new" / "home"
    with open_store(home) as store:
        save(store, "a secret")
        store.backups.make("test", 1)
        modes = {path.relative_to(home).as_posix(): mode(path) for path in home.rglob("*")}
        backup = store.backups.list()[0].name
    assert mode(home) == 0o700
    assert modes == {
        "memory.db": 0o600,
        "memory.db-wal": 0o600,
        "memory.db-shm": 0o600,
        "backups": 0o700,
        f"backups/{backup}": 0o600,
    }


def test_a_file_that_others_can_read_becomes_private_when_it_is_opened(home: Path) -> None:
    (home / "memory.db").chmod(0o644)
    with open_store(home) as store:
        save(store, "a secret")
        assert {mode(path) for path in home.glob("memory.db*")} == {0o600}


def test_a_folder_below_a_file_says_that_it_can_not_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    for home in (tmp_path / "file", tmp_path / "file" / "home"):
        with pytest.raises(StoreReadOnlyError, match="EBBING_HOME"):
            open_store(home)
    assert contents(tmp_path) == {"file": b"in the way"}


def test_a_folder_in_place_of_the_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "memory.db").mkdir()
    with pytest.raises(StoreReadOnlyError, match="directory"):
        open_store(tmp_path)
    assert list((tmp_path / "memory.db").iterdir()) == []


def test_a_folder_that_can_not_be_written_is_refused(tmp_path: Path) -> None:
    home = tmp_path / "locked"
    home.mkdir(mode=0o500)
    assert run_process("enter", home) == "StoreReadOnlyError"
    assert list(home.iterdir()) == []


def test_a_file_that_can_not_be_written_is_refused_and_left_as_it_was(home: Path) -> None:
    before = contents(home)
    (home / "memory.db").chmod(0o400)
    assert run_process("enter", home) == "StoreReadOnlyError"
    assert contents(home) == before
    (home / "memory.db").chmod(0o600)
    assert run_process("enter", home) == "300"


def test_a_store_in_a_folder_that_became_read_only_is_refused_and_left_as_it_was(home: Path) -> None:
    before = contents(home)
    home.chmod(0o500)
    said = run_process("enter", home)
    home.chmod(0o700)
    assert said == "StoreReadOnlyError"
    assert contents(home) == before


def test_what_is_no_database_is_refused_and_left_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "memory.db").write_bytes(b"a letter to nobody " * 500)
    before = contents(tmp_path)
    with pytest.raises(StoreCorruptError, match="doctor"):
        open_store(tmp_path)
    assert contents(tmp_path) == before


def test_somebody_elses_database_is_refused_and_left_as_it_was(tmp_path: Path) -> None:
    with Database(tmp_path / "memory.db") as other, other.atomic():
        other.execute("CREATE TABLE song (title TEXT)")
    before = contents(tmp_path)
    with pytest.raises(StoreCorruptError, match="not of ebbing"):
        open_store(tmp_path)
    assert contents(tmp_path) == before


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9])
def test_a_truncated_file_is_reported_as_damaged_and_never_taken_for_empty(home: Path, share: float) -> None:
    file = home / "memory.db"
    os.truncate(file, int(file.stat().st_size * share))
    before = contents(home)

    def read_all() -> None:
        with open_store(home) as store:
            assert sum(len(batch) for batch in store.memories.all()) == 300

    with pytest.raises(StoreCorruptError, match="doctor"):
        read_all()
    assert contents(home)["memory.db"] == before["memory.db"]


def test_pages_of_noise_are_reported_as_damaged(home: Path) -> None:
    file = home / "memory.db"
    noise = bytes(range(256)) * 16
    with file.open("r+b") as handle:
        for page in range(2, file.stat().st_size // 4096):
            handle.seek(page * 4096)
            handle.write(noise)
    with pytest.raises(StoreCorruptError, match="doctor"), open_store(home) as store:
        next(store.memories.all())


@pytest.mark.parametrize("empty", [False, True], ids=["missing", "empty"])
def test_no_empty_store_begins_where_backups_say_there_was_a_full_one(home: Path, *, empty: bool) -> None:
    with open_store(home) as store:
        backup = store.backups.make("test", 1)
    lose(home / "memory.db", empty=empty)
    before = contents(home)
    with pytest.raises(StoreCorruptError, match="missing or empty") as caught:
        open_store(home)
    assert str(backup) in str(caught.value)
    assert contents(home) == before


@pytest.mark.parametrize("empty", [False, True], ids=["missing", "empty"])
def test_no_empty_store_begins_where_a_log_says_there_was_a_full_one(home: Path, *, empty: bool) -> None:
    log = home / "memory.db-wal"
    log.write_bytes(b"frames of a store that was in use")
    lose(home / "memory.db", empty=empty)
    with pytest.raises(StoreCorruptError, match="missing or empty"):
        open_store(home)
    assert log.read_bytes() == b"frames of a store that was in use"


def test_no_empty_store_begins_in_a_blank_database_while_there_are_backups(home: Path) -> None:
    with open_store(home) as store:
        store.backups.make("test", 1)
    (home / "memory.db").unlink()
    with Database(home.parent / "blank.db") as blank, blank.atomic():
        blank.execute("PRAGMA user_version = 1")
    (home.parent / "blank.db").rename(home / "memory.db")
    with pytest.raises(StoreCorruptError, match="missing or empty"):
        open_store(home)


def test_following_the_advice_brings_the_memories_back(home: Path) -> None:
    with open_store(home) as store:
        backup = store.backups.make("test", 1)
    (home / "memory.db").unlink()
    with pytest.raises(StoreCorruptError):
        open_store(home)
    (home / "memory.db").write_bytes(backup.read_bytes())
    with open_store(home) as store:
        assert store.memories.count() == 300
        assert store.integrity() == []


def test_moving_the_backups_away_lets_a_new_store_begin(home: Path) -> None:
    with open_store(home) as store:
        store.backups.make("test", 1)
    (home / "memory.db").unlink()
    (home / "backups").rename(home.parent / "elsewhere")
    with open_store(home) as store:
        assert store.memories.count() == 0


def test_an_empty_file_alone_is_a_store_that_was_about_to_begin(tmp_path: Path) -> None:
    (tmp_path / "memory.db").touch()
    with open_store(tmp_path) as store:
        assert store.memories.count() == 0


def test_a_file_that_vanishes_under_a_running_server_is_not_made_anew(home: Path) -> None:
    with Database(home / "memory.db") as database:
        (home / "memory.db").unlink()
        with pytest.raises(StoreError):
            database.rows("SELECT 1")
    assert not (home / "memory.db").exists()


def test_a_disk_that_fills_up_refuses_the_write_and_loses_nothing(tmp_path: Path) -> None:
    home = tmp_path / "home"
    open_store(home).close()
    most = (home / "memory.db").stat().st_size + 400_000
    error, saved = run_process("fill", home, str(most)).split()
    assert error == "StoreFullError"
    assert int(saved) > 0
    with open_store(home) as store:
        assert store.integrity() == []
        texts = [memory.content for batch in store.memories.all() for memory in batch]
        assert [text.split()[1] for text in texts[:-1]] == [str(number) for number in range(int(saved))]
        assert texts[-1] == "there is room again"


def lose(path: Path, *, empty: bool) -> None:
    """What goes wrong when a folder is synchronised or restored in part."""
    path.unlink()
    if empty:
        path.touch()
