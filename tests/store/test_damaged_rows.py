"""Rows that a bad disk has changed: derived ones are made anew, what was said is never guessed at."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from world import World

from ebbing.schemas.errors import StoreCorruptError

QUESTION = "what colour is the lamp"


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with World(tmp_path / "home") as made:
        made.save("The lamp is green.")
        made.save("The lamp of the other lighthouse is red.")
        yield made


def strike(world: World, table: str, column: str, value: object) -> None:
    """Damage the first row of a table."""
    database = world.services.store.database
    with database.atomic():
        first = database.value(f"SELECT min(rowid) FROM {table}")  # noqa: S608
        database.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (value, first))  # noqa: S608
        world.services.store.meta.next_revision()


def anew(world: World) -> World:
    """The same store, opened by another process."""
    return World(world.home, now=world.now)


@pytest.mark.parametrize(
    ("column", "value"), [("codes", b""), ("codes", b"cut off"), ("scales", b"\0\0\xc0\x7f"), ("scales", b"x")]
)
def test_a_damaged_embedding_takes_no_recall_down(world: World, column: str, value: bytes) -> None:
    strike(world, "vector", column, value)
    strike(world, "token", "codes" if column == "codes" else "scales", value)
    with anew(world) as other:
        assert "The lamp is green." in other.found(QUESTION)


def test_an_embedding_that_was_cut_is_computed_anew_by_the_daily_run(world: World) -> None:
    strike(world, "vector", "codes", b"cut off")
    with anew(world) as other:
        store = other.services.store
        assert len(store.vectors.missing(10)) == 1
        other.run_daily()
        assert store.vectors.missing(10) == []
        assert {len(row.codes) for row in store.vectors.rows([1, 2])} == {1}


@pytest.mark.parametrize(("column", "value"), [("entities", '[["a"'), ("slots", "[7]"), ("tags", "7")])
def test_a_damaged_memory_is_named_as_damage_of_the_store(world: World, column: str, value: str) -> None:
    strike(world, "memory", column, value)
    with anew(world) as other, pytest.raises(StoreCorruptError, match="doctor"):
        other.found(QUESTION)


def test_a_damaged_journal_is_named_as_damage_of_the_store(world: World) -> None:
    strike(world, "journal", "data", '{"cut')
    with pytest.raises(StoreCorruptError, match="doctor"):
        world.services.store.journal.after(0)
