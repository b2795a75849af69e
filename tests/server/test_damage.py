"""Damage of every kind to a real store: what is seen of it, and what `ebbing doctor --fix` makes of it.

Either everything is as it was, or it can be repaired, or there is a refusal that names what to do: never an empty store
in the place of a full one, and never a lost memory that doctor finds healthy.
"""

import os
import random
import shutil
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path

import apsw
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from world import START, World

from ebbing.lifecycle.daily import RunContext
from ebbing.schemas.errors import StoreError
from ebbing.schemas.instants import MICROSECONDS_PER_DAY
from ebbing.schemas.memory import Kind
from ebbing.server.doctor import diagnose
from ebbing.server.repairing import repair
from ebbing.server.settings import Settings
from ebbing.store.connections import load_vec, run
from ebbing.store.restore import restore
from ebbing.tools.services import Services

Damage = Callable[[Path], object]
COUNT = 16
LATER = START + 100 * MICROSECONDS_PER_DAY


def said(number: int) -> str:
    return f"The port of server {number} is {8000 + number} and its name is host{number}.corp; 設定が壊れた {number}."


@pytest.fixture(scope="session")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed home: memories of every age, some in the attic, one backup from before the last of them."""
    home = tmp_path_factory.mktemp("sound") / "home"
    with World(home) as world:
        for number in range(COUNT - 1):
            world.save(said(number), "episode" if number % 3 else "fact", pinned=number == 1)
        world.work_days(40)
        for step in world.engine.steps().all():
            step.run(RunContext(world.now))
        world.services.store.backups.make("test", world.now)
        world.save(said(COUNT - 1))
        assert world.services.store.database.value("SELECT count(*) FROM attic")
    return home


@pytest.fixture(scope="session")
def remembered(sound: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Kind, str]]:
    """What it holds."""
    return everything(Path(shutil.copytree(sound, tmp_path_factory.mktemp("remembered") / "home")))


@pytest.fixture
def home(sound: Path, tmp_path: Path) -> Path:
    """A copy of it that may be damaged."""
    return Path(shutil.copytree(sound, tmp_path / "home"))


def sql(*statements: str) -> Damage:
    """Damage that SQLite itself does."""

    def go(home: Path) -> None:
        connection = apsw.Connection(str(home / "memory.db"))
        try:
            load_vec(connection)
            run(connection, "PRAGMA writable_schema = ON")
            for statement in statements:
                list(run(connection, statement))
        finally:
            connection.close()

    return go


def noise(table: str) -> Damage:
    """Every leaf page of a table or index overwritten."""

    def go(home: Path) -> None:
        path = home / "memory.db"
        connection = apsw.Connection(str(path))
        load_vec(connection)
        pages = [page for (page,) in run(connection, "SELECT pageno FROM dbstat WHERE name = ?", (table,))]
        connection.close()
        with path.open("r+b") as file:
            for page in pages:
                file.seek((page - 1) * 4096 + (100 if page == 1 else 0))
                file.write(b"\xa5" * (4096 - (100 if page == 1 else 0)))

    return go


def truncated(share: float) -> Damage:
    return lambda home: os.truncate(home / "memory.db", int((home / "memory.db").stat().st_size * share))


def written(offset: int, data: bytes) -> Damage:
    def go(home: Path) -> None:
        with (home / "memory.db").open("r+b") as file:
            file.seek(offset)
            file.write(data)

    return go


DERIVED: dict[str, tuple[str, Damage]] = {
    "leaves of the index of words": ("index of words", sql("DELETE FROM lexical_data WHERE id > 10")),
    "all of the index of words": ("index of words", sql("DELETE FROM lexical_data")),
    "documents of the index of words": ("index of words", sql("DELETE FROM lexical_docsize WHERE id % 2")),
    "settings of the index of words": ("index of words", sql("DELETE FROM lexical_config")),
    "a table of the index of words": ("index of words", sql("DROP TABLE lexical_idx")),
    "the index of words": ("index of words", sql("DROP TABLE lexical_term", "DROP TABLE lexical")),
    "leaves of the index of parts": ("database", sql("DELETE FROM substring_data WHERE id > 10")),
    "pages of the index of words": ("database", noise("lexical_data")),
    "chunks of the index of embeddings": ("index of embeddings", sql("DELETE FROM coarse_1_chunks")),
    "bits of the index of embeddings": ("index of embeddings", sql("DELETE FROM coarse_1_vector_chunks00")),
    "other bits in the index of embeddings": (
        "index of embeddings",
        sql("UPDATE coarse_1_vector_chunks00 SET vectors = zeroblob(length(vectors))"),
    ),
    "rows of the index of embeddings": (
        "index of embeddings",
        sql("DELETE FROM coarse_1_rowids WHERE (rowid >> 12) % 2"),
    ),
    "the index of embeddings": ("index of embeddings", sql("DROP TABLE coarse_1")),
    "pages of the index of embeddings": ("database", noise("coarse_1_vector_chunks00")),
    "embeddings cut short": ("index of embeddings", sql("UPDATE vector SET codes = substr(codes, 1, 7) WHERE seq = 3")),
    "the triggers": ("index of embeddings", sql("DELETE FROM sqlite_schema WHERE type = 'trigger'")),
    "the definition of a table": (
        "definitions",
        sql("UPDATE sqlite_schema SET sql = replace(sql, 'scales', 'scxles') WHERE name = 'token'"),
    ),
    "entries of the journal that can't be read": (
        "journal",
        sql("UPDATE journal SET event = 'sqved' WHERE id = 3", "UPDATE journal SET data = '{' WHERE id = 4"),
    ),
    "texts that are no text": ("texts", sql("UPDATE memory SET content = CAST(x'ff41' AS TEXT) WHERE seq = 2")),
    "gists that are no text": ("values", sql("UPDATE memory SET gist = CAST(x'ff41' AS TEXT) WHERE seq = 2")),
    "an embedding without a direction": (
        "index of embeddings",
        sql("UPDATE vector SET codes = zeroblob(length(codes)) WHERE bit_width = 32"),
    ),
    "an index": ("tables", sql("DROP INDEX memory_by_hash")),
    "pages of an index": ("database", noise("memory_by_hash")),
    "half of the figures": ("figures", sql("DELETE FROM strength WHERE seq % 2")),
    "figures that can't be": ("figures", sql("UPDATE strength SET state = 9, rate = -1 WHERE seq = 3")),
    "figures of no memory": ("rows", sql("INSERT INTO resemblance VALUES (999, 1, 1)")),
    "links at one end only": ("rows", sql("DELETE FROM link WHERE seq % 2")),
    "links to no memory": ("rows", sql("INSERT INTO link VALUES (1, 999, 'similar', 1)")),
    "entities that can't be read": ("values", sql("UPDATE memory SET entities = '[[', slots = '7' WHERE seq = 3")),
    "a kind that can't be": ("values", sql("UPDATE memory SET kind = 'fbct', trust = 7 WHERE seq = 3")),
    "the count of changes": ("tables", sql("DELETE FROM meta WHERE key = 'rev'")),
    "texts that a backup has": ("texts", sql("DELETE FROM attic WHERE seq % 2")),
    "a changed text that a backup has": ("texts", sql("UPDATE memory SET content = 'flipped' WHERE seq = 2")),
}

USED = ("pages of the index of words", "the index of embeddings", "half of the figures", "the triggers")

LOST: dict[str, Damage] = {
    "no bytes": truncated(0),
    "half a header": lambda home: os.truncate(home / "memory.db", 50),
    "a quarter": truncated(0.25),
    "half": truncated(0.5),
    "all but the last page": lambda home: os.truncate(home / "memory.db", (home / "memory.db").stat().st_size - 4096),
    "a zeroed header": written(0, b"\0" * 100),
    "a zeroed first page": written(0, b"\0" * 4096),
    "a zeroed size of pages": written(16, b"\0\0"),
    "another program's file": lambda home: (home / "memory.db").write_bytes(b"dear diary, " * 999),
    "pages of memories": noise("memory"),
    "pages of the journal": noise("journal"),
    "the table of memories": sql("PRAGMA foreign_keys = OFF", "DELETE FROM sqlite_schema WHERE name = 'memory'"),
    "rows of memories": sql("PRAGMA foreign_keys = OFF", "DELETE FROM memory WHERE seq IN (1, 5)"),
    "scopes": sql("PRAGMA foreign_keys = OFF", "DELETE FROM scope"),
    "the file": lambda home: (home / "memory.db").unlink(),
}


def problems(home: Path) -> dict[str, str]:
    """What doctor finds wrong with the store, by check, with what it says is to be done."""
    found = diagnose(Settings(home=home, scope="/projects/ebb", model_dir=home / "no-model"), LATER)
    return {one.check: one.remedy for one in found if one.level == "problem" and one.check not in ("model", "clients")}


def fix(home: Path) -> None:
    """What `ebbing doctor --fix` does."""

    @contextmanager
    def services() -> Generator[Services]:
        with World(home, now=LATER) as world:
            yield world.services

    found = diagnose(Settings(home=home, scope="/projects/ebb", model_dir=home / "no-model"), LATER)
    repair(home, {one.fix for one in found if one.fix is not None}, LATER, services)


def everything(home: Path) -> dict[str, tuple[Kind, str]]:
    """Every memory, read as a server would, and found by its words; StoreError says what is wrong."""
    with World(home, now=LATER) as world:
        memories = [memory for batch in world.services.store.memories.all() for memory in batch]
        world.found("the port of server 7")
        return {memory.content: (memory.kind, memory.id) for memory in memories}


def is_usable(home: Path) -> None:
    """Whether a store does what a store does: saves, finds, takes its daily run."""
    with World(home, now=LATER) as world:
        new = world.save("Lions sleep by the old lighthouse of Amrum.")
        assert world.found("where do lions sleep", include_faded=True)[0] == new.content
        assert world.services.store.vectors.index_rows() == world.services.store.vectors.expected_index_rows()
        for step in world.engine.steps().all():
            step.run(RunContext(world.now))
        assert world.services.store.integrity() == []


@pytest.mark.parametrize("kind", list(DERIVED))
def test_what_follows_from_something_else_is_found_and_repaired_and_nothing_is_lost(
    kind: str, home: Path, remembered: dict[str, tuple[Kind, str]]
) -> None:
    check, damage = DERIVED[kind]
    damage(home)
    assert check in problems(home)
    fix(home)
    assert problems(home) == {}
    assert everything(home) == remembered
    if kind in USED:
        is_usable(home)


@pytest.mark.parametrize("kind", list(LOST))
def test_what_can_not_be_had_from_anything_is_refused_with_the_way_back(
    kind: str, home: Path, remembered: dict[str, tuple[Kind, str]]
) -> None:
    LOST[kind](home)
    before = (home / "memory.db").read_bytes() if (home / "memory.db").exists() else b""
    [backup] = (home / "backups").glob("memory-*.db")
    assert any(f"`ebbing restore {backup}`" in remedy for remedy in problems(home).values())
    with suppress(StoreError):
        fix(home)
    remedies = problems(home).values()
    assert any(f"`ebbing restore {backup}`" in remedy for remedy in remedies)
    done = restore(backup, home / "memory.db", LATER)
    assert done.memories == len(remembered) - 1
    assert problems(home) == {}
    assert everything(home).keys() == remembered.keys() - {said(COUNT - 1)}
    if before:
        assert done.kept is not None
        assert done.kept.stat().st_size > 0


@pytest.mark.parametrize("kind", ["a quarter", "a zeroed header", "pages of memories", "no bytes", "the file"])
def test_opening_a_damaged_store_names_the_newest_sound_backup_and_the_command(kind: str, home: Path) -> None:
    [backup] = (home / "backups").glob("memory-*.db")
    shutil.copy(backup, newer := backup.with_name("memory-99990101T000000000000-torn.db"))
    os.truncate(newer, newer.stat().st_size // 2)
    LOST[kind](home)
    with pytest.raises(StoreError, match=r"damaged|missing or empty") as caught:
        everything(home)
    told = str(caught.value)
    # What is met in the middle is not the moment to read backups: doctor is.
    assert f"`ebbing restore {backup}`" in told or (kind == "pages of memories" and "`ebbing doctor --fix`" in told)


@given(seed=st.integers(0, 2**32), flips=st.sampled_from([1, 3, 30]))
@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_bits_flip_doctor_never_finds_a_store_healthy_that_has_lost_a_memory(
    seed: int, flips: int, sound: Path, remembered: dict[str, tuple[Kind, str]], tmp_path: Path
) -> None:
    rng = random.Random(seed)
    home = Path(shutil.copytree(sound, tmp_path / "home", dirs_exist_ok=True))
    path = home / "memory.db"
    data = bytearray(path.read_bytes())
    for _ in range(flips):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    path.write_bytes(data)
    try:
        found = problems(home)
        if found:
            with suppress(StoreError):
                fix(home)
            found = problems(home)
        if not found:
            assert everything(home) == remembered
        else:
            [backup] = (home / "backups").glob("memory-*-test.db")
            assert any("`ebbing restore " in remedy for remedy in found.values())
            assert restore(backup, path, LATER + 1).memories == len(remembered) - 1
            assert problems(home) == {}
    finally:
        shutil.rmtree(home)
