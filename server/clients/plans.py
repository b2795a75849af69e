"""What has to stand in which file of a client, and what is there."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...schemas.errors import InvalidInputError
from . import jsonc_edit, toml_edit
from .files import read
from .folders import Machine
from .placement import Placement, Undo
from .programs import Programs, filled
from .table import Client, Format, Scope

NAME = "ebbing"


@dataclass(frozen=True, slots=True)
class Editor:
    """A format's edits, pure functions over text; each raises InvalidInputError for what it can't read."""

    put: Callable[[str, Placement], tuple[str, list[Undo]]]
    take: Callable[[str, Undo], str]
    strip: Callable[[str, Placement], str]
    find: Callable[[str, Placement], Any]


EDITORS: dict[Format, Editor] = {
    "jsonc": Editor(jsonc_edit.put, jsonc_edit.take, jsonc_edit.strip, jsonc_edit.find),
    "toml": Editor(toml_edit.put, toml_edit.take, toml_edit.strip, toml_edit.find),
}


@dataclass(frozen=True, slots=True)
class Plan:
    """A file of a client and what has to stand in it."""

    client: Client
    scope: Scope
    file: Path
    format: Format
    placements: tuple[Placement, ...]

    @property
    def editor(self) -> Editor:
        """The edits of the file's format."""
        return EDITORS[self.format]

    def text(self, content: bytes | None) -> str:
        """The file's text.

        Raises:
            InvalidInputError: if it isn't UTF-8.
        """
        try:
            return (content or b"").decode("utf-8")
        except UnicodeDecodeError as error:
            raise InvalidInputError(f"byte {error.start + 1} is not UTF-8") from error

    def refusal(self, error: InvalidInputError) -> InvalidInputError:
        """The error that says where and what a person can do by hand."""
        text = f"{self.file} was left alone: {error}. Correct it and run this again, or add this to it: {self.paste()}"
        return InvalidInputError(text)

    def paste(self) -> str:
        """What a person would add by hand, on one line."""
        if self.format == "toml":
            values = ", ".join(f"{key} = {json.dumps(value)}" for key, value in self.placements[0].value.items())
            return f"{'.'.join(self.placements[0].path)} = {{ {values} }}"
        text = ""
        for placement in self.placements:
            text, _ = self.editor.put(text, placement)
        return json.dumps(json.loads(text), ensure_ascii=False)


def plans(machine: Machine, client: Client, scope: Scope, programs: Programs) -> list[Plan]:
    """The files of a client in a scope; server and hooks that share a file share a plan.

    Hooks are left out where there is no program for them.
    """
    found: dict[Path, Plan] = {}
    for file, format_, placements in _parts(machine, client, scope, programs):
        earlier = found[file].placements if file in found else ()
        found[file] = Plan(client, scope, file, format_, (*earlier, *placements))
    return list(found.values())


def content_of(plan: Plan) -> bytes | None:
    """What a plan's file holds now, None if it isn't there.

    Raises:
        InvalidInputError: if it can't be read.
    """
    return read(plan.file)


def server_placement(client: Client, programs: Programs) -> Placement:
    """A client's entry for the server."""
    return Placement((*client.server.path, NAME), filled(dict(client.server.entry), programs))


def hook_placements(machine: Machine, client: Client, programs: Programs) -> list[Placement]:
    """A client's entries for the hooks, after what its file must have besides."""
    hooks = client.hooks
    if hooks is None or programs.hook is None:
        return []
    named = "" if client.id == "claude-code" else client.id
    return [
        *(Placement((key,), value, needed=True) for key, value in hooks.needed.items()),
        *(
            Placement(
                ("hooks", theirs), filled(dict(hooks.entry), programs, ours, named, machine.platform), listed=True
            )
            for theirs, ours in hooks.events.items()
        ),
    ]


def _parts(
    machine: Machine, client: Client, scope: Scope, programs: Programs
) -> list[tuple[Path, Format, list[Placement]]]:
    parts: list[tuple[Path, Format, list[Placement]]] = []
    if scope in client.server.files:
        file = machine.file(client.server.files[scope])
        parts.append((file, client.server.format, [server_placement(client, programs)]))
    hooks = hook_placements(machine, client, programs)
    if client.hooks is not None and scope in client.hooks.files and hooks:
        parts.append((machine.file(client.hooks.files[scope]), "jsonc", hooks))
    return parts
