"""`ebbing status`: what is remembered, how sharp it is, what it takes up, and when it is tidied."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import click

from .invocation import invocation, shared_options

_UNITS = ("bytes", "KiB", "MiB", "GiB")
_WHY = {"evicted": "the budget", "expired": "their expiry"}


@click.command("status")
@click.option("--learned", is_flag=True, help="What feedback has taught about the channels, by class of question.")
@click.option("--reset", is_flag=True, help="Forget that, so that every channel counts as by default.")
@shared_options()
@click.pass_context
def command(ctx: click.Context, learned: bool, reset: bool) -> None:
    """Show what this project's memory holds by state and kind, the budget, evictions, and when it is tidied."""
    from ...tools.status import learned_facts, status

    run = invocation(ctx)
    with run.services() as services:
        if learned or reset:
            known = learned_facts(services, reset=reset)
            run.answer(known, lambda: "\n".join(_taught(known)))
            return
        facts = status(services)
    if run.as_json or not _may_draw():
        run.answer(facts, lambda: "\n".join(plain(facts)))
        return
    from .status_view import draw

    if not draw(facts):
        run.answer(facts, lambda: "\n".join(plain(facts)))


def _taught(known: Mapping[str, Any]) -> Iterator[str]:
    if known["reset"]:
        yield "Forgotten: every channel counts as by default."
    elif not known["learned"]:
        yield "Nothing was learned yet: every channel counts as by default."
    if known["learned"]:
        yield f"Believed to {known['believed']:.0%}, by how well it has foreseen the signals."
    for name, one in known["learned"].items():
        yield f"{name}, {one['signals']:g} signals"
        yield from (f"  {channel:<12}× {value:.3f}" for channel, value in one["multipliers"].items())


def _may_draw() -> bool:
    # Asked before rich is loaded, which takes longer than the rest of the command.
    return sys.stdout.isatty() or bool(os.environ.get("FORCE_COLOR"))


def plain(facts: Mapping[str, Any]) -> Iterator[str]:
    """The status without bars and colours, line by line."""
    yield f"{facts['memories']:,} memories of {facts['scope']}"
    yield from (f"  {state:<12}{count:>9,}" for state, count in facts["by_state"].items())
    if facts["by_kind"]:
        yield "kinds"
        yield from (f"  {kind:<12}{count:>9,}" for kind, count in facts["by_kind"].items())
    yield "budget"
    yield from (f"  {name:<12}{said}" for name, _, said in budget(facts))
    yield from details(facts)


def budget(facts: Mapping[str, Any]) -> Iterator[tuple[str, float, str]]:
    """For memories and bytes: the name, the share of the budget in use, and both figures for people."""
    held = facts["budget"]
    for name, form in (("memories", _number), ("bytes", size)):
        share = held[name] / held[f"of_{name}"] if held[f"of_{name}"] else 0.0
        yield name, share, f"{form(held[name])} of {form(held[f'of_{name}'])} ({share:.1%})"


def details(facts: Mapping[str, Any]) -> Iterator[str]:
    """What has no bar: evictions, the store, the spool, the daily run."""
    held, everything, database = facts["budget"], facts["all_scopes"], facts["database"]
    if held["evicted"]:
        yield f"evicted   {held['evicted']:,} can be had back, the first of them until {held['restorable_until']}"
    for entry in facts["evictions"]:
        yield f"          {entry['at']}: {entry['memories']:,} left because of {_WHY[entry['event']]}"
    for gone in facts["evicted"]:
        yield f"          {gone['id']} {gone['cue']}"
    yield f"store     {database['path']}, {size(database['bytes'])}, schema {database['schema']}"
    yield f"          {everything['memories']:,} memories in {everything['scopes']:,} scopes"
    yield f"          {facts['embedded']:,} embedded"
    yield f"spool     {size(facts['spool_bytes'])} waiting"
    yield f"last run  {_last_run(facts)}"
    if changes := ", ".join(f"{name} {count:,}" for name, count in facts["last_changes"].items() if count):
        yield f"          changed: {changes}"
    yield from (f"          {name} failed: {detail}" for name, detail in facts["last_failures"].items())
    yield f"next run  {facts['next_run'] or 'when a server has been quiet for a minute'}"


def size(count: float) -> str:
    """Bytes for people."""
    for unit in _UNITS[:-1]:
        if count < 1024:  # noqa: PLR2004 - what a unit of bytes is
            return f"{count:,.0f} {unit}" if unit == "bytes" else f"{count:,.1f} {unit}"
        count /= 1024
    return f"{count:,.1f} {_UNITS[-1]}"


def _number(count: float) -> str:
    return f"{count:,.0f}"


def _last_run(facts: Mapping[str, Any]) -> str:
    if facts["last_run"] is None:
        return "never"
    return str(facts["last_run"]) + ("" if facts["last_finished"] else ", stopped before its end")
