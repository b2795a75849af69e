"""`ebbing setup` as a person runs it."""

import json
from pathlib import Path

import pytest
from client_files import files_in
from command_line import ebbing


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder with one client in it, and a project to stand in."""
    folder = tmp_path / "home"
    (folder / ".cursor").mkdir(parents=True)
    (tmp_path / "project" / ".git").mkdir(parents=True)
    (tmp_path / "project" / "src").mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    monkeypatch.chdir(tmp_path / "project" / "src")
    return folder


def test_setting_up_and_removing_leaves_no_trace(home: Path, ebbing_home: Path) -> None:
    before = files_in(home)
    done = ebbing("setup", "cursor")
    assert done.code == 0
    assert f"{home / '.cursor' / 'mcp.json'}: created" in done.out
    assert "nothing to change" in ebbing("setup", "cursor").out
    assert "mcp.json: removed" in ebbing("setup", "--remove", "cursor").out
    assert (files_in(home), files_in(ebbing_home)) == (before, {})
    assert ebbing("setup", "--remove", "cursor").out == "ebbing is in none of these files.\n"


def test_a_dry_run_shows_the_lines_and_writes_nothing(home: Path, ebbing_home: Path) -> None:
    before = files_in(home)
    done = ebbing("setup", "claude-code", "--dry-run", "--json")
    assert (done.code, files_in(home), files_in(ebbing_home)) == (0, before, {})
    assert [Path(file["file"]).name for file in done.json["files"]] == [".claude.json", "settings.json"]
    assert '+    "ebbing": {' in done.json["files"][0]["diff"]
    assert "would be created" in ebbing("setup", "claude-code", "--dry-run").out
    ebbing("setup", "cursor")
    before = files_in(home)
    assert "would be removed" in ebbing("setup", "--remove", "--dry-run").out
    assert files_in(home) == before


def test_a_broken_file_ends_with_code_2_and_one_line_and_leaves_every_file_alone(home: Path) -> None:
    (home / ".claude").mkdir()
    (home / ".claude" / "settings.json").write_text('{"hooks": ', "utf-8")
    before = files_in(home)
    done = ebbing("setup", "claude-code")
    assert (done.code, done.out, files_in(home)) == (2, "", before)
    assert len(done.err.splitlines()) == 1
    assert "settings.json was left alone: line 1, column 11" in done.err
    assert '"SessionStart": [{"hooks": [{"type": "command"' in done.err


def test_a_broken_file_stops_removal_too(home: Path) -> None:
    ebbing("setup", "cursor")
    (home / ".cursor" / "mcp.json").write_text("{", "utf-8")
    before = files_in(home)
    done = ebbing("setup", "--remove", "cursor")
    assert (done.code, files_in(home)) == (2, before)
    assert "was left alone" in done.err


def test_a_broken_file_that_ebbing_is_not_in_stops_nothing(home: Path) -> None:
    (home / ".config" / "zed").mkdir(parents=True)
    (home / ".config" / "zed" / "settings.json").write_text("{", "utf-8")
    ebbing("setup", "cursor")
    done = ebbing("setup", "--remove")
    assert (done.code, done.out.count("removed")) == (0, 2)


def test_a_project_gets_its_files_at_its_root_and_no_paths_of_one_machine(home: Path, tmp_path: Path) -> None:
    done = ebbing("setup", "claude-code", "--scope", "project")
    assert (done.code, "Hooks were left out" in done.out) == (0, True)
    [entry] = json.loads((tmp_path / "project" / ".mcp.json").read_text("utf-8"))["mcpServers"].values()
    assert entry == {"type": "stdio", "command": "uvx", "args": ["ebbing"]}
    assert "in place" not in ebbing("setup", "--remove", "--scope", "user").out
    assert (tmp_path / "project" / ".mcp.json").exists()
    assert ebbing("setup", "--remove", "--scope", "project").code == 0
    assert not (tmp_path / "project" / ".mcp.json").exists()


def test_removing_from_everything_reaches_other_projects_by_their_receipts(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ebbing("setup", "claude-code", "--scope", "project")
    ebbing("setup", "zed")
    monkeypatch.chdir(home)
    assert len(ebbing("setup", "--remove", "--json").json["files"]) == 2
    assert not (tmp_path / "project" / ".mcp.json").exists()


def test_without_a_client_the_installed_ones_are_listed(home: Path) -> None:
    listed = ebbing("setup", "--json").json["clients"]
    assert [(row["client"], row["state"]) for row in listed] == [("cursor", "absent")]
    assert "run `ebbing setup cursor`" in ebbing("setup").out
    ebbing("setup", "cursor")
    assert [row["state"] for row in ebbing("setup", "--json").json["clients"]] == ["in place"]


def test_what_a_person_must_know_besides_is_said(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / ".claude").mkdir()
    (home / ".claude" / "settings.json").write_text('{"enabledPlugins": {"ebbing@here": true}}', "utf-8")
    notes = ebbing("setup", "claude-code", "--json").json["notes"]
    assert [note.partition(" is ")[0] for note in notes] == ["EBBING_HOME", "ebbing"]
    monkeypatch.delenv("EBBING_HOME")
    assert ebbing("setup", "codex", "--dry-run", "--json").json["notes"] == [
        "Codex asks once whether it may run the hooks."
    ]


def test_with_no_client_installed_it_says_so(home: Path) -> None:
    (home / ".cursor").rmdir()
    assert "No client" in ebbing("setup").out


@pytest.mark.parametrize(
    "arguments", [("nobody",), ("claude-desktop", "--scope", "project"), ("cursor", "--scope", "x")]
)
def test_what_cannot_be_meant_ends_with_code_2(arguments: tuple[str, ...], home: Path) -> None:
    done = ebbing("setup", *arguments)
    assert (done.code, done.out, len(done.err.splitlines())) == (2, "", 1)
