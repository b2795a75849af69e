"""`ebbing setup`: put ebbing into a client's files, take it out again, or see where it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .invocation import Invocation, invocation, shared_options

if TYPE_CHECKING:
    from ..clients.folders import Machine
    from ..clients.inspection import Standing
    from ..clients.receipts import Receipts
    from ..clients.setup import Change
    from ..clients.table import Client, Scope

_NO_HOOKS = (
    "Hooks were left out: ebbing runs from a cache, and starting it from there with every tool call takes too long. "
    "For hooks, install it (`uv tool install ebbing`) and run this again."
)


@click.command("setup")
@click.argument("client", required=False, metavar="[CLIENT]")
@click.option("--scope", type=click.Choice(["user", "project"]), help="Your own files, or those of this project.")
@click.option("--remove", is_flag=True, help="Take ebbing out again: of CLIENT, or of every client.")
@click.option("--dry-run", is_flag=True, help="Show what would change and change nothing.")
@shared_options(scope=False)
@click.pass_context
def command(ctx: click.Context, client: str | None, scope: Scope | None, remove: bool, dry_run: bool) -> None:
    """Set ebbing up in a client: its server, and its hooks where the client has any.

    Without CLIENT, list the clients that are installed and whether ebbing is in them. What is in their files stays as
    it is, a file that can't be understood is left alone, and --remove brings back what was there.
    """
    run = invocation(ctx)
    chosen = _client(client)
    if remove:
        _remove(run, chosen, scope, dry_run=dry_run)
    elif chosen is None:
        _list(run)
    else:
        _set_up(run, chosen, scope or _only_scope(chosen), dry_run=dry_run)


def _client(identifier: str | None) -> Client | None:
    from ..clients.table import CLIENTS

    if identifier is None:
        return None
    known = {client.id: client for client in CLIENTS}
    if identifier not in known:
        raise click.BadParameter(f"{identifier!r} is none of {', '.join(known)}", param_hint="CLIENT")
    return known[identifier]


def _only_scope(client: Client) -> Scope:
    return "user" if "user" in client.server.files else "project"


def _machine(run: Invocation) -> Machine:
    """The machine, with the project that the current folder belongs to."""
    from ..clients.folders import Machine

    env = run.environment()
    return Machine(env, project_folder(env))


def project_folder(env: dict[str, str]) -> Path:
    """Where a project keeps its files: the nearest folder with a `.git`, in a worktree the worktree's own."""
    try:
        start = Path(env.get("CLAUDE_PROJECT_DIR") or Path.cwd()).absolute()
    except FileNotFoundError as error:
        raise click.UsageError("the current folder is gone") from error
    return next((folder for folder in (start, *start.parents) if (folder / ".git").exists()), start)


def _receipts(run: Invocation) -> Receipts:
    from ...hooks.places import home
    from ..clients.receipts import Receipts

    return Receipts(home(run.environment()))


# --- set up ----------------------------------------------------------------------------------------------------------


def _set_up(run: Invocation, client: Client, scope: Scope, *, dry_run: bool) -> None:
    from ..clients.plans import plans
    from ..clients.programs import choose
    from ..clients.setup import carry_out, work_out

    if scope not in client.server.files:
        raise click.BadParameter(f"{client.name} has no files of a {scope}'s own", param_hint="--scope")
    machine, receipts = _machine(run), _receipts(run)
    programs = choose(machine, scope)
    changes = [work_out(plan, receipts) for plan in plans(machine, client, scope, programs)]
    if not dry_run:
        carry_out(changes, receipts)
    notes = list(_notes(machine, client, without_hooks=programs.hook is None))
    data = {"client": client.id, "scope": scope, "dry_run": dry_run, "files": _files(changes), "notes": notes}
    run.answer(data, lambda: "\n".join([*_said(changes, dry_run=dry_run), *notes]))


def _notes(machine: Machine, client: Client, *, without_hooks: bool) -> Iterator[str]:
    from ..clients.inspection import has_plugin

    if client.hooks is not None and without_hooks:
        yield _NO_HOOKS
    if client.remark:
        yield client.remark
    if machine.env.get("EBBING_HOME"):
        yield "EBBING_HOME is set here. Set it for the client too, or its memories are kept elsewhere."
    if has_plugin(machine, client):
        yield f"ebbing is also enabled as a plugin of {client.name}: keep one of the two, or hooks run twice."


def _files(changes: Sequence[Change]) -> list[dict[str, Any]]:
    return [{"file": str(item.file), "changed": item.changes, "diff": item.diff()} for item in changes]


def _said(changes: Sequence[Change], *, dry_run: bool) -> Iterator[str]:
    for change in changes:
        if not change.changes:
            yield f"{change.file}: nothing to change"
            continue
        yield f"{change.file}: {_verb(change, dry_run=dry_run)}"
        if dry_run:
            yield click.style(change.diff(), dim=True)


def _verb(change: Change, *, dry_run: bool) -> str:
    verb = "removed" if change.after is None else "created" if change.before is None else "changed"
    return f"would be {verb}" if dry_run else verb


# --- remove ----------------------------------------------------------------------------------------------------------


def _remove(run: Invocation, client: Client | None, scope: Scope | None, *, dry_run: bool) -> None:
    from ..clients.setup import carry_out_removal

    machine, receipts = _machine(run), _receipts(run)
    changes = _removals(machine, receipts, client, scope)
    if not dry_run:
        carry_out_removal(changes, receipts)
    told = [change for change in changes if change.changes]
    data = {"client": client.id if client else None, "dry_run": dry_run, "files": _files(told)}
    run.answer(data, lambda: "\n".join(_said(told, dry_run=dry_run)) or "ebbing is in none of these files.")


def _removals(machine: Machine, receipts: Receipts, client: Client | None, scope: Scope | None) -> list[Change]:
    """The changes of all receipts that are meant, then of files without a receipt that ebbing may stand in."""
    from ..clients.folders import scopes_of
    from ..clients.plans import plans
    from ..clients.programs import Programs
    from ..clients.setup import work_out_removal, work_out_stripping
    from ..clients.table import CLIENTS

    programs = Programs(("ebbing",), ("ebbing-hook",))
    places: list[tuple[Client, Scope]] = [
        (one, each) for one in ([client] if client else CLIENTS) for each in scopes_of(one)
    ]
    asked: list[tuple[Client, Scope]] = [(one, each) for one, each in places if scope in (None, each)]
    meant = [plan for one, each in asked for plan in plans(machine, one, each, programs)]
    here = {plan.file for plan in meant}
    kept = [
        receipt
        for receipt in receipts.all()
        if (client is None or receipt.client == client.id) and (scope is None or receipt.file in here)
    ]
    done = {(receipt.client, receipt.file) for receipt in kept}
    loose = [plan for plan in meant if (plan.client.id, plan.file) not in done]
    return [*map(work_out_removal, kept), *map(work_out_stripping, loose)]


# --- list ------------------------------------------------------------------------------------------------------------


def _list(run: Invocation) -> None:
    from ..clients.inspection import inspect

    found = inspect(run.environment(), _machine(run).project)
    run.answer({"clients": [asdict(row) for row in found]}, lambda: "\n".join(_rows(found)))


def _rows(found: Sequence[Standing]) -> Iterator[str]:
    if not found:
        yield "No client that ebbing knows was found here. `ebbing setup CLIENT` sets it up all the same."
    colours = {"in place": "green", "absent": None}
    for row in found:
        mark = click.style(f"{row.state:<12}", fg=colours.get(row.state, "yellow"))
        yield f"{mark}{row.name} ({row.scope}): {row.text}"
        if row.remedy:
            yield f"{'':<12}→ {row.remedy}"
