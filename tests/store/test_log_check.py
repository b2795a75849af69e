"""The log beside a database: its own, another one's, or gone."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from plain_store import NOW, open_store, save
from store_processes import start_process

from ebbing.schemas.errors import StoreCorruptError
from ebbing.store.restore import restore


def crashed(home: Path, saves: int = 3, *, checkpointed: bool = True) -> None:
    """A store whose process was killed with what it saved last in the log."""
    with open_store(home) as store:
        save(store, "old and copied into the file")
        store.backups.make("test", NOW)
    if not checkpointed:
        shutil.rmtree(home)
    with start_process("die", home, str(saves)) as process:
        process.communicate(timeout=60)
    assert (home / "memory.db-wal").stat().st_size > 0


def texts(home: Path) -> list[str]:
    with open_store(home) as store:
        assert store.integrity() == []
        return [memory.content for batch in store.memories.all() for memory in batch]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    crashed(tmp_path / "home")
    return tmp_path / "home"


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("memory.db*")}


def test_what_a_killed_process_left_in_the_log_is_there(home: Path) -> None:
    assert len(texts(home)) == 4


def test_a_log_that_was_taken_away_is_missed_and_nothing_is_changed(home: Path, tmp_path: Path) -> None:
    (home / "memory.db-wal").rename(tmp_path / "log")
    before = contents(home)
    [backup] = (home / "backups").iterdir()
    for _ in range(2):
        with pytest.raises(StoreCorruptError, match=r"memory.db-wal is missing.*put it back") as caught:
            open_store(home)
        assert f"`ebbing restore {backup}`" in str(caught.value)
        assert contents(home) == before
    (tmp_path / "log").rename(home / "memory.db-wal")
    assert len(texts(home)) == 4


def test_doing_without_a_lost_log_is_a_decision_that_can_be_made(home: Path) -> None:
    (home / "memory.db-wal").unlink()
    (home / "memory.db-shm").unlink()
    assert texts(home) == ["old and copied into the file"]


def test_a_store_that_lay_in_its_log_alone_is_not_begun_anew_without_it(tmp_path: Path) -> None:
    crashed(tmp_path / "home", checkpointed=False)
    (tmp_path / "home" / "memory.db-wal").unlink()
    with pytest.raises(StoreCorruptError, match=r"memory.db-wal is missing"):
        open_store(tmp_path / "home")


def whole(other: Path, home: Path) -> None:
    """The log of a store that lay in its log alone."""
    crashed(other, checkpointed=False)
    shutil.copy(other / "memory.db-wal", home / "memory.db-wal")


def part(other: Path, home: Path) -> None:
    """The log of a larger store, of which it holds what was saved last."""
    with open_store(other) as store, store.atomic():
        for number in range(400):
            save(store, f"fact {number} of another store")
    with start_process("die", other, "3") as process:
        process.communicate(timeout=60)
    shutil.copy(other / "memory.db-wal", home / "memory.db-wal")


def later(other: Path, home: Path) -> None:
    """An old copy of a database put into its place by hand, beside a log that goes on from what it was since."""
    home_of_old = other / "old"
    shutil.copytree(home, home_of_old, ignore=shutil.ignore_patterns("*-wal", "*-shm"))
    with open_store(home) as store:
        with store.atomic():
            for number in range(400):
                save(store, f"fact {number} since the copy was made")
        store.database.checkpoint()
    with start_process("die", home, "3") as process:
        process.communicate(timeout=60)
    shutil.copy(home_of_old / "memory.db", home / "memory.db")


@pytest.mark.parametrize("stale", [whole, part, later])
def test_the_log_of_another_database_is_refused_and_the_database_left_alone(
    stale: Callable[[Path, Path], None], home: Path, tmp_path: Path
) -> None:
    (home / "memory.db-wal").unlink()
    (home / "memory.db-shm").unlink()
    stale(tmp_path / "other", home)
    before = (home / "memory.db").read_bytes()
    for _ in range(2):
        with pytest.raises(StoreCorruptError, match="is not the log of"):
            open_store(home)
        assert (home / "memory.db").read_bytes() == before
    (home / "memory.db-wal").unlink()
    (home / "memory.db-shm").unlink(missing_ok=True)
    assert texts(home) == ["old and copied into the file"]


def test_restoring_over_a_database_with_a_strange_log_keeps_both_apart(home: Path, tmp_path: Path) -> None:
    (home / "memory.db-shm").unlink()
    whole(tmp_path / "other", home)
    [backup] = (home / "backups").iterdir()
    before = contents(home)
    done = restore(backup, home / "memory.db", NOW)
    assert texts(home) == ["old and copied into the file"]
    assert done.kept is not None
    assert done.kept.read_bytes() == before["memory.db"]
    assert done.kept.with_name(f"{done.kept.name}-wal").read_bytes() == before["memory.db-wal"]


def test_a_folder_that_is_copied_while_its_store_is_in_use_opens_as_it_was(tmp_path: Path) -> None:
    with open_store(tmp_path / "home") as store:
        for number in range(40):
            save(store, f"fact {number}")
        for name in ("memory.db-wal", "memory.db"):
            (tmp_path / "copy").mkdir(exist_ok=True)
            shutil.copy(tmp_path / "home" / name, tmp_path / "copy" / name)
    assert len(texts(tmp_path / "copy")) == 40


def test_a_server_opens_a_store_that_another_one_is_writing(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        for number in range(30):
            save(store, f"fact {number}")
            with open_store(tmp_path) as again:
                assert again.memories.count() == number + 1
            if number % 10 == 9:
                store.database.checkpoint()
