"""Whether ebbing is in place in the clients of this machine: looking only, for `ebbing doctor` and `ebbing setup`."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ...schemas.errors import InvalidInputError
from .files import read
from .folders import Machine, scopes_of
from .jsonc_edit import value_at
from .placement import Placement, as_list, as_object
from .plans import NAME, Plan, content_of, plans
from .programs import Programs, missing
from .table import CLIENTS, Client, Scope

State = Literal["in place", "incomplete", "broken", "unreadable", "absent"]

# Only where things stand is asked for here, not what a new entry would say.
_ANY = Programs(("ebbing",), ("ebbing-hook",))


@dataclass(frozen=True, slots=True)
class Standing:
    """How ebbing stands in one scope of one client.

    Attributes:
        client: the client's id, as `ebbing setup` takes it.
        name: what people call the client.
        scope: user or project.
        state: `in place`: the server's entry is there, so are all hooks that the client has, and their programs exist.
            `incomplete`: some of it is missing, or there twice. `broken`: an entry names a program that isn't there.
            `unreadable`: a file can't be understood. `absent`: nothing of ebbing is there.
        text: what is so, with the file, for people.
        remedy: what to do, empty where nothing is to be done.
    """

    client: str
    name: str
    scope: Scope
    state: State
    text: str
    remedy: str = ""


def inspect(env: Mapping[str, str], project: Path) -> list[Standing]:
    """How ebbing stands in each client that is installed, or in which it has been set up.

    A client has a row for its user's files, and one for the project's files if ebbing is in them. Nothing is changed.
    """
    machine = Machine(env, project)
    found: list[Standing] = []
    for client in CLIENTS:
        # In a home folder without a repository the two scopes are the same files.
        scopes = scopes_of(client)[: 1 if project == machine.home else None]
        rows = [standing(machine, client, scope) for scope in scopes]
        kept = [row for row in rows if row.state != "absent"]
        if has_plugin(machine, client):
            kept.append(_as_plugin(client, twice=bool(kept)))
        if not kept and machine.has(client):
            kept = rows[:1]
        found += kept
    return found


def standing(machine: Machine, client: Client, scope: Scope) -> Standing:
    """How ebbing stands in one scope of a client."""
    remedy = f"run `ebbing setup {client.id}{' --scope project' if scope == 'project' else ''}`"
    wanted = plans(machine, client, scope, _ANY)
    try:
        state, text = _judged(machine, [look for plan in wanted for look in _looks(plan)])
    except InvalidInputError as error:
        state, text, remedy = "unreadable", str(error), "correct the file; ebbing leaves it alone until then"
    return Standing(client.id, client.name, scope, state, text, "" if state == "in place" else remedy)


def has_plugin(machine: Machine, client: Client) -> bool:
    """Whether ebbing is enabled as a plugin of a client; no if that can't be read."""
    if not client.plugins:
        return False
    try:
        enabled = value_at((read(machine.path(client.plugins)) or b"").decode("utf-8"), ("enabledPlugins",))
    except (InvalidInputError, UnicodeDecodeError):
        return False
    return any(name.partition("@")[0] == NAME and on is True for name, on in (as_object(enabled) or {}).items())


def _as_plugin(client: Client, *, twice: bool) -> Standing:
    text, remedy = "as a plugin", ""
    if twice:
        text += ", and set up in files too: its hooks run twice"
        remedy = f"run `ebbing setup --remove {client.id}`, or disable the plugin"
    return Standing(client.id, client.name, "user", "incomplete" if twice else "in place", text, remedy)


@dataclass(frozen=True, slots=True)
class _Look:
    """One placement: its file, and the words of the command that stands there, None where none does."""

    file: Path
    is_hook: bool
    words: Sequence[str] | None


def _looks(plan: Plan) -> Iterator[_Look]:
    try:
        text = plan.text(content_of(plan))
        for placement in plan.placements:
            if not placement.needed:
                there = plan.editor.find(text, placement)
                yield _Look(plan.file, placement.listed, None if there is None else _words(placement, there))
    except InvalidInputError as error:
        raise InvalidInputError(f"{plan.file}: {error}") from error


def _judged(machine: Machine, looks: Sequence[_Look]) -> tuple[State, str]:
    there = [look for look in looks if look.words is not None]
    if not there:
        return "absent", "ebbing is not set up"
    gone = [look for look in there if look.words is not None and missing(machine, look.words)]
    if gone:
        program = " ".join(gone[0].words or ()) or "nothing"
        return "broken", f"{gone[0].file} names {program}, which is not there"
    lacking = [look for look in looks if look.words is None]
    servers = [look for look in lacking if not look.is_hook]
    if servers:
        return "incomplete", f"hooks, but no server in {servers[0].file}"
    hooks = [look for look in looks if look.is_hook]
    if lacking:
        have = len(hooks) - len(lacking)
        return "incomplete", f"the server, but {have} of {len(hooks)} hooks in {lacking[0].file}"
    return "in place", f"server{' and hooks' if hooks else ''} in {', '.join(_files(looks))}"


def _files(looks: Sequence[_Look]) -> list[str]:
    return list(dict.fromkeys(str(look.file) for look in looks))


def _words(placement: Placement, there: Any) -> Sequence[str]:
    """The command of an entry in any of the clients' forms."""
    entry = as_object(there) or {}
    command = entry.get("command", entry.get("bash"))
    listed = as_list(command)
    if listed is not None:
        return [str(word) for word in listed]
    if not isinstance(command, str):
        return []
    if placement.listed and "args" not in entry:
        return _split(command)
    return [command, *(str(word) for word in as_list(entry.get("args")) or ())]


def _split(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError:
        return [line]
