"""Setting up each client on files that people have, a second time, and removing it again."""

import json
import os
import stat
from pathlib import Path

import pytest
from client_files import GOLDEN, PROGRAMS, Desk, files_in

from ebbing.hooks.events import EVENTS, event_name
from ebbing.schemas.errors import EbbingError, InvalidInputError
from ebbing.server.clients.files import replace
from ebbing.server.clients.jsonc import parse
from ebbing.server.clients.placement import is_ours
from ebbing.server.clients.plans import plans
from ebbing.server.clients.programs import Programs
from ebbing.server.clients.setup import work_out_stripping
from ebbing.server.clients.table import CLIENTS, Client

IDS = [client.id for client in CLIENTS]
each_client = pytest.mark.parametrize("client", IDS)


@each_client
def test_files_become_exactly_what_they_should(client: str, tmp_path: Path) -> None:
    desk = Desk.furnished(tmp_path, client)
    desk.set_up()
    assert desk.files() == files_in(GOLDEN / client / "after")


@each_client
def test_a_second_run_changes_nothing(client: str, tmp_path: Path) -> None:
    desk = Desk.furnished(tmp_path, client)
    desk.set_up()
    before = desk.files(), files_in(tmp_path / "ebbing")
    assert [change.changes for change in desk.set_up()] != []
    assert not any(change.changes for change in desk.set_up())
    assert (desk.files(), files_in(tmp_path / "ebbing")) == before


@each_client
def test_removal_restores_every_byte_and_leaves_nothing_behind(client: str, tmp_path: Path) -> None:
    desk = Desk.furnished(tmp_path, client)
    desk.set_up()
    desk.remove()
    assert desk.files() == files_in(GOLDEN / client / "before")
    assert files_in(tmp_path / "ebbing") == {}


@each_client
def test_a_client_without_any_files_gets_them_and_loses_them_again(client: str, tmp_path: Path) -> None:
    desk = Desk(tmp_path, client)
    desk.set_up()
    assert len(desk.files()) in (1, 2)
    desk.remove()
    assert list(desk.home.rglob("*")) == []


@each_client
def test_what_was_written_since_stays_and_only_ours_goes(client: str, tmp_path: Path) -> None:
    desk = Desk.furnished(tmp_path, client)
    files = [change.file for change in desk.set_up()]
    for file in files:
        file.write_bytes(file.read_bytes() + b"\n")
    desk.remove()
    expected = {name: content + b"\n" for name, content in files_in(GOLDEN / client / "before").items()}
    ours_alone = {file.relative_to(desk.home).as_posix(): b"\n" for file in files}
    left = {name: content for name, content in desk.files().items() if content.strip()}
    assert left == expected
    assert desk.files().keys() <= {**ours_alone, **expected}.keys()


@each_client
def test_a_broken_file_is_left_alone_and_the_error_says_what_to_put_there(client: str, tmp_path: Path) -> None:
    for number, candidate in enumerate(sorted(files_in(GOLDEN / client / "before"))):
        (tmp_path / str(number)).mkdir()
        desk = Desk.furnished(tmp_path / str(number), client)
        file = desk.home / candidate
        file.write_bytes(file.read_bytes() + b'\n"')
        before = desk.files()
        with pytest.raises(InvalidInputError) as refused:
            desk.set_up()
        assert (desk.files(), files_in(tmp_path / str(number) / "ebbing")) == (before, {})
        assert str(file) in str(refused.value)
        assert "/opt/ebbing/bin/ebbing" in str(refused.value)


@each_client
def test_entries_of_unknown_origin_are_removed_too(client: str, tmp_path: Path) -> None:
    desk = Desk(tmp_path, client)
    desk.set_up()
    for plan in plans(desk.machine, desk.client, "user", PROGRAMS):
        change = work_out_stripping(plan)
        assert change.after is not None
        assert b"ebbing" not in change.after
        assert change.after.strip() or plan.format == "toml"


@each_client
def test_another_command_replaces_ours_and_removal_still_leads_back(client: str, tmp_path: Path) -> None:
    desk = Desk.furnished(tmp_path, client)
    desk.set_up()
    desk.programs = Programs(("/usr/local/bin/ebbing",), ("/usr/local/bin/ebbing-hook",))
    desk.set_up()
    assert not any(b"/opt/ebbing" in content for content in desk.files().values())
    desk.remove()
    assert desk.files() == files_in(GOLDEN / client / "before")


@pytest.mark.parametrize("client", CLIENTS, ids=IDS)
def test_every_hook_of_a_client_runs_an_event_that_ebbing_knows(client: Client) -> None:
    if client.hooks is not None:
        assert set(client.hooks.events.values()) <= EVENTS
        assert {theirs: event_name(theirs) for theirs in client.hooks.events} == dict(client.hooks.events)


def test_a_file_keeps_its_mode_and_a_link_stays_a_link(tmp_path: Path) -> None:
    desk = Desk.furnished(tmp_path, "claude-code")
    link = desk.home / ".claude.json"
    real = tmp_path / "dotfiles.json"
    link.rename(real)
    link.symlink_to(real)
    real.chmod(0o640)
    desk.set_up()
    assert link.is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert b"/opt/ebbing" in real.read_bytes()


def test_new_files_and_backups_are_readable_by_their_owner_alone(tmp_path: Path) -> None:
    desk = Desk.furnished(tmp_path, "codex")
    old = os.umask(0)
    try:
        desk.set_up()
    finally:
        os.umask(old)
    made = [desk.home / ".codex" / "hooks.json", *(tmp_path / "ebbing" / "clients").iterdir()]
    assert {stat.S_IMODE(path.stat().st_mode) for path in made} == {0o600}
    assert stat.S_IMODE((tmp_path / "ebbing" / "clients").stat().st_mode) == 0o700


def test_an_entry_made_by_hand_keeps_its_other_members_and_comes_back_on_removal(tmp_path: Path) -> None:
    desk = Desk(tmp_path, "cursor")
    file = desk.home / ".cursor" / "mcp.json"
    file.parent.mkdir()
    by_hand = '{"mcpServers": {"ebbing": {"command": "old", "env": {"EBBING_HOME": "/e"} /* mine */}}}'
    file.write_text(by_hand, "utf-8")
    desk.set_up()
    node = parse(file.read_text("utf-8"))
    assert node is not None
    entry: dict[str, object] = {"command": "/opt/ebbing/bin/ebbing", "env": {"EBBING_HOME": "/e"}, "args": []}
    assert node.value == {"mcpServers": {"ebbing": entry}}
    assert "/* mine */" in file.read_text("utf-8")
    desk.remove()
    assert file.read_text("utf-8") == by_hand


def test_a_hook_of_somebody_elses_in_our_group_stays(tmp_path: Path) -> None:
    desk = Desk(tmp_path, "claude-code")
    desk.set_up()
    file = desk.home / ".claude" / "settings.json"
    settings = json.loads(file.read_text("utf-8"))
    theirs = {"type": "command", "command": "say done"}
    settings["hooks"]["Stop"][0]["hooks"].append(theirs)
    file.write_text(json.dumps(settings), "utf-8")
    desk.remove()
    assert json.loads(file.read_text("utf-8")) == {"hooks": {"Stop": [{"hooks": [theirs]}]}}


def test_a_file_we_began_keeps_its_version_while_it_holds_somebodys_hooks(tmp_path: Path) -> None:
    desk = Desk(tmp_path, "cursor")
    desk.set_up()
    file = desk.home / ".cursor" / "hooks.json"
    content = json.loads(file.read_text("utf-8"))
    content["hooks"]["sessionEnd"].append({"command": "./bell.sh"})
    file.write_text(json.dumps(content), "utf-8")
    desk.remove()
    assert json.loads(file.read_text("utf-8")) == {"version": 1, "hooks": {"sessionEnd": [{"command": "./bell.sh"}]}}


def test_a_file_that_its_owner_emptied_meanwhile_is_set_up_anew_and_restored_to_that(tmp_path: Path) -> None:
    desk = Desk.furnished(tmp_path, "zed")
    desk.set_up()
    file = desk.home / ".config" / "zed" / "settings.json"
    file.write_text("{}\n", "utf-8")
    desk.set_up()
    desk.remove()
    assert file.read_text("utf-8") == "{}\n"


def test_a_file_that_is_gone_needs_no_removal(tmp_path: Path) -> None:
    desk = Desk.furnished(tmp_path, "zed")
    [change] = desk.set_up()
    change.file.unlink()
    desk.remove()
    assert not change.file.exists()


def test_a_file_that_changed_in_between_is_not_overwritten(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_bytes(b"theirs")
    with pytest.raises(EbbingError):
        replace(file, b"{}", b'{"ours": 1}')
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"theirs"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{"mcpServers": []}', "mcpServers is not an object"),
        (b'{"mcpServers": null}', "mcpServers is not an object"),
        (b"[]", "the whole is not an object"),
        (b'{"mcpServers": {}, "mcpServers": {}}', "2 times"),
        (b'{"mcpServers": {"ebbing": {"command": "a"}, "ebbing": {}}}', "2 times"),
        (b'{"a": "\xff"}', "not UTF-8"),
        (b'{"a": 1 "b": 2}', "line 1, column 9: a comma is missing"),
        (b'{\n  "a": [1, 2\n', "] is missing"),
        (b'{"a": 1} {', "more text"),
        (b"{'a': 1}", "double quotes"),
        (b'{"a": /* open', "a value is missing"),
        (b"[" * 1000, "too deeply"),
    ],
)
def test_what_stands_in_the_way_is_named(content: bytes, said: str, tmp_path: Path) -> None:
    desk = Desk(tmp_path, "cursor")
    file = desk.home / ".cursor" / "mcp.json"
    file.parent.mkdir()
    file.write_bytes(content)
    with pytest.raises(InvalidInputError, match=said):
        desk.set_up()
    assert file.read_bytes() == content


def test_projects_get_their_files_in_the_project(tmp_path: Path) -> None:
    desk = Desk(tmp_path, "claude-code")
    (tmp_path / "project").mkdir()
    desk.set_up("project")
    assert files_in(tmp_path / "project").keys() == {".mcp.json", ".claude/settings.json"}
    assert files_in(desk.home) == {}


@pytest.mark.parametrize(
    ("entry", "ours"),
    [
        ("/opt/my tools/ebbing-hook stop", True),
        ("C:\\tools\\ebbing-hook.exe stop", True),
        ("'/opt/a b/ebbing-hook' stop --client cursor", True),
        ({"type": "command", "command": "uvx", "args": ["--from", "ebbing", "ebbing-hook", "stop"]}, True),
        ("my-ebbing-hook-wrapper", False),
        ({"hooks": [{"command": "ebbing-hook stop"}]}, False),
        (7, False),
    ],
)
def test_our_hooks_are_known_by_their_program(entry: object, ours: bool) -> None:
    assert is_ours(entry) is ours
