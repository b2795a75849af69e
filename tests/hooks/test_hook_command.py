"""The command as clients run it: real processes, JSON in the shapes that Claude Code documents."""

import fcntl
import json
import os
import resource
import subprocess
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hook_process import COMMAND, COMMON, TIMEOUT, Fields

from ebbing.hooks import places
from ebbing.hooks.events import FIELD_LIMIT

SHAPES: dict[str, tuple[str, Fields, Fields]] = {
    "session-start": (
        "SessionStart",
        {"source": "startup", "model": "m"},
        {"source": "startup"},
    ),
    "user-prompt-submit": (
        "UserPromptSubmit",
        {"prompt": "Let's use ruff — not black 🙂", "source": "user"},
        {"prompt": "Let's use ruff — not black 🙂", "source": "user"},
    ),
    "post-tool-use": (
        "PostToolUse",
        {
            "tool_name": "Bash",
            "tool_input": {"command": "pytest -q"},
            "tool_response": {"stdout": "3 passed", "interrupted": False},
            "tool_use_id": "toolu_1",
            "duration_ms": 12,
        },
        {
            "tool_name": "Bash",
            "tool_input": {"command": "pytest -q"},
            "tool_response": {"stdout": "3 passed", "interrupted": False},
        },
    ),
    "post-tool-use-failure": (
        "PostToolUseFailure",
        {"tool_name": "Bash", "tool_input": {"command": "make"}, "error": "exit 2", "is_interrupt": False},
        {"tool_name": "Bash", "tool_input": {"command": "make"}, "error": "exit 2"},
    ),
    "stop": (
        "Stop",
        {"stop_hook_active": False, "last_assistant_message": "Done.", "background_tasks": [], "session_crons": []},
        {"last_assistant_message": "Done."},
    ),
    "subagent-stop": (
        "SubagentStop",
        {"stop_hook_active": False, "last_assistant_message": "Found it.", "agent_id": "a1", "agent_type": "Explore"},
        {"last_assistant_message": "Found it.", "agent_id": "a1"},
    ),
    "pre-compact": (
        "PreCompact",
        {"trigger": "auto", "custom_instructions": ""},
        {"trigger": "auto", "custom_instructions": ""},
    ),
    "session-end": ("SessionEnd", {"reason": "logout"}, {"reason": "logout"}),
}


def hook(
    event: str,
    stdin: bytes = b"",
    *,
    env: Mapping[str, str] | None = None,
    before: Callable[[], object] | None = None,
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [COMMAND, *([event] if event else [])],
        input=stdin,
        env={**os.environ, **(env or {})},
        capture_output=True,
        timeout=TIMEOUT,
        check=False,
        preexec_fn=before,
    )


def spooled(home: Path) -> list[dict[str, Any]]:
    files = sorted(home.glob("spool/events*.jsonl"))
    return [json.loads(line) for file in files for line in file.read_text("ascii").splitlines()]


def assert_silent(done: subprocess.CompletedProcess[bytes]) -> None:
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def prepare(home: Path, scope: str, text: str) -> None:
    places.write_private(places.soft_prompt_path(home, scope), text.encode())


@pytest.mark.parametrize("event", SHAPES)
def test_each_event_becomes_one_line(event: str, ebbing_home: Path, tmp_path: Path) -> None:
    client_name, fields, kept = SHAPES[event]
    given = {**COMMON, "cwd": str(tmp_path), "hook_event_name": client_name, **fields}
    assert_silent(hook(event, json.dumps(given).encode()))
    (line,) = spooled(ebbing_home)
    assert line["payload"] == kept
    assert (line["event"], line["scope"], line["session"]) == (event, str(tmp_path), COMMON["session_id"])


def test_the_event_may_go_by_the_clients_name_or_be_in_the_json_only(ebbing_home: Path) -> None:
    hook("PreCompact", b"{}")
    hook("", b'{"hook_event_name": "SessionEnd"}')
    assert [line["event"] for line in spooled(ebbing_home)] == ["pre-compact", "session-end"]


def test_everything_it_writes_is_private(ebbing_home: Path) -> None:
    hook("stop", b"{}", before=partial(os.umask, 0))
    modes = {path.relative_to(ebbing_home).as_posix(): path.stat().st_mode & 0o777 for path in ebbing_home.rglob("*")}
    assert modes == {"spool": 0o700, "spool/events.jsonl": 0o600}
    assert ebbing_home.stat().st_mode & 0o777 == 0o700


def test_a_sessions_start_prints_the_prepared_prompt_of_its_project(ebbing_home: Path, tmp_path: Path) -> None:
    prepare(ebbing_home, str(tmp_path), "- 2026-03-01 [x] Tests run with pytest — naïve 🙂\n")
    given = {**COMMON, "cwd": str(tmp_path), "hook_event_name": "SessionStart", "source": "clear"}
    done = hook("session-start", json.dumps(given).encode())
    assert json.loads(done.stdout) == {
        "hookSpecificOutput": {
            "hookEventName": "SessionStart",
            "additionalContext": "- 2026-03-01 [x] Tests run with pytest — naïve 🙂",
        }
    }
    assert (done.returncode, done.stderr, len(spooled(ebbing_home))) == (0, b"", 1)


def test_a_resumed_session_gets_nothing_but_leaves_its_mark(ebbing_home: Path, tmp_path: Path) -> None:
    prepare(ebbing_home, "global", "known")
    assert_silent(hook("session-start", json.dumps({"cwd": str(tmp_path), "source": "resume"}).encode()))
    assert [line["payload"] for line in spooled(ebbing_home)] == [{"source": "resume"}]


def test_the_project_folder_of_the_client_names_the_scope(ebbing_home: Path, tmp_path: Path) -> None:
    hook("stop", b'{"cwd": "/somewhere"}', env={"CLAUDE_PROJECT_DIR": str(tmp_path)})
    assert spooled(ebbing_home)[0]["scope"] == str(tmp_path)


@pytest.mark.parametrize(
    "stdin",
    [b"", b"\n", b"nonsense", b'{"session_id": "s", "promp', b"[1, 2]", b"null", b"[" * 200_000, b"\xff\xfe\x00{"],
    ids=["empty", "blank", "no json", "half", "list", "null", "deep", "binary"],
)
def test_input_that_is_no_event_still_leaves_a_mark(stdin: bytes, ebbing_home: Path) -> None:
    assert_silent(hook("user-prompt-submit", stdin))
    (line,) = spooled(ebbing_home)
    assert line["payload"].keys() <= {"unreadable"}
    assert bool(line["payload"]) is bool(stdin.strip())


def test_invalid_utf8_inside_a_prompt_is_replaced(ebbing_home: Path) -> None:
    assert_silent(hook("user-prompt-submit", b'{"prompt": "caf\xe9 \\ud800 ok"}'))
    assert spooled(ebbing_home)[0]["payload"] == {"prompt": "caf\ufffd \ud800 ok"}


def test_ten_megabytes_are_cut_with_a_count(ebbing_home: Path) -> None:
    text = "0123456789" * (1 << 20)
    given = {"tool_name": "Read", "tool_response": text, "tool_input": {"file_path": "/f"}}
    assert_silent(hook("post-tool-use", json.dumps(given).encode()))
    payload = spooled(ebbing_home)[0]["payload"]
    assert payload["tool_response"]["cut"] == len(text) - FIELD_LIMIT
    assert payload["tool_input"] == {"file_path": "/f"}


def test_more_than_is_kept_is_still_read_and_counted(ebbing_home: Path) -> None:
    size = 18 << 20
    assert_silent(hook("stop", b"x" * size))
    cut = spooled(ebbing_home)[0]["payload"]["unreadable"]
    assert len(cut["head"]) + len(cut["tail"]) + cut["cut"] == size


def test_a_pipe_that_stays_open_is_not_waited_for(ebbing_home: Path) -> None:
    for text in (b'{"prompt": "said and silent"}\n', b""):
        readable, writable = os.pipe()
        os.write(writable, text)
        done = subprocess.run(
            [COMMAND, "user-prompt-submit"], stdin=readable, capture_output=True, timeout=TIMEOUT, check=False
        )
        os.close(readable)
        os.close(writable)
        assert_silent(done)
    assert [line["payload"] for line in spooled(ebbing_home)] == [{"prompt": "said and silent"}, {}]


def test_closed_standard_streams_are_survived(ebbing_home: Path) -> None:
    prepare(ebbing_home, "global", "must not land in the spool")
    script = f'"{COMMAND}" session-start <&- >&- 2>&-'
    done = subprocess.run(["sh", "-c", script], capture_output=True, timeout=TIMEOUT, check=False)
    assert_silent(done)
    assert [line["event"] for line in spooled(ebbing_home)] == ["session-start"]


def test_a_reader_that_has_gone_is_survived(ebbing_home: Path) -> None:
    prepare(ebbing_home, "global", "nobody reads this")
    readable, writable = os.pipe()
    os.close(readable)
    done = subprocess.run([COMMAND, "session-start"], input=b"{}", stdout=writable, timeout=TIMEOUT, check=False)
    os.close(writable)
    assert done.returncode == 0
    assert len(spooled(ebbing_home)) == 1


def test_a_reader_that_never_reads_does_not_keep_it_alive(ebbing_home: Path) -> None:
    prepare(ebbing_home, "global", "nobody reads this")
    readable, writable = os.pipe()
    fcntl.fcntl(writable, fcntl.F_SETPIPE_SZ, 4096)
    os.write(writable, b"x" * 4096)
    done = subprocess.run([COMMAND, "session-start"], input=b"{}", stdout=writable, timeout=TIMEOUT, check=False)
    os.close(writable)
    os.close(readable)
    assert done.returncode == 0


def test_a_home_that_cannot_be_made_is_survived(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for event in SHAPES:
        assert_silent(hook(event, b"{}", env={"EBBING_HOME": str(tmp_path / "file" / "home")}))


def test_a_prompt_is_injected_even_where_nothing_can_be_appended(ebbing_home: Path) -> None:
    prepare(ebbing_home, "global", "still readable")
    (ebbing_home / "spool").touch()
    done = hook("session-start", b"{}")
    assert done.returncode == 0
    assert b"still readable" in done.stdout


def test_a_prompt_that_cannot_be_read_does_not_stop_the_mark(ebbing_home: Path) -> None:
    places.soft_prompt_path(ebbing_home, "global").mkdir(parents=True)
    assert_silent(hook("session-start", b"{}"))
    assert len(spooled(ebbing_home)) == 1


def test_a_full_disk_leaves_the_spool_as_it_was(ebbing_home: Path) -> None:
    hook("stop", b"{}")
    file = ebbing_home / "spool" / "events.jsonl"
    before = file.read_bytes()
    room = len(before) + 20
    done = hook("stop", b"{}", before=partial(resource.setrlimit, resource.RLIMIT_FSIZE, (room, room)))
    assert_silent(done)
    assert file.read_bytes() == before


def test_a_spool_that_stays_locked_gets_the_event_beside_it(ebbing_home: Path) -> None:
    hook("stop", b"{}")
    with (ebbing_home / "spool" / "events.jsonl").open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert_silent(hook("session-end", b"{}"))
    assert sorted(line["event"] for line in spooled(ebbing_home)) == ["session-end", "stop"]


def test_a_neglected_spool_grows_only_by_short_lines(ebbing_home: Path) -> None:
    hook("stop", b"{}")
    file = ebbing_home / "spool" / "events.jsonl"
    os.truncate(file, 65 << 20)
    hook("user-prompt-submit", json.dumps({"prompt": "x" * 10_000}).encode())
    line = json.loads(file.read_bytes()[65 << 20 :])
    assert line["payload"]["prompt"]["cut"] == 10_000 - 256


def test_an_unknown_event_does_nothing(ebbing_home: Path) -> None:
    assert_silent(hook("message-display", b"{}"))
    assert not ebbing_home.exists()


def test_a_deleted_working_folder_is_survived(ebbing_home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    script = f'rmdir "{folder}" && exec "{COMMAND}" stop'
    done = subprocess.run(["sh", "-c", script], cwd=folder, input=b"{}", capture_output=True, check=False)
    assert_silent(done)
    assert spooled(ebbing_home)[0]["scope"] == str(folder)


def test_failures_are_logged_only_for_who_asks_and_without_content(ebbing_home: Path) -> None:
    (ebbing_home / "spool").parent.mkdir()
    (ebbing_home / "spool").touch()
    log = ebbing_home / "logs" / "hook.log"
    assert_silent(hook("user-prompt-submit", b'{"prompt": "confidential"}'))
    assert not log.exists()
    assert_silent(hook("user-prompt-submit", b'{"prompt": "confidential"}', env={"EBBING_DEBUG": "1"}))
    assert "FileExistsError" in log.read_text()
    assert "confidential" not in log.read_text()
    assert log.stat().st_mode & 0o777 == 0o600
