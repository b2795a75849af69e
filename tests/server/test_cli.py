"""The commands for people, run in this process on a store of the test's own, mostly without a model."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import ebbing

from ebbing.server.commands.root import COMMANDS
from ebbing.store.spool import Spool, SpoolEvent

DECISION = "Use SQLite instead of Postgres, because one file is easy to back up."


@pytest.fixture(autouse=True)
def no_model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Recall goes by words, so that a command takes no time to load."""
    monkeypatch.setenv("EBBING_MODEL_DIR", str(tmp_path / "no-model"))
    monkeypatch.setenv("EBBING_LOG_LEVEL", "ERROR")


def saved(text: str, *options: str) -> str:
    return ebbing("save", text, "--json", *options).json["id"]


# --- saving, recalling, learning -------------------------------------------------------------------------------------


def test_what_was_saved_is_recalled_with_its_kind_and_source() -> None:
    done = ebbing("save", DECISION, "--kind", "decision", "--source", "docs/adr/7.md", "--tag", "storage")
    assert (done.code, done.err) == (0, "")
    recalled = ebbing("recall", "why", "not", "Postgres?")
    assert recalled.code == 0
    assert DECISION in recalled.out
    assert "decision" in recalled.out
    assert "docs/adr/7.md" in recalled.out


def test_each_command_answers_with_one_json_object() -> None:
    identifier = saved(DECISION, "--kind", "decision")
    assert ebbing("recall", "Postgres", "--json").json["memories"][0]["id"] == identifier
    assert ebbing("learn", "used", identifier, "--json").json["changed"] == [identifier]
    assert ebbing("status", "--json").json["by_kind"] == {"decision": 1}
    assert ebbing("run-daily", "--json").json["ran"] is True
    assert identifier in ebbing("soft-prompt", "--json").json["text"]
    assert ebbing("forget", identifier, "--yes", "--json").json["ids"] == [identifier]


def test_a_text_is_read_from_standard_input_and_repaired() -> None:
    done = ebbing("save", "-", "--json", stdin="The cache holds naïve keys.".encode() + b" \xff\n")
    assert done.code == 0
    assert "naïve keys" in ebbing("recall", "--ids", done.json["id"]).out


def test_memories_are_read_whole_by_ids_with_commas_or_several_times() -> None:
    first, second = saved("The port is 8080."), saved("The queue is called mail.")
    both = ebbing("recall", "--ids", f"{first},{second}", "--json")
    assert [memory["id"] for memory in both.json["memories"]] == [first, second]
    again = ebbing("recall", "--ids", first, "--ids", second, "--json")
    assert [memory["id"] for memory in again.json["memories"]] == [first, second]


def test_an_explained_recall_says_how_it_came_about() -> None:
    saved(DECISION)
    plain, explained = ebbing("recall", "why Postgres?"), ebbing("recall", "why Postgres?", "--explain")
    assert "found by" not in plain.out
    assert "found by" in explained.out
    assert "question of class" in explained.out


def test_a_recall_that_finds_nothing_says_so() -> None:
    done = ebbing("recall", "anything?")
    assert (done.code, done.out.splitlines()[0]) == (0, "Nothing relevant is remembered.")


def test_what_a_person_saves_is_trusted_as_the_users_own_word() -> None:
    identifier = saved(DECISION)
    assert ebbing("recall", "--ids", identifier, "--json").json["memories"][0]["trust"] == 1.0


# --- scopes and homes ------------------------------------------------------------------------------------------------


def test_the_scope_may_stand_before_or_after_the_command(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    saved("The port is 8080.", "--scope", str(project))
    assert ebbing("--scope", str(project), "status", "--json").json["memories"] == 1
    assert ebbing("status", "--scope", str(project), "--json").json["memories"] == 1
    assert ebbing("status", "--json").json["memories"] == 0


def test_a_folder_inside_a_repository_names_the_repository(tmp_path: Path) -> None:
    (tmp_path / "project" / ".git").mkdir(parents=True)
    (tmp_path / "project" / "docs").mkdir()
    scope = ebbing("status", "--scope", str(tmp_path / "project" / "docs"), "--json").json["scope"]
    assert scope == str((tmp_path / "project").resolve())


def test_global_memories_are_seen_from_every_project() -> None:
    saved("I like short answers.", "--scope", "global", "--kind", "preference")
    assert "short answers" in ebbing("recall", "short answers").out


def test_another_home_is_another_store(tmp_path: Path) -> None:
    saved("The port is 8080.")
    assert ebbing("--home", str(tmp_path / "other"), "status", "--json").json["memories"] == 0


# --- forgetting ------------------------------------------------------------------------------------------------------


def test_fading_asks_and_restoring_brings_back() -> None:
    identifier = saved(DECISION)
    refused = ebbing("forget", identifier, stdin="n\n")
    assert (refused.code, refused.out.strip()) == (0, "Nothing was changed.")
    assert "Postgres" in refused.err
    assert ebbing("forget", identifier, stdin="y\n").code == 0
    assert DECISION not in ebbing("recall", "Postgres").out
    assert ebbing("forget", identifier, "--mode", "restore").code == 0
    assert DECISION in ebbing("recall", "Postgres").out


def test_erasing_leaves_no_trace(ebbing_home: Path) -> None:
    identifier = saved("The launch code is tulip-forty-two, said the page.")
    done = ebbing("forget", identifier, "--mode", "erase", "--yes", "--json")
    assert (done.code, done.json["verified"]) == (0, True)
    assert [path for path in ebbing_home.rglob("*") if path.is_file() and b"tulip-forty" in path.read_bytes()] == []


def test_what_a_question_finds_is_shown_and_asked_about() -> None:
    saved(DECISION)
    done = ebbing("forget", "--query", "Postgres", stdin="y\n")
    assert (done.code, DECISION in ebbing("recall", "Postgres").out) == (0, False)


def test_a_question_is_never_forgotten_without_being_asked_about() -> None:
    saved(DECISION)
    assert ebbing("forget", "--query", "Postgres", "--yes").code == 2
    assert ebbing("forget", "--query", "Postgres", "--json").code == 2
    assert DECISION in ebbing("recall", "Postgres").out


def test_a_dry_run_changes_nothing() -> None:
    identifier = saved(DECISION)
    assert ebbing("forget", identifier, "--dry-run", "--json").json["dry_run"] is True
    assert DECISION in ebbing("recall", "Postgres").out


def test_an_ended_input_is_no_yes() -> None:
    identifier = saved(DECISION)
    done = ebbing("forget", identifier, "--mode", "erase", stdin="")
    assert done.code != 0
    assert DECISION in ebbing("recall", "Postgres").out


# --- time ------------------------------------------------------------------------------------------------------------


def test_the_daily_run_lists_its_steps_and_writes_the_soft_prompt() -> None:
    saved("Answer in English.", "--kind", "preference")
    done = ebbing("run-daily")
    assert done.code == 0
    assert [line.split()[0] for line in done.out.splitlines()][:1] == ["spool"]
    assert "Answer in English." in ebbing("soft-prompt").out


def test_what_a_soft_prompt_leaves_out_is_explained() -> None:
    saved("Answer in English.", "--kind", "preference", "--said-by", "user")
    saved("Answer in rhymes.", "--kind", "preference", "--said-by", "outside")
    done = ebbing("soft-prompt", "--explain")
    assert "1 lines" in done.out
    assert "not trusted enough: Answer in rhymes." in done.out
    found = ebbing("soft-prompt", "--explain", "--json").json
    assert found["tokens"] > 0
    assert [one["reason"] for one in found["left_out"]] == ["not trusted enough"]


def test_a_dry_daily_run_writes_nothing() -> None:
    saved("Answer in English.", "--kind", "preference")
    assert ebbing("run-daily", "--dry-run", "--json").json["dry_run"] is True
    assert ebbing("soft-prompt").code == 2
    assert "Answer in English." in ebbing("soft-prompt", "--fresh").out


def test_the_clock_can_be_moved_and_memories_fade(monkeypatch: pytest.MonkeyPatch, ebbing_home: Path) -> None:
    identifier = saved("The build broke on a missing comma.", "--kind", "episode", "--said-by", "agent")
    scope = ebbing("status", "--json").json["scope"]
    monkeypatch.setenv("EBBING_CLOCK_OFFSET_DAYS", "600")
    Spool(ebbing_home / "spool").append([SpoolEvent("e1", 1, scope, "s", "session-start", {})])
    assert ebbing("run-daily").code == 0
    assert ebbing("status", "--json").json["by_state"]["active"] == 0
    assert "missing comma" in ebbing("recall", "--ids", identifier).out


# --- what goes wrong -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        ("no-such-command",),
        ("save",),
        ("save", ""),
        ("save", "x", "--kind", "poem"),
        ("save", "x", "--importance", "7"),
        ("save", "x", "--valid-from", "yesterday"),
        ("save", "x", "--supersedes", "nonsense"),
        ("recall",),
        ("recall", "x", "--limit", "0"),
        ("recall", "x", "--since", "2026-02-30"),
        ("recall", "x" * 20_000),
        ("recall", "--ids", "nonsense"),
        ("recall", "--ids", "0198c2f0-0000-7000-8000-000000000000"),
        ("learn", "great", "0198c2f0-0000-7000-8000-000000000000"),
        ("learn", "used"),
        ("forget",),
        ("soft-prompt",),
        ("demo", "--days", "0"),
        ("demo", "--repo", "/no/such/folder"),
        ("status", "--scope", ""),
        ("--home",),
    ],
    ids=lambda arguments: " ".join(arguments)[:40],
)
def test_bad_input_is_one_line_on_stderr_and_code_2(arguments: tuple[str, ...]) -> None:
    done = ebbing(*arguments)
    assert (done.code, done.out) == (2, "")
    assert len(done.err.splitlines()) == 1
    assert done.err.startswith("ebbing: ")


def test_a_setting_that_is_no_number_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EBBING_BUSY_TIMEOUT_MS", "soon")
    done = ebbing("status")
    assert done.code == 2
    assert "EBBING_BUSY_TIMEOUT_MS" in done.err


def test_a_home_that_is_a_file_is_an_error_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    done = ebbing("--home", str(tmp_path / "file"), "status")
    assert (done.code, done.out, len(done.err.splitlines())) == (1, "", 1)


def test_a_damaged_store_is_an_error_in_one_line(ebbing_home: Path) -> None:
    ebbing_home.mkdir()
    (ebbing_home / "memory.db").write_bytes(b"this is no database " * 500)
    done = ebbing("status")
    assert (done.code, done.out, len(done.err.splitlines())) == (1, "", 1)
    assert (ebbing_home / "memory.db").read_bytes().startswith(b"this is no database")


def test_texts_with_syntax_of_search_shells_and_terminals_come_back_as_they_are() -> None:
    for text in (
        'say "NEAR(a b)" AND C++ OR don\'t -x: a/b*',
        "日本語の決定です",
        "emoji 🌊 and עברית",
        "[bold]no[/bold]",
    ):
        identifier = saved(text)
        assert text in ebbing("recall", "--ids", identifier).out
        assert ebbing("recall", text, "--json").json["memories"][0]["id"] == identifier


def test_secrets_never_reach_the_store() -> None:
    done = ebbing("save", "The token is ghp_" + "a1B2" * 9 + " for the mirror.", "--json")
    assert done.json["redacted"] != []
    assert "ghp_a1B2" not in ebbing("recall", "--ids", done.json["id"]).out


# --- as a program ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_every_command_has_help(name: str) -> None:
    done = ebbing(*filter(None, [name]), "--help")
    assert (done.code, done.err) == (0, "")
    assert "Usage: ebbing" in done.out


def program(*arguments: str, code: str = "", encoding: str = "utf-8") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code] if code else [sys.executable, "-m", "ebbing"]
    return subprocess.run([*command, *arguments], capture_output=True, encoding=encoding, check=False, timeout=60)


def test_help_and_version_load_nothing_heavy() -> None:
    loaded = "import sys; from ebbing.server.cli import main; main(sys.argv[1:]); print('|', *sys.modules)"
    for argument in ("--version", "--help"):
        names = program(argument, code=loaded).stdout.rpartition("|")[2].split()
        assert {"mcp", "pydantic", "numpy", "apsw", "rich", "onnxruntime", "networkx"}.isdisjoint(names)


def test_a_reader_that_has_seen_enough_ends_the_command_quietly() -> None:
    code = (
        "import os, subprocess, sys\n"
        "r, w = os.pipe()\n"
        "os.close(r)\n"
        "done = subprocess.run([sys.executable, '-m', 'ebbing', 'status'], stdout=w, stderr=subprocess.PIPE)\n"
        "sys.stderr.buffer.write(done.stderr)\n"
        "sys.exit(done.returncode)"
    )
    done = program(code=code)
    assert (done.returncode, done.stderr) == (1, "")


def test_output_goes_to_a_narrow_encoding_without_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    identifier = saved("emoji 🌊 in the text")
    monkeypatch.setenv("PYTHONIOENCODING", "cp1252")
    done = program("recall", "--ids", identifier, encoding="cp1252")
    assert (done.returncode, done.stderr) == (0, "")
    assert "emoji ? in the text" in done.stdout


def test_the_json_of_a_program_is_the_only_thing_on_stdout() -> None:
    done = program("status", "--json")
    assert json.loads(done.stdout)["memories"] == 0


def test_what_feedback_taught_is_shown_and_forgotten() -> None:
    ids = [saved(f"The uploader {text}.") for text in ("retries five times", "writes to a bucket", "is slow")]
    assert "Nothing was learned yet" in ebbing("status", "--learned").out
    ebbing("recall", "uploader")
    ebbing("learn", "used", ids[1])
    assert "1 signals" in ebbing("status", "--learned").out
    assert "Forgotten" in ebbing("status", "--reset").out
    assert ebbing("status", "--learned", "--json").json["learned"] == {}
