"""What doctor finds in stores that something happened to, and what it repairs."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import ebbing
from world import PROJECT, START, World

from ebbing.schemas.instants import MICROSECONDS_PER_DAY
from ebbing.server.clients.inspection import Standing, State
from ebbing.server.doctor import Finding, diagnose
from ebbing.server.settings import Settings


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """A store with three memories in it."""
    with World(tmp_path / "home") as made:
        for text in ("The port is 8080.", "Use tabs in the Makefile.", "The queue is called mail."):
            made.save(text)
        yield made


@pytest.fixture(autouse=True)
def a_project_without_clients(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def look(home: Path, now: int = START, **settings: float) -> dict[str, Finding]:
    found = diagnose(Settings(home=home, scope=PROJECT, **settings), now)  # pyright: ignore[reportArgumentType]
    return {finding.check: finding for finding in found}


def problems(home: Path, now: int = START) -> set[str]:
    return {check for check, finding in look(home, now).items() if finding.level == "problem"}


def digests(home: Path) -> dict[Path, str]:
    """Every file but the log that SQLite makes for a reader."""
    files = [path for path in home.rglob("*") if path.is_file() and not path.name.endswith(("-shm", "-wal"))]
    return {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_a_sound_store_has_no_problem(world: World) -> None:
    assert problems(world.home) == set()
    assert "3 memories" in look(world.home)["database"].text


def test_an_unused_home_is_no_problem_and_is_not_made(tmp_path: Path) -> None:
    assert problems(tmp_path / "none") == set()
    assert not (tmp_path / "none").exists()


def test_looking_changes_nothing(world: World) -> None:
    with world.services.store.atomic():
        world.services.store.vectors.index.drop()
        world.services.store.lexical.remove([1])
    world.engine.close()
    before = digests(world.home)
    assert problems(world.home) == {"index of words", "index of embeddings"}
    assert digests(world.home) == before


def test_every_problem_says_what_to_do(world: World) -> None:
    with world.services.store.atomic():
        world.services.store.vectors.index.drop()
        world.services.store.lexical.remove([1, 2])
    (world.home / "memory.db").chmod(0o644)
    found = look(world.home, START - 40 * MICROSECONDS_PER_DAY).values()
    bad = [finding for finding in found if finding.level == "problem"]
    assert {finding.check for finding in bad} == {
        "index of words",
        "index of embeddings",
        "permissions",
        "scopes' clocks",
    }
    assert [finding for finding in bad if not finding.remedy] == []


def test_words_that_belong_to_no_memory_are_found(world: World) -> None:
    with world.services.store.atomic():
        world.services.store.lexical.add(99, "stale words", "")
    assert "1 entries are stale" in look(world.home)["index of words"].text


@pytest.mark.parametrize(
    "content", [b"no database at all, but long enough " * 400, b"SQLite format 3\0" + b"\xff" * 9000]
)
def test_a_damaged_file_names_the_newest_backup(world: World, content: bytes) -> None:
    backup = world.services.store.backups.make("test", world.now)
    world.engine.close()
    (world.home / "memory.db").write_bytes(content)
    finding = look(world.home)["database"]
    assert finding.level == "problem"
    assert f"`ebbing restore {backup}`" in finding.remedy
    assert "memory.db-wal" in finding.remedy
    assert "memory.db-shm" in finding.remedy


def test_a_lost_file_is_a_problem_that_names_the_way_back(world: World) -> None:
    backup = world.services.store.backups.make("test", world.now)
    world.engine.close()
    (world.home / "memory.db").unlink()
    finding = look(world.home)["database"]
    assert (finding.level, "although there was one" in finding.text) == ("problem", True)
    assert f"`ebbing restore {backup}`" in finding.remedy


@pytest.mark.parametrize(
    ("state", "level"),
    [("in place", "ok"), ("incomplete", "note"), ("absent", "note"), ("broken", "problem"), ("unreadable", "problem")],
)
def test_clients_are_looked_at_and_the_remedy_is_theirs(tmp_path: Path, state: State, level: str) -> None:
    standing = Standing("cursor", "Cursor", "user", state, "so it is", "run `ebbing setup cursor`")
    found = diagnose(Settings(home=tmp_path / "home", scope=PROJECT), START, [standing])
    [finding] = [finding for finding in found if finding.check == "clients"]
    assert (finding.level, finding.text, finding.remedy) == (level, "Cursor (user): so it is", standing.remedy)


def test_a_projects_shared_file_is_noted_and_no_problem(tmp_path: Path) -> None:
    standing = Standing("claude-code", "Claude Code", "project", "broken", "so it is", "run `ebbing setup claude-code`")
    found = diagnose(Settings(home=tmp_path / "home", scope=PROJECT), START, [standing])
    assert [finding.level for finding in found if finding.check == "clients"] == ["note"]


def test_a_hook_whose_program_is_gone_is_a_finding_and_exit_code_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    entry = {"mcpServers": {"ebbing": {"command": "/no/such/ebbing"}}}
    (tmp_path / ".cursor").mkdir()
    (tmp_path / ".cursor" / "mcp.json").write_text(json.dumps(entry))
    done = ebbing("doctor", "--json")
    [finding] = [finding for finding in done.json["findings"] if finding["check"] == "clients"]
    assert (done.code, finding["level"], "/no/such/ebbing" in finding["text"]) == (1, "problem", True)
    assert "ebbing setup cursor" in finding["remedy"]


def test_a_damaged_page_is_found(world: World) -> None:
    world.services.store.database.checkpoint()
    world.engine.close()
    data = bytearray((world.home / "memory.db").read_bytes())
    data[8192:12288] = b"\xa5" * 4096
    (world.home / "memory.db").write_bytes(data)
    assert "database" in problems(world.home)


def test_an_empty_file_is_a_store_that_has_not_begun(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    (home / "memory.db").touch(mode=0o600)
    assert look(home)["database"].level == "note"


def test_a_home_that_is_a_file_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("x")
    assert look(tmp_path / "home")["home"].level == "problem"


def test_a_missing_model_is_a_problem_that_says_what_still_works(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path / "home", scope=PROJECT, model_dir=tmp_path / "none")
    [model] = [finding for finding in diagnose(settings, START) if finding.check == "model"]
    assert model.level == "problem"
    assert "words" in model.remedy


def test_a_held_lease_is_named_with_its_holder(world: World) -> None:
    world.services.store.leases.acquire("daily", "4242-x", START, MICROSECONDS_PER_DAY)
    assert "process 4242" in look(world.home)["lease"].text
    assert look(world.home, START + 2 * MICROSECONDS_PER_DAY)["lease"].level == "ok"


def test_lines_set_aside_from_the_spool_are_mentioned(world: World) -> None:
    spool = world.home / "spool"
    spool.mkdir(mode=0o700)
    (spool / "bad.jsonl").write_bytes(b"half a li\n")
    (spool / "bad.jsonl").chmod(0o600)
    assert "10 bytes" in look(world.home)["spool"].text
    assert problems(world.home) == set()


def test_a_clock_that_stands_before_this_program_existed_is_a_problem(tmp_path: Path) -> None:
    assert look(tmp_path / "home", now=0)["clock"].level == "problem"


def test_a_moved_clock_is_mentioned(tmp_path: Path) -> None:
    assert "60 days" in look(tmp_path / "home", clock_offset_days=60.0)["clock"].text


# --- the command, with the real model, whose index it repairs --------------------------------------------------------


def test_fix_rebuilds_indexes_and_takes_permissions_from_others(ebbing_home: Path) -> None:
    assert ebbing("save", "The port is 8080.").code == 0
    assert ebbing("doctor").code == 0
    with World(ebbing_home) as world:
        # Another model's world, so only what all models share is touched here.
        world.services.store.lexical.remove([1])
    ebbing_home.chmod(0o755)
    assert ebbing("recall", "--ids", "0198c2f0-0000-7000-8000-000000000000").code == 2
    broken = ebbing("doctor", "--json")
    assert (broken.code, broken.json["ok"]) == (1, False)
    fixed = ebbing("doctor", "--fix", "--json")
    assert (fixed.code, fixed.json["ok"], fixed.json["fixed"]) == (0, True, ["permissions", "words"])
    assert "8080" in ebbing("recall", "which port").out
    assert ebbing("doctor").out.splitlines()[-1] == "Everything is in order."


def test_a_problem_is_shown_with_what_to_do(ebbing_home: Path) -> None:
    assert ebbing("save", "The port is 8080.").code == 0
    ebbing_home.chmod(0o755)
    done = ebbing("doctor")
    assert done.code == 1
    assert "PROBLEM permissions" in done.out
    assert "→ run `ebbing doctor --fix`" in done.out
