"""The plugin, the marketplace, the registry's entry and the example: valid, true, and of the package's version."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import ebbing
from ebbing.hooks.events import EVENTS
from ebbing.schemas.memory import Kind
from ebbing.server.clients.table import client_of
from ebbing.server.settings import VARIABLES
from ebbing.tools.contract import CONTRACTS

ROOT = Path(__file__).resolve().parent.parent
PLUGIN = ROOT / "plugin"
SKILL = (PLUGIN / "skills" / "ebbing" / "SKILL.md").read_text("utf-8")


def load(name: str) -> Any:
    return json.loads((ROOT / name).read_text("utf-8"))


def hook_commands() -> Iterator[tuple[str, str]]:
    for event, groups in load("plugin/hooks/hooks.json")["hooks"].items():
        for group in groups:
            for hook in group["hooks"]:
                assert hook["type"] == "command"
                assert 1 <= hook["timeout"] <= 10
                yield event, hook["command"]


def test_every_version_is_the_packages() -> None:
    [listed] = load(".claude-plugin/marketplace.json")["plugins"]
    server = load("server.json")
    [package] = server["packages"]
    versions = [load("plugin/.claude-plugin/plugin.json")["version"], listed["version"], server["version"]]
    assert {*versions, package["version"]} == {ebbing.__version__}


def test_the_marketplace_leads_to_the_plugin() -> None:
    [listed] = load(".claude-plugin/marketplace.json")["plugins"]
    manifest = load("plugin/.claude-plugin/plugin.json")
    assert (ROOT / listed["source"]).samefile(PLUGIN)
    assert (listed["name"], listed["description"]) == (manifest["name"], manifest["description"])


def test_the_plugin_hooks_the_events_that_setup_does_with_the_same_names() -> None:
    hooks = client_of("claude-code").hooks
    assert hooks is not None
    found = {
        event: re.sub(r"^ebbing-hook (\S+) 2>/dev/null \|\| true$", r"\1", command)
        for event, command in hook_commands()
    }
    assert found == dict(hooks.events)
    assert set(found.values()) <= EVENTS


@pytest.mark.parametrize("installed", [True, False])
def test_a_hook_says_nothing_and_succeeds_whether_or_not_the_program_is_there(
    installed: bool, tmp_path: Path, ebbing_home: Path
) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    if installed:
        (programs / "ebbing-hook").write_text("#!/bin/sh\necho $1; echo noise >&2; exit 3\n", "utf-8")
        (programs / "ebbing-hook").chmod(0o755)
    shell = shutil.which("sh")
    assert shell is not None
    _, command = next(hook_commands())
    done = subprocess.run(
        [shell, "-c", command], env={"PATH": str(programs)}, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "session-start\n" if installed else "")


@pytest.mark.parametrize("file", [".mcp.json", "plugin/.mcp.json"])
def test_the_servers_entries_start_the_server(file: str) -> None:
    [(name, entry)] = load(file)["mcpServers"].items()
    assert (name, entry["type"], entry["command"], entry["args"][-1]) == ("ebbing", "stdio", "uvx", "ebbing")


def test_the_registrys_entry_names_variables_that_exist_and_the_readme_owns_it() -> None:
    server = load("server.json")
    [package] = server["packages"]
    named = {variable["name"] for variable in package["environmentVariables"]}
    assert named <= {variable.name for variable in VARIABLES}
    assert len(server["description"]) <= 100
    assert f"<!-- mcp-name: {server['name']} -->" in (ROOT / "README.md").read_text("utf-8")


def test_the_skill_has_its_head_and_names_only_what_exists() -> None:
    head = re.match(r"---\nname: ([a-z-]+)\ndescription: (.+)\n---\n", SKILL)
    assert head is not None
    assert (head[1], len(head[2]) <= 1024) == ("ebbing", True)
    tools = {contract.name for contract in CONTRACTS}
    kinds = {kind.value for kind in Kind}
    arguments = {"ids", "source", "said_by", "user", "supersedes", "pinned", "recall_id", "query", "dry_run"}
    signals_and_modes = {"used", "useful", "wrong", "outdated", "fade", "restore", "erase"}
    mentioned = set(re.findall(r"`([a-z_]+)`", SKILL))
    assert mentioned <= tools | kinds | arguments | signals_and_modes
    assert mentioned >= {"recall", "save", "learn", "forget"}
