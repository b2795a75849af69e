"""`ebbing status`: what is remembered, how sharp it is, and when it is tidied."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import click

from .invocation import invocation, shared_options

_BAR = 30
_UNITS = ("bytes", "KiB", "MiB", "GiB")
_COLOURS = {"active": "green", "warm": "yellow", "cold": "cyan", "archive": "blue", "forgotten": "bright_black"}


@click.command("status")
@shared_options()
@click.pass_context
def command(ctx: click.Context) -> None:
    """Show what this project's memory holds, by state and kind, and when it was last tidied."""
    from ...tools.status import status

    run = invocation(ctx)
    with run.services() as services:
        facts = status(services)
    run.answer(facts, lambda: "\n".join(_text(facts)))


def _text(facts: Mapping[str, Any]) -> Iterator[str]:
    yield f"{facts['memories']:,} memories of {facts['scope']}"
    yield from bars(facts["by_state"])
    if facts["by_kind"]:
        yield ", ".join(f"{count:,} {kind}" for kind, count in facts["by_kind"].items())
    everything, database = facts["all_scopes"], facts["database"]
    yield ""
    yield f"store     {database['path']}, {size(database['bytes'])}, schema {database['schema']}"
    yield f"          {everything['memories']:,} memories in {everything['scopes']:,} scopes"
    yield f"          {facts['embedded']:,} embedded"
    yield f"spool     {size(facts['spool_bytes'])} waiting"
    yield f"last run  {facts['last_run'] or 'never'}"
    if changes := ", ".join(f"{name} {count:,}" for name, count in facts["last_changes"].items() if count):
        yield f"          changed: {changes}"
    yield f"next run  {facts['next_run'] or 'when a server has been quiet for a minute'}"


def bars(by_state: Mapping[str, int]) -> Iterator[str]:
    """A line with a bar for each state."""
    most = max(by_state.values(), default=0)
    for state, count in by_state.items():
        length = -(-_BAR * count // most) if most else 0
        bar = click.style("█" * length, fg=_COLOURS.get(state)) + "·" * (_BAR - length)
        yield f"  {state:<10} {bar} {count:>7,}"


def size(count: float) -> str:
    """Bytes for people."""
    for unit in _UNITS[:-1]:
        if count < 1024:  # noqa: PLR2004 - what a unit of bytes is
            return f"{count:,.0f} {unit}" if unit == "bytes" else f"{count:,.1f} {unit}"
        count /= 1024
    return f"{count:,.1f} {_UNITS[-1]}"
