"""What the demo makes of a repository's history, and the sample it falls back to."""

import subprocess
from collections import Counter
from pathlib import Path

import pytest

from ebbing.schemas.instants import parse
from ebbing.schemas.memory import Kind
from ebbing.server.demo.history import (
    COMMITS,
    Item,
    from_repository,
    from_sample,
    is_decision,
    question_about,
    repository_of,
)


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", folder, *arguments], check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository without commits."""
    folder = tmp_path / "project"
    folder.mkdir()
    git(folder, "init", "-q")
    return folder


def commit(folder: Path, message: str, on: str = "2026-03-02T09:00:00Z") -> None:
    git(folder, "commit", "-q", "--allow-empty", f"--date={on}", "-m", message)


@pytest.mark.parametrize(
    "message",
    [
        "Use SQLite instead of Postgres",
        "Switch the build to hatchling",
        "refactor(api)!: drop the XML export",
        "Default to no alarms",
        "Replace gettext with TOML files",
        "Let hooks append, never block",
        "Close files in a finally block rather than in a destructor",
        "Pin the time zone data",
    ],
)
def test_a_choice_or_a_rule_in_the_subject_is_a_decision(message: str) -> None:
    assert is_decision(message)


@pytest.mark.parametrize("message", ["Fix the off-by-one in the pager", "Add a search page", "Release 0.2.0", "Typo"])
def test_other_commits_are_episodes(message: str) -> None:
    assert not is_decision(message)


def test_commits_come_oldest_first_with_day_and_source(repository: Path) -> None:
    commit(repository, "Add the parser", "2026-01-05T10:00:00Z")
    commit(repository, "Use SQLite instead of Postgres\n\nOne file is\nenough.\n\nMore that is left out.")
    material = from_repository(repository)
    assert material is not None
    first, second = material.items
    assert (first.on, first.kind, first.text) == ("2026-01-05", "episode", "Add the parser")
    assert (second.kind, second.text) == ("decision", "Use SQLite instead of Postgres.\nOne file is enough.")
    assert (second.source or "").startswith("commit ")


def test_people_named_in_trailers_are_left_out(repository: Path) -> None:
    commit(
        repository, "Add the parser\n\nSigned-off-by: Some One <s@example.invalid>\nCo-authored-by: An Other <a@b.c>"
    )
    material = from_repository(repository)
    assert material is not None
    assert material.items[0].text == "Add the parser"


def test_a_long_history_is_cut_to_its_newest_part(repository: Path) -> None:
    for number in range(3):
        commit(repository, f"Change number {number}")
    material = from_repository(repository)
    assert material is not None
    assert len(material.items) == 3 <= COMMITS


def test_no_repository_and_no_commits_are_no_history(repository: Path, tmp_path: Path) -> None:
    assert from_repository(repository) is None
    assert from_repository(tmp_path) is None
    assert repository_of(tmp_path) is None
    assert repository_of(repository / ".git" / "hooks") in (None, repository.resolve())


def test_without_git_there_is_no_history(monkeypatch: pytest.MonkeyPatch, repository: Path) -> None:
    monkeypatch.setenv("PATH", "")
    assert repository_of(repository) is None


def test_questions_come_from_the_subjects() -> None:
    assert question_about(Item("2026-01-01", "decision", "Use SQLite instead of Postgres")) == "Why did we use SQLite?"
    episode = Item("2026-01-01", "episode", "feat: Add the harbour search, with one typing mistake allowed")
    assert question_about(episode) == "When did we add the harbour search?"
    assert question_about(Item("2026-01-01", "decision", "")) == "Why did we do this?"


def test_the_sample_is_dated_of_several_kinds_and_has_questions() -> None:
    sample = from_sample()
    kinds = Counter(item.kind for item in sample.items)
    assert len(sample.items) >= 50
    assert kinds["decision"] >= 10
    assert kinds["episode"] >= 20
    assert {Kind(kind) for kind in kinds}
    days = [parse(item.on) for item in sample.items]
    assert days == sorted(days)
    assert len({item.text for item in sample.items}) == len(sample.items)
    assert len(sample.questions) >= 3
