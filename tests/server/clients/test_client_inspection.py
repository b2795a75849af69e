"""What can be told of a machine's clients, and which commands they are given."""

from pathlib import Path, PurePosixPath, PureWindowsPath

import pytest
from client_files import Desk

from ebbing.server.clients import inspect
from ebbing.server.clients.folders import Machine, scopes_of
from ebbing.server.clients.inspection import Standing, standing
from ebbing.server.clients.programs import UVX, Programs, choose, filled, is_passing
from ebbing.server.clients.table import CLIENTS, HOOK_ARGUMENTS, HOOK_BASH, HOOK_LINE, HOOK_POWERSHELL, client_of

IDS = [client.id for client in CLIENTS]


def install(folder: Path) -> Programs:
    """Two programs that can be run."""
    folder.mkdir(parents=True)
    for name in ("ebbing", "ebbing-hook"):
        (folder / name).write_text("#!/bin/sh\n", "utf-8")
        (folder / name).chmod(0o755)
    return Programs((str(folder / "ebbing"),), (str(folder / "ebbing-hook"),))


def desk_with_programs(tmp_path: Path, client: str) -> Desk:
    return Desk(tmp_path, client, programs=install(tmp_path / "bin dir"))


def look(desk: Desk) -> Standing:
    return standing(desk.machine, desk.client, "user")


@pytest.mark.parametrize("client", IDS)
def test_a_client_is_in_place_after_set_up_and_absent_after_removal(client: str, tmp_path: Path) -> None:
    desk = desk_with_programs(tmp_path, client)
    assert look(desk).state == "absent"
    desk.set_up()
    assert (look(desk).state, look(desk).remedy) == ("in place", "")
    [row] = inspect(desk.machine.env, tmp_path)
    assert (row.client, row.scope) == (client, "user")
    desk.remove()
    assert inspect(desk.machine.env, tmp_path) == []


@pytest.mark.parametrize("client", IDS)
def test_a_program_that_is_gone_is_named(client: str, tmp_path: Path) -> None:
    desk = desk_with_programs(tmp_path, client)
    desk.set_up()
    (tmp_path / "bin dir" / "ebbing").unlink()
    found = look(desk)
    assert (found.state, found.remedy) == ("broken", f"run `ebbing setup {client}`")
    assert str(tmp_path / "bin dir" / "ebbing") in found.text


def test_a_hook_program_that_is_gone_is_named_too(tmp_path: Path) -> None:
    desk = desk_with_programs(tmp_path, "codex")
    desk.set_up()
    (tmp_path / "bin dir" / "ebbing-hook").unlink()
    assert look(desk).state == "broken"


def test_missing_hooks_make_it_incomplete_and_so_does_a_missing_server(tmp_path: Path) -> None:
    desk = desk_with_programs(tmp_path, "claude-code")
    desk.set_up()
    settings = desk.home / ".claude" / "settings.json"
    settings.write_text(settings.read_text("utf-8").replace('"Stop"', '"SubagentStop"'), "utf-8")
    found = look(desk)
    assert (found.state, "6 of 7 hooks" in found.text) == ("incomplete", True)
    (desk.home / ".claude.json").unlink()
    found = look(desk)
    assert (found.state, "no server" in found.text) == ("incomplete", True)


def test_a_file_that_cannot_be_read_is_said_to_be_so(tmp_path: Path) -> None:
    desk = desk_with_programs(tmp_path, "zed")
    [change] = desk.set_up()
    change.file.write_text("{", "utf-8")
    found = look(desk)
    assert (found.state, str(change.file) in found.text) == ("unreadable", True)


def test_an_installed_client_without_ebbing_is_listed_as_such(tmp_path: Path) -> None:
    desk = Desk(tmp_path, "cursor")
    (desk.home / ".cursor").mkdir()
    assert [(row.client, row.state) for row in inspect(desk.machine.env, tmp_path)] == [("cursor", "absent")]


def test_a_plugin_counts_and_twice_is_too_much(tmp_path: Path) -> None:
    desk = desk_with_programs(tmp_path, "claude-code")
    settings = desk.home / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{"enabledPlugins": {"other@x": true, "ebbing@ebbing": true}}', "utf-8")
    assert [(row.state, row.text) for row in inspect(desk.machine.env, tmp_path)] == [("in place", "as a plugin")]
    desk.set_up()
    files, plugin = inspect(desk.machine.env, tmp_path)
    assert (files.state, plugin.state, "--remove claude-code" in plugin.remedy) == ("in place", "incomplete", True)
    settings.write_text('{"enabledPlugins": {"ebbing@ebbing": false}}', "utf-8")
    assert [row.state for row in inspect(desk.machine.env, tmp_path)] == ["incomplete"]


def test_a_client_is_also_found_by_its_program(tmp_path: Path) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "codex").write_text("#!/bin/sh\n", "utf-8")
    (folder / "codex").chmod(0o755)
    machine = Machine({"HOME": str(tmp_path), "PATH": str(folder)}, tmp_path, "linux")
    assert [client.id for client in CLIENTS if machine.has(client)] == ["codex"]


@pytest.mark.parametrize(
    ("platform", "client", "path"),
    [
        ("linux", "vscode", "/h/.config/Code/User/mcp.json"),
        ("darwin", "vscode", "/h/Library/Application Support/Code/User/mcp.json"),
        ("win32", "vscode", "/h/AppData/Roaming/Code/User/mcp.json"),
        ("darwin", "claude-desktop", "/h/Library/Application Support/Claude/claude_desktop_config.json"),
        ("darwin", "zed", "/h/.config/zed/settings.json"),
        ("win32", "zed", "/h/AppData/Roaming/Zed/settings.json"),
        ("linux", "claude-code", "/h/.claude.json"),
    ],
)
def test_each_platform_has_its_own_folders(platform: str, client: str, path: str) -> None:
    machine = Machine({"HOME": "/h", "USERPROFILE": "/h"}, Path("/p"), platform)
    assert machine.file(client_of(client).server.files["user"]) == Path(path)


def test_clients_own_variables_move_their_folders() -> None:
    env = {"HOME": "/h", "CLAUDE_CONFIG_DIR": "/c", "CODEX_HOME": "/x", "COPILOT_HOME": "/y", "XDG_CONFIG_HOME": "/z"}
    machine = Machine(env, Path("/p"), "linux")
    paths = [
        machine.file(client_of(client).server.files["user"]) for client in ("claude-code", "codex", "copilot", "zed")
    ]
    assert [str(path) for path in paths] == [
        "/c/.claude.json",
        "/x/config.toml",
        "/y/mcp-config.json",
        "/z/zed/settings.json",
    ]


def test_of_two_candidates_the_one_that_exists_is_used(tmp_path: Path) -> None:
    machine = Machine({"HOME": str(tmp_path)}, tmp_path, "linux")
    candidates = client_of("opencode").server.files["project"]
    assert machine.file(candidates).name == "opencode.json"
    (tmp_path / "opencode.jsonc").write_text("{}", "utf-8")
    assert machine.file(candidates).name == "opencode.jsonc"


def test_clients_without_project_files_have_one_scope() -> None:
    assert scopes_of(client_of("claude-desktop")) == ("user",)
    assert scopes_of(client_of("cursor")) == ("user", "project")


# --- commands --------------------------------------------------------------------------------------------------------


def test_users_get_the_path_of_the_installation_that_runs(tmp_path: Path) -> None:
    own = install(tmp_path / "own")
    install(tmp_path / "other")
    machine = Machine({"PATH": str(tmp_path / "other")}, tmp_path)
    assert choose(machine, "user", tmp_path / "own") == own


def test_a_link_on_the_path_to_the_same_program_is_preferred(tmp_path: Path) -> None:
    own = install(tmp_path / "tools" / "ebbing" / "bin")
    links = tmp_path / "bin"
    links.mkdir()
    for program in (own.server[0], (own.hook or ("",))[0]):
        (links / Path(program).name).symlink_to(program)
    machine = Machine({"PATH": str(links)}, tmp_path)
    chosen = Programs((str(links / "ebbing"),), (str(links / "ebbing-hook"),))
    assert choose(machine, "user", tmp_path / "tools" / "ebbing" / "bin") == chosen


def test_projects_get_names_where_the_path_has_them_and_uvx_otherwise(tmp_path: Path) -> None:
    install(tmp_path / "bin")
    assert choose(Machine({"PATH": str(tmp_path / "bin")}, tmp_path), "project") == Programs(
        ("ebbing",), ("ebbing-hook",)
    )
    assert choose(Machine({"PATH": ""}, tmp_path), "project", tmp_path / "bin") == UVX


@pytest.mark.parametrize("folder", ["uv/archive-v0/x/bin", ".cache/pipx/y/bin", ".cache/uv/environments-v2/z/bin"])
def test_an_environment_for_one_use_is_not_pointed_to(folder: str, tmp_path: Path) -> None:
    install(tmp_path / folder)
    assert choose(Machine({"PATH": str(tmp_path / folder)}, tmp_path), "user", tmp_path / folder) == UVX


def test_tools_and_virtual_environments_stay() -> None:
    assert not is_passing(PurePosixPath("/h/.local/share/uv/tools/ebbing/bin/ebbing"))
    assert not is_passing(PurePosixPath("/h/src/ebbing/.venv/bin/ebbing"))
    assert is_passing(PureWindowsPath("C:/Users/a/AppData/Local/uv/cache/archive-v0/q/Scripts/ebbing.exe"))


def test_a_shell_line_is_quoted_as_its_platform_wants_it() -> None:
    programs = Programs(("s",), ("/a b/ebbing-hook",))
    assert filled(HOOK_LINE, programs, "stop", "cursor", "linux") == "'/a b/ebbing-hook' stop --client cursor"
    assert filled(HOOK_LINE, programs, "stop", "cursor", "win32") == '"/a b/ebbing-hook" stop --client cursor'
    assert filled(HOOK_BASH, programs, "stop", "cursor", "win32") == "'/a b/ebbing-hook' stop --client cursor"
    assert filled(HOOK_POWERSHELL, programs, "stop", "", "linux") == "& '/a b/ebbing-hook' stop"
    plain = Programs(("s",), ("C:\\b\\ebbing-hook.exe",))
    assert filled(HOOK_POWERSHELL, plain, "stop", "", "win32") == "C:\\b\\ebbing-hook.exe stop"
    assert filled([HOOK_ARGUMENTS], programs, "stop") == [["stop"]]


def test_without_a_stable_program_there_are_no_hooks(tmp_path: Path) -> None:
    desk = Desk(tmp_path, "claude-code", programs=UVX)
    assert [change.file.name for change in desk.set_up()] == [".claude.json"]
    assert b'"command": "uvx"' in (desk.home / ".claude.json").read_bytes()
