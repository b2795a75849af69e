"""What README.md and docs/ say of commands, options, settings and tools is what the program has, and nothing else."""

import ast
import json
import re
import tomllib
from dataclasses import fields
from pathlib import Path

import click
import pytest
from mcp import Client

from ebbing.lifecycle.constants import DecaySettings
from ebbing.server.app import build_app
from ebbing.server.commands.root import COMMANDS, root
from ebbing.server.settings import VARIABLES, decay_variables
from ebbing.tools.services import Services

ROOT = Path(__file__).resolve().parent.parent
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
_SHARED_OPTIONS = {"--home", "--scope", "--json"}


def rows(page: str, heading: str) -> list[list[str]]:
    """The cells of the first table whose first column has that heading, without its two head lines."""
    lines = (ROOT / page).read_text("utf-8").splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith(f"| {heading} |"))
    found: list[list[str]] = []
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        found.append([cell.strip() for cell in line.strip("|").split("|")])
    return found


def tables(page: str, heading: str) -> list[list[str]]:
    """The rows of every table of a page with that heading, in their order."""
    text = (ROOT / page).read_text("utf-8")
    found = re.findall(r"(?m)^\| `([^`]+)` \| ([^|]*) \| ([^|]*) \|$", text.partition(f"| {heading} |")[2])
    return [list(row) for row in found]


def code(cell: str) -> str:
    return cell.strip("`")


def options(name: str) -> set[str]:
    command = root.get_command(click.Context(root), name)
    assert isinstance(command, click.Command)
    found = [option for parameter in command.params for option in parameter.opts if option.startswith("--")]
    return set(found) - _SHARED_OPTIONS


def refuse(_client: str | None) -> Services:
    raise AssertionError("listing what a server offers needs no store")


@pytest.fixture
async def client() -> Client:
    return Client(build_app(refuse))


# --- commands --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", ["README.md", "docs/commands.md"])
def test_exactly_the_real_commands_are_listed(page: str) -> None:
    assert [code(row[0]) for row in rows(page, "command")] == [f"ebbing {name}" for name in COMMANDS]


def test_exactly_the_real_options_are_listed() -> None:
    listed = {
        code(row[0]).removeprefix("ebbing "): set(re.findall(r"--[a-z-]+", row[1]))
        for row in rows("docs/commands.md", "command")
    }
    assert listed == {name: options(name) for name in COMMANDS}


def test_every_command_takes_the_shared_options_and_says_what_each_option_means() -> None:
    for name in COMMANDS:
        command = root.get_command(click.Context(root), name)
        assert isinstance(command, click.Command)
        given = [parameter for parameter in command.params if isinstance(parameter, click.Option)]
        assert {option for parameter in given for option in parameter.opts} >= _SHARED_OPTIONS
        assert [parameter.name for parameter in given if not parameter.help] == []


def test_commands_that_any_page_mentions_exist() -> None:
    for page in PAGES:
        mentioned = set(re.findall(r"`ebbing ([a-z][a-z-]+)", page.read_text("utf-8")))
        assert mentioned <= set(COMMANDS), page.name


# --- settings --------------------------------------------------------------------------------------------------------


def test_readme_lists_exactly_the_general_settings_with_their_defaults() -> None:
    assert [(code(row[0]), code(row[1])) for row in rows("README.md", "variable")] == [
        (variable.name, variable.default) for variable in VARIABLES
    ]


def test_the_page_of_settings_lists_exactly_all_settings() -> None:
    listed = [row[0] for row in tables("docs/settings.md", "variable")]
    assert listed == [variable.name for variable in (*VARIABLES, *decay_variables())]


def test_the_page_of_settings_gives_the_real_defaults_of_forgetting() -> None:
    listed = {name: float(default) for name, default, _ in tables("docs/settings.md", "variable")[len(VARIABLES) :]}
    real = {f"EBBING_{item.name.upper()}": float(item.default) for item in fields(DecaySettings)}  # type: ignore[arg-type]
    assert listed == real


def test_every_constant_of_forgetting_that_can_be_set_is_read_by_something() -> None:
    folders = ("schemas", "store", "encoding", "retrieval", "lifecycle", "tools", "server")
    modules = [path for folder in folders for path in (ROOT / folder).rglob("*.py") if path.name != "constants.py"]
    read = {
        node.attr
        for path in modules
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Attribute)
    }
    assert [item.name for item in fields(DecaySettings) if item.name not in read] == []


def test_variables_that_any_page_mentions_exist() -> None:
    known = {variable.name for variable in (*VARIABLES, *decay_variables())}
    for page in PAGES:
        assert set(re.findall(r"\bEBBING_[A-Z_]+\b", page.read_text("utf-8"))) <= known, page.name


# --- what the server offers ------------------------------------------------------------------------------------------


@pytest.mark.anyio
async def test_readme_lists_exactly_the_real_tools(client: Client) -> None:
    async with client:
        tools = (await client.list_tools()).tools
    assert [code(row[0]) for row in rows("README.md", "tool")] == [tool.name for tool in tools]


@pytest.mark.anyio
async def test_readme_names_exactly_the_real_resources_and_prompts(client: Client) -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    async with client:
        templates = (await client.list_resource_templates()).resource_templates
        prompts = (await client.list_prompts()).prompts
    assert set(re.findall(r"`(ebbing://[^`]+)`", text)) == {template.uri_template for template in templates}
    [sentence] = re.findall(r"prompts ((?:`\w+`(?: and |, )?)+)", text)
    assert set(re.findall(r"`(\w+)`", sentence)) == {prompt.name for prompt in prompts}


# --- the pages themselves --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_to_a_file_leads_to_one(page: Path) -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", page.read_text("utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_json_and_toml_example_is_valid(page: Path) -> None:
    text = page.read_text("utf-8")
    for example in re.findall(r"```json\n(.*?)```", text, re.DOTALL):
        json.loads(example)
    for example in re.findall(r"```toml\n(.*?)```", text, re.DOTALL):
        tomllib.loads(example)


def test_readme_has_exactly_two_commands_to_try_and_test() -> None:
    assert re.findall(r"(?m)^(sh scripts/\w+)", (ROOT / "README.md").read_text("utf-8")) == [
        "sh scripts/try",
        "sh scripts/test",
    ]


def test_hooks_in_the_examples_are_events_that_the_hook_knows() -> None:
    from ebbing.hooks.events import EVENTS

    text = (ROOT / "docs" / "clients.md").read_text("utf-8")
    assert set(re.findall(r"ebbing-hook ([a-z-]+)", text)) <= EVENTS
