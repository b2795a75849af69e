"""Several processes on one store: nothing is lost, whoever is killed or ends first."""

import signal
from collections import Counter
from pathlib import Path

from plain_store import open_store, save
from store_processes import run_process, run_together, start_process

from ebbing.store.database import Database
from ebbing.store.scan import found_in_files
from ebbing.store.traces import Traces


def holding(database: Database, text: str) -> list[Path]:
    """Which of the database's files hold a text."""
    return [path for path, windows in found_in_files(database, Traces([text])).items() if windows]


def test_four_processes_that_write_at_once_lose_nothing(tmp_path: Path) -> None:
    assert run_together("count", tmp_path, "50", 4) == ["done"] * 4
    with open_store(tmp_path) as store:
        assert store.meta.get("counter") == "200"
        entries = store.journal.after(0)
        assert Counter(entry.memory for entry in entries).most_common(1)[0][1] == 50
        assert len(entries) == 200
        assert store.integrity() == []


def test_a_process_killed_in_the_middle_of_a_write_loses_only_that(tmp_path: Path) -> None:
    with start_process("die", tmp_path, "8") as process:
        said, _ = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL
    assert said == ""
    with open_store(tmp_path) as store:
        texts = [memory.content for batch in store.memories.all() for memory in batch]
        assert texts == [f"acknowledged {number}" for number in range(8)]
        assert store.integrity() == []


def test_opening_the_store_twice_keeps_the_locks_that_guard_its_log(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        save(store, "one")
        open_store(tmp_path).close()
        # The other process ends as the last one would, if ours had let go of its locks: it would remove the log.
        assert run_process("look", tmp_path, "rev") == str(store.meta.revision())
        save(store, "two")
        assert run_process("look", tmp_path, "rev") == str(store.meta.revision())


def test_searching_the_files_finds_bytes_and_keeps_the_locks_that_guard_the_log(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        save(store, "a needle in the hay")
        log = store.database.path.with_name("memory.db-wal")
        assert holding(store.database, "a needle in the hay") == [log]
        assert run_process("look", tmp_path, "rev") == str(store.meta.revision())
        store.database.checkpoint()
        assert holding(store.database, "a needle in the hay") == [store.database.path]
        assert holding(store.database, "no such thing") == []
        save(store, "two")
        assert run_process("look", tmp_path, "rev") == str(store.meta.revision())


def test_bytes_that_lie_across_two_blocks_are_found(tmp_path: Path) -> None:
    text = "".join(f"{number:08d}" for number in range(300_000))
    with Database(tmp_path / "memory.db") as database:
        with database.atomic():
            database.execute("CREATE TABLE word (text TEXT)")
            database.execute("INSERT INTO word VALUES (?)", (text,))
        database.checkpoint()
        content = database.path.read_bytes()
        across = content[(1 << 20) - 12 : (1 << 20) + 12].decode()
        assert holding(database, across) == [database.path]
