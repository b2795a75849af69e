"""The demo as people run it: real server processes, the real client, the real hook."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from command_line import Ran, ebbing

SECONDS = 120


def demo(*arguments: str) -> Ran:
    """The demo as a program, since it hands its own stderr on to the servers it starts."""
    command = [sys.executable, "-m", "ebbing", "demo", *arguments]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False, timeout=SECONDS)
    return Ran(done.returncode, done.stdout, done.stderr)


@pytest.fixture(scope="module")
def told() -> Ran:
    """One demo over the sample, told as JSON."""
    return demo("--sample", "--json")


def test_it_ends_well_and_says_what_it_saved(told: Ran) -> None:
    assert (told.code, told.err) == (0, "")
    assert told.json["tools"] == ["recall", "save", "observe", "learn", "consolidate", "forget"]
    assert told.json["saved"]["decision"] >= 10
    assert sum(told.json["operations"].values()) == sum(told.json["saved"].values())


def test_its_questions_are_answered_by_what_was_saved(told: Ran) -> None:
    answers: dict[str, list[str]] = {one["question"]: one["answers"] for one in told.json["questions"]}
    assert "SQLite" in answers["why do we not use Postgres?"][0]
    assert "harbours.toml" in answers["how do I add a new harbour?"][0]
    assert "test suite" in answers["should I run all tests before a push?"][0]
    assert answers["which wine goes well with grilled trout?"] == []


def test_what_is_used_stays_sharp_and_what_is_not_fades(told: Ran) -> None:
    states: dict[str, int] = told.json["by_state"]
    assert states["active"] > 0
    assert states["warm"] + states["cold"] > 0
    assert states["archive"] > 0
    assert states["archive"] + states["forgotten"] > states["active"]


def test_a_faded_memory_comes_back_whole_with_one_use(told: Ran) -> None:
    back: dict[str, Any] = told.json["brought_back"]
    assert back["before"]["state"] in ("cold", "archive", "forgotten")
    assert len(back["before"]["text"]) < len(back["after"]["text"])
    assert back["after"]["state"] == "active"


def test_the_hook_injects_what_the_user_likes(told: Ran) -> None:
    assert "Run the whole test suite before pushing" in told.json["soft_prompt"]
    assert "Never log personal data" in told.json["soft_prompt"]


def test_it_reads_a_repository_and_leaves_nothing_behind(tmp_path: Path) -> None:
    project, temporary = tmp_path / "project", tmp_path / "temporary"
    project.mkdir()
    temporary.mkdir()
    git = ["git", "-C", project]
    subprocess.run([*git, "init", "-q"], check=True)
    for message in ("Add a parser for logs", "Use argparse instead of click", "Fix the reader of empty files"):
        subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", message], check=True)
    done = demo("--repo", str(project), "--days", "9", "--home", str(temporary / "store"))
    assert done.code == 0
    assert "the history of" in done.out
    assert "Use argparse instead of click" in done.out
    assert "SessionStart" in done.out
    assert list(temporary.iterdir()) == []


def test_it_never_touches_a_store_that_exists(ebbing_home: Path) -> None:
    ebbing("save", "The port is 8080.")
    before = (ebbing_home / "memory.db").read_bytes()
    assert ebbing("demo", "--sample", "--home", str(ebbing_home)).code == 2
    assert (ebbing_home / "memory.db").read_bytes() == before
