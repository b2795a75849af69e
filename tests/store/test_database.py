"""Transactions: whole or not at all, one writer at a time, and an orderly end when the store is closed."""

import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from ebbing.schemas.errors import StoreBusyError, StoreError, StoreFullError
from ebbing.store.connections import set_pragma
from ebbing.store.database import NOTHING, READING, WRITING, Database

# Counts so far that it only ends by being interrupted.
ENDLESS = (
    "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n WHERE i % 2 = 0 LIMIT 1"
)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    """A database with one table of texts."""
    with Database(tmp_path / "home" / "memory.db", busy_timeout_ms=50) as opened:
        with opened.atomic():
            opened.execute("CREATE TABLE word (text TEXT)")
        yield opened


def put(database: Database, text: str) -> None:
    """Store a word, in the caller's transaction or one of its own."""
    with database.atomic(durable=False):
        database.execute("INSERT INTO word VALUES (?)", (text,))


def words(database: Database) -> list[str]:
    """What is stored."""
    return [str(text) for (text,) in database.rows("SELECT text FROM word ORDER BY rowid")]


def put_and_fail(database: Database, text: str) -> None:
    """Store a word in a transaction that then fails."""
    with database.atomic():
        put(database, text)
        raise RuntimeError("enough")


def test_what_was_committed_is_seen_by_every_connection(database: Database) -> None:
    put(database, "one")
    with Database(database.path) as other:
        assert words(other) == ["one"]


def test_an_exception_undoes_everything_in_the_transaction(database: Database) -> None:
    with pytest.raises(RuntimeError):
        put_and_fail(database, "lost")
    assert words(database) == []


def test_an_inner_failure_undoes_only_what_was_inside(database: Database) -> None:
    with database.atomic():
        put(database, "before")
        with suppress(RuntimeError):
            put_and_fail(database, "inside")
        put(database, "after")
    assert words(database) == ["before", "after"]


def test_an_outer_failure_undoes_what_inner_ones_had_finished(database: Database) -> None:
    def outer() -> None:
        with database.atomic():
            with database.atomic():
                put(database, "inner")
            put_and_fail(database, "outer")

    with pytest.raises(RuntimeError):
        outer()
    assert words(database) == []


def test_failures_three_deep_undo_exactly_their_own_depth(database: Database) -> None:
    with database.atomic():
        put(database, "1")
        with database.atomic():
            put(database, "2")
            with suppress(RuntimeError):
                put_and_fail(database, "3")
            put(database, "4")
    assert words(database) == ["1", "2", "4"]


def put_part_and_fail(database: Database, text: str) -> None:
    """Store a word in a part of a transaction, which then fails."""
    with database.part():
        database.execute("INSERT INTO word VALUES (?)", (text,))
        raise RuntimeError("enough")


def test_a_part_is_a_transaction_of_its_own_where_there_is_none(database: Database) -> None:
    with pytest.raises(RuntimeError):
        put_part_and_fail(database, "lost")
    with database.part():
        put(database, "kept")
    assert words(database) == ["kept"]


def test_who_swallows_the_failure_of_a_part_can_not_commit(database: Database) -> None:
    def swallow() -> None:
        with database.atomic():
            put(database, "before")
            with suppress(RuntimeError):
                put_part_and_fail(database, "half")

    with pytest.raises(StoreError, match="nothing of it was stored"):
        swallow()
    assert words(database) == []
    put(database, "next")
    assert words(database) == ["next"]


def test_a_failed_part_is_undone_with_the_nested_transaction_around_it(database: Database) -> None:
    def nested() -> None:
        with database.atomic():
            put_part_and_fail(database, "half")

    with database.atomic():
        put(database, "before")
        with suppress(RuntimeError):
            nested()
    assert words(database) == ["before"]


def test_a_part_inside_a_snapshot_is_refused(database: Database) -> None:
    with pytest.raises(StoreError, match="inside of a snapshot"), database.snapshot():
        put_part_and_fail(database, "refused")


def test_a_cancelled_transaction_is_undone_like_a_failed_one(database: Database) -> None:
    def interrupted() -> None:
        with database.atomic():
            put(database, "lost")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    put(database, "kept")
    assert words(database) == ["kept"]


def test_a_snapshot_keeps_showing_one_moment(database: Database) -> None:
    put(database, "first")
    with database.snapshot():
        before = words(database)
        writer = threading.Thread(target=put, args=(database, "second"))
        writer.start()
        writer.join()
        assert words(database) == before == ["first"]
    assert words(database) == ["first", "second"]


def test_a_snapshot_inside_a_write_sees_what_it_has_written(database: Database) -> None:
    with database.atomic():
        put(database, "mine")
        with database.snapshot():
            assert words(database) == ["mine"]


def test_writing_inside_a_snapshot_is_refused_before_it_can_fail_by_chance(database: Database) -> None:
    with database.snapshot(), pytest.raises(StoreError, match="snapshot"):
        put(database, "no")
    assert words(database) == []


def test_a_statement_outside_of_a_transaction_is_refused(database: Database) -> None:
    with pytest.raises(StoreError, match="outside"):
        database.execute("DELETE FROM word")
    with pytest.raises(StoreError, match="outside"):
        database.executemany("INSERT INTO word VALUES (?)", [("a",)])
    with database.connection(), pytest.raises(StoreError, match="outside"):
        database.execute("DELETE FROM word")


def test_the_kind_of_transaction_is_known(database: Database) -> None:
    assert database.transaction() == NOTHING
    with database.snapshot():
        assert words(database) == []
        assert database.transaction() == READING
    with database.atomic():
        assert database.transaction() == WRITING
    assert database.transaction() == NOTHING


def test_a_wrong_statement_names_neither_itself_nor_values(database: Database) -> None:
    with pytest.raises(StoreError) as caught, database.atomic():
        database.execute("INSERT INTO nowhere VALUES (?)", ("a secret",))
    assert "secret" not in str(caught.value)
    assert "nowhere" not in str(caught.value)


def test_waiting_for_another_process_ends_with_busy_and_nothing_stored(database: Database) -> None:
    with Database(database.path, busy_timeout_ms=20) as other, other.atomic():
        put(other, "theirs")
        with pytest.raises(StoreBusyError):
            put(database, "mine")
    assert words(database) == ["theirs"]


def test_opening_and_reading_wait_for_no_writer(database: Database) -> None:
    put(database, "before")
    with database.atomic():
        put(database, "not yet")
        with Database(database.path, busy_timeout_ms=0) as other:
            assert words(other) == ["before"]


def test_waiting_for_another_thread_ends_with_busy_too(database: Database) -> None:
    began, done = threading.Event(), threading.Event()

    def hold() -> None:
        with database.atomic():
            began.set()
            done.wait()

    holder = threading.Thread(target=hold)
    holder.start()
    began.wait()
    try:
        with pytest.raises(StoreBusyError):
            put(database, "mine")
    finally:
        done.set()
        holder.join()
    put(database, "later")
    assert words(database) == ["later"]


def test_threads_that_write_at_once_lose_nothing(tmp_path: Path) -> None:
    with Database(tmp_path / "memory.db") as database:
        with database.atomic():
            database.execute("CREATE TABLE word (text TEXT)")
        start = threading.Barrier(6)

        def write(name: int) -> None:
            start.wait()
            for number in range(40):
                put(database, f"{name}-{number}")

        threads = [threading.Thread(target=write, args=(name,)) for name in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(words(database)) == sorted(f"{name}-{number}" for name in range(6) for number in range(40))


def test_a_full_database_says_so_and_keeps_what_it_had(database: Database) -> None:
    put(database, "kept")
    with database.connection() as connection:
        set_pragma(connection, "max_page_count", 4)
        with pytest.raises(StoreFullError):
            put(database, "x" * 100_000)
        set_pragma(connection, "max_page_count", 10_000)
    put(database, "y" * 100_000)
    assert [len(text) for text in words(database)] == [4, 100_000]


def test_nothing_is_kept_of_a_transaction_that_sqlite_has_ended_and_a_caller_went_on_with(database: Database) -> None:
    def stubborn() -> None:
        with database.atomic():
            put(database, "before")
            # What SQLite does by itself on some errors of the disk.
            database.execute("ROLLBACK")
            with suppress(StoreError):
                put(database, "alone")
            database.execute("INSERT INTO word VALUES ('alone too')")

    with pytest.raises(StoreError, match="rolled back"):
        stubborn()
    assert words(database) == []
    put(database, "next")
    assert words(database) == ["next"]


def test_a_closed_database_refuses_every_use_and_closing_twice_changes_nothing(database: Database) -> None:
    put(database, "kept")
    database.close()
    database.close()
    for use in (lambda: put(database, "no"), lambda: words(database), database.checkpoint):
        with pytest.raises(StoreError, match="closed"):
            use()
    with Database(database.path) as again:
        assert words(again) == ["kept"]


def test_closing_interrupts_a_statement_that_runs_in_another_thread(database: Database) -> None:
    reached = threading.Event()
    caught: list[BaseException] = []

    def read() -> None:
        try:
            with database.snapshot():
                reached.set()
                database.rows(ENDLESS)
        except StoreError as error:
            caught.append(error)

    reader = threading.Thread(target=read)
    reader.start()
    reached.wait()
    while reader.is_alive():
        database.close(wait_seconds=0)
        reader.join(timeout=0.02)
    assert [type(error) for error in caught] == [StoreError]
    assert "closed" in str(caught[0])


def test_a_write_that_ends_in_time_is_kept_when_the_store_closes(database: Database) -> None:
    inside, closing = threading.Event(), threading.Event()

    def write() -> None:
        with database.atomic():
            put(database, "in time")
            inside.set()
            closing.wait()

    writer = threading.Thread(target=write)
    writer.start()
    inside.wait()
    closing.set()
    database.close(wait_seconds=30)
    writer.join()
    with Database(database.path) as again:
        assert words(again) == ["in time"]


def test_a_write_that_does_not_end_in_time_is_undone_when_the_store_closes(database: Database) -> None:
    inside, closed = threading.Event(), threading.Event()
    caught: list[str] = []

    def write() -> None:
        try:
            with database.atomic():
                put(database, "too late")
                inside.set()
                closed.wait()
        except StoreError as error:
            caught.append(str(error))

    writer = threading.Thread(target=write)
    writer.start()
    inside.wait()
    database.close(wait_seconds=0)
    closed.set()
    writer.join()
    assert caught == ["the memory store is closed"]
    with Database(database.path) as again:
        assert words(again) == []


def test_closing_from_inside_of_a_write_undoes_it(database: Database) -> None:
    def close_inside() -> None:
        with database.atomic():
            put(database, "half")
            database.close(wait_seconds=0)

    with pytest.raises(StoreError, match="closed"):
        close_inside()
    with Database(database.path) as again:
        assert words(again) == []


def test_a_checkpoint_empties_the_log_unless_a_reader_needs_it(database: Database) -> None:
    log = database.path.with_name("memory.db-wal")
    put(database, "x" * 10_000)
    assert log.stat().st_size > 0
    with Database(database.path) as reader, reader.snapshot():
        assert len(words(reader)) == 1
        put(database, "later")
        assert not database.checkpoint()
    assert database.checkpoint()
    assert log.stat().st_size == 0


def test_unused_pages_go_back_to_the_disk(database: Database) -> None:
    put(database, "x" * 400_000)
    database.checkpoint()
    full = database.size()
    with database.atomic():
        database.execute("DELETE FROM word")
    while database.release(50):
        pass
    database.checkpoint()
    assert database.size() < full / 4
