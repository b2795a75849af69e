"""Migrations: from nothing, from an older schema, never half, never backwards, and by several processes at once."""

import threading
from pathlib import Path

import apsw
import pytest
from plain_store import NOW, open_store, save
from store_processes import run_together

from ebbing.schemas.errors import StoreError, StoreFullError, StoreTooNewError
from ebbing.store.backup import Backups
from ebbing.store.connections import run, set_pragma
from ebbing.store.database import Database
from ebbing.store.migrations import Migration, known_migrations, migrate, schema_number

FIRST = Migration(1, "first", "CREATE TABLE song (title TEXT); INSERT INTO song VALUES ('one');")
SECOND = Migration(2, "second", "ALTER TABLE song ADD COLUMN year INTEGER; UPDATE song SET year = 1969;")
THIRD = Migration(3, "third", "CREATE TABLE album (name TEXT); SELECT title FROM song; INSERT INTO album VALUES ('a');")
BROKEN = Migration(3, "broken", "CREATE TABLE album (name TEXT); DELETE FROM song; INSERT INTO nowhere VALUES (1);")


def opened(path: Path) -> tuple[Database, Backups]:
    """A database and its backups."""
    database = Database(path / "memory.db")
    return database, Backups(database, path / "backups")


def songs(path: Path) -> list[object]:
    """What a database file holds, read by SQLite alone."""
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return list(connection.execute("SELECT * FROM song"))  # pyright: ignore[reportUnknownMemberType]
    finally:
        connection.close()


def test_a_blank_file_gets_every_migration_and_no_backup(tmp_path: Path) -> None:
    database, backups = opened(tmp_path)
    with database:
        assert schema_number(database) == 0
        assert migrate(database, backups, NOW, (FIRST, SECOND, THIRD)) == 3
        assert database.rows("SELECT number, name, applied_at FROM migration") == [
            (1, "first", NOW),
            (2, "second", NOW),
            (3, "third", NOW),
        ]
        assert database.rows("SELECT * FROM song") == [("one", 1969)]
        assert backups.list() == []


def test_statements_after_one_that_returns_rows_are_run_too(tmp_path: Path) -> None:
    database, backups = opened(tmp_path)
    with database:
        migrate(database, backups, NOW, (FIRST, SECOND, THIRD))
        assert database.rows("SELECT name FROM album") == [("a",)]


def test_an_older_file_is_copied_before_each_migration(tmp_path: Path) -> None:
    database, backups = opened(tmp_path)
    with database:
        migrate(database, backups, NOW, (FIRST,))
        migrate(database, backups, NOW + 1, (FIRST, SECOND, THIRD))
        before_second, before_third = backups.list()
    assert before_second.name.endswith("before-0002.db")
    assert before_third.name.endswith("before-0003.db")
    assert songs(before_second) == [("one",)]
    assert songs(before_third) == [("one", 1969)]


def test_a_current_file_is_left_alone(tmp_path: Path) -> None:
    database, backups = opened(tmp_path)
    with database:
        migrate(database, backups, NOW, (FIRST, SECOND))
    before = (tmp_path / "memory.db").read_bytes()
    database, backups = opened(tmp_path)
    with database:
        assert migrate(database, backups, NOW + 1, (FIRST, SECOND)) == 2
        assert backups.list() == []
    assert (tmp_path / "memory.db").read_bytes() == before


def test_half_a_migration_leaves_the_file_as_it_was_before_it(tmp_path: Path) -> None:
    database, backups = opened(tmp_path)
    with database:
        migrate(database, backups, NOW, (FIRST,))
        with pytest.raises(StoreError):
            migrate(database, backups, NOW + 1, (FIRST, SECOND, BROKEN))
        assert schema_number(database) == 2
        assert database.rows("SELECT * FROM song") == [("one", 1969)]
        assert database.rows("SELECT name FROM sqlite_master WHERE name = 'album'") == []
        assert migrate(database, backups, NOW + 2, (FIRST, SECOND, THIRD)) == 3


def test_a_newer_file_is_refused_and_left_as_it_was(tmp_path: Path) -> None:
    database, backups = opened(tmp_path)
    with database:
        migrate(database, backups, NOW, (FIRST, SECOND))
    before = (tmp_path / "memory.db").read_bytes()
    database, backups = opened(tmp_path)
    with database, pytest.raises(StoreTooNewError, match="upgrade"):
        migrate(database, backups, NOW, (FIRST,))
    assert (tmp_path / "memory.db").read_bytes() == before
    assert not (tmp_path / "backups").exists()


def test_a_store_of_a_newer_version_is_refused_and_left_as_it_was(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        save(store, "from the future")
        with store.atomic():
            store.database.execute("INSERT INTO migration VALUES (?, 'future', 0)", (store.schema + 1,))
    before = (tmp_path / "memory.db").read_bytes()
    with pytest.raises(StoreTooNewError):
        open_store(tmp_path)
    assert (tmp_path / "memory.db").read_bytes() == before


def test_no_migration_begins_without_its_backup(tmp_path: Path) -> None:
    database, backups = opened(tmp_path)
    with database:
        migrate(database, backups, NOW, (FIRST,))
        (tmp_path / "backups").write_text("in the way")
        with pytest.raises(StoreError, match="backup"):
            migrate(database, backups, NOW, (FIRST, SECOND))
        assert schema_number(database) == 1
        assert database.rows("SELECT * FROM song") == [("one",)]


def test_a_full_disk_during_a_migration_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    database, backups = opened(tmp_path)
    large = Migration(2, "large", "INSERT INTO song VALUES (hex(zeroblob(100000)));")
    with database:
        migrate(database, backups, NOW, (FIRST,))
        with database.connection() as connection:
            set_pragma(connection, "max_page_count", 8)
            with pytest.raises(StoreFullError):
                migrate(database, backups, NOW, (FIRST, large))
            set_pragma(connection, "max_page_count", 10_000)
        assert schema_number(database) == 1
        assert database.rows("SELECT * FROM song") == [("one",)]


def test_processes_that_open_a_new_store_at_once_agree_on_one(tmp_path: Path) -> None:
    newest = str(known_migrations()[-1].number)
    assert run_together("begin", tmp_path / "home", "", 5) == [newest] * 5
    with open_store(tmp_path / "home") as store:
        assert store.integrity() == []
        assert store.database.value("SELECT count(*) FROM migration") == int(newest)
        assert store.database.value("SELECT count(*) FROM model") == 1


def test_connections_that_migrate_at_once_do_it_once(tmp_path: Path) -> None:
    database, backups = opened(tmp_path)
    with database:
        migrate(database, backups, NOW, (FIRST,))
        start = threading.Barrier(3)

        def go() -> None:
            own, own_backups = opened(tmp_path)
            with own:
                start.wait()
                assert migrate(own, own_backups, NOW + 1, (FIRST, SECOND)) == 2

        threads = [threading.Thread(target=go) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert database.rows("SELECT * FROM song") == [("one", 1969)]
        assert len(backups.list()) == 1
        assert database.value("SELECT count(*) FROM migration") == 2


def test_the_migrations_that_ship_are_numbered_without_gaps_and_hold_no_transactions() -> None:
    steps = known_migrations()
    assert [step.number for step in steps] == list(range(1, len(steps) + 1))
    assert not [step.name for step in steps if any(word in step.sql.upper() for word in ("COMMIT;", "ROLLBACK;"))]


def older_store(path: Path, memories: int, links: list[tuple[int, int, str, float]]) -> None:
    """A store of the first schema with memories from 1 on and rows of links."""
    first, *_ = known_migrations()
    database, backups = opened(path)
    with database:
        migrate(database, backups, NOW, (first,))
        with database.atomic():
            database.execute("INSERT INTO scope (id, key) VALUES (1, 'global')")
            database.executemany(
                "INSERT INTO memory (seq, id, scope, kind, content, content_hash, gist, cue, importance, arousal,"
                " trust, actor, recorded_at) VALUES (?1, 'id' || ?1, 1, 'fact', 't', x'00', '', '', 0, 0, 1, '', 1)",
                [(seq + 1,) for seq in range(memories)],
            )
            database.executemany("INSERT INTO link VALUES (?, ?, ?, ?)", links)


def test_links_of_an_older_store_are_kept_and_known_at_both_ends(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    older_store(
        tmp_path, 3, [(1, 2, "similar", 0.5), (2, 1, "similar", 0.5), (2, 3, "gist", 0.75), (3, 1, "cause", 0.25)]
    )
    damaged = apsw.Connection(str(tmp_path / "memory.db"))
    list(run(damaged, "INSERT INTO link VALUES (1, 99, 'cause', 1), (99, 2, 'cause', 1)"))
    damaged.close()
    assert caplog.text == ""
    with open_store(tmp_path) as store:
        assert "bringing the memory store from schema 1 to" in caplog.text
        kept = store.database.rows("SELECT * FROM link ORDER BY weight, seq")
        assert kept == [
            (1, 3, "cause", 0.25),
            (3, 1, "cause", 0.25),
            (1, 2, "similar", 0.5),
            (2, 1, "similar", 0.5),
            (2, 3, "gist", 0.75),
            (3, 2, "gist", 0.75),
        ]
        store.erase([3])
        assert store.database.rows("SELECT seq, other FROM link") == [(1, 2), (2, 1)]


def test_the_work_of_a_migration_grows_with_what_there_is_and_not_with_its_square(tmp_path: Path) -> None:
    steps: list[int] = []
    for memories in (100, 400):
        path = tmp_path / str(memories)
        older_store(path, memories, [(seq, seq + 1, "similar", 0.5) for seq in range(1, memories)])
        database, backups = opened(path)
        with database, database.connection() as connection:
            counted: list[None] = []
            connection.set_progress_handler(lambda counted=counted: counted.append(None) is not None, 10)
            migrate(database, backups, NOW)
            steps.append(len(counted))
    assert steps[0] > 0
    assert steps[1] < 6 * steps[0]
