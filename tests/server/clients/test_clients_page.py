"""The page about clients says of each client what setup really does."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from ebbing.hooks.events import EVENTS
from ebbing.server.clients.folders import Machine, scopes_of
from ebbing.server.clients.plans import hook_placements, server_placement
from ebbing.server.clients.programs import Programs
from ebbing.server.clients.table import CLIENTS, Client

PAGE = (Path(__file__).parents[3] / "docs" / "clients.md").read_text("utf-8")
PROGRAMS = Programs(("ebbing",), ("ebbing-hook",))
MACHINE = Machine({"HOME": "~"}, Path(), "linux")
each_client = pytest.mark.parametrize("client", CLIENTS, ids=[client.id for client in CLIENTS])


def section(client: Client) -> str:
    match = re.search(rf"(?ms)^## {re.escape(client.name)}\n(.*?)(?=^## |\Z)", PAGE)
    assert match is not None
    return match[1]


def examples(text: str) -> list[Any]:
    """The JSON and TOML of a section in order."""
    blocks: list[tuple[str, str]] = re.findall(r"```(json|toml)\n(.*?)```", text, re.DOTALL)
    return [json.loads(body) if kind == "json" else tomllib.loads(body) for kind, body in blocks]


def nested(path: tuple[str, ...], value: Any) -> Any:
    for key in reversed(path):
        value = {key: value}
    return value


def shown(template: str) -> str:
    path = template.replace("{config}", "CONFIG")
    return str(MACHINE.path(path)) if "{" in path else path


@each_client
def test_the_command_and_the_files_are_the_real_ones(client: Client) -> None:
    text = section(client)
    assert f"`ebbing setup {client.id}`" in text
    rows = {
        row[0]: set(re.findall(r"`([^`]+)`", row[1])) for row in re.findall(r"(?m)^\| (user|project) \|(.*)$", text)
    }
    assert rows.keys() == set(scopes_of(client))
    for scope, files in rows.items():
        real = [*client.server.files.get(scope, ()), *(client.hooks.files.get(scope, ()) if client.hooks else ())]
        assert files == {shown(file) for file in real}


@each_client
def test_the_entries_are_the_real_ones(client: Client) -> None:
    server, *hooks = examples(section(client))
    placement = server_placement(client, PROGRAMS)
    assert server == nested(placement.path, placement.value)
    placements = hook_placements(MACHINE, client, PROGRAMS)
    needed = {placement.path[0]: placement.value for placement in placements if placement.needed}
    first = [placement for placement in placements if placement.listed][:1]
    assert hooks == [{**needed, **nested(placement.path, [placement.value])} for placement in first]


@each_client
def test_the_events_are_the_real_ones_in_their_order(client: Client) -> None:
    events = re.findall(r"`(\w+)`\s\(`([a-z-]+)`\)", section(client))
    real = list(client.hooks.events.items()) if client.hooks else []
    assert events == real[1:]
    assert {ours for _, ours in events} <= EVENTS


def test_there_is_no_section_for_a_client_that_setup_does_not_know() -> None:
    names = re.findall(r"(?m)^## (.+)$", PAGE)
    own = {"Which command is written", "Clients without standard input", "When something does not work"}
    assert set(names) - own == {client.name for client in CLIENTS}
