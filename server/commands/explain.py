"""`ebbing explain`: why a memory is in its state, figure by figure."""

from __future__ import annotations

import click

from .invocation import invocation, shared_options


@click.command("explain")
@click.argument("memory_id", metavar="ID")
@shared_options()
@click.pass_context
def command(ctx: click.Context, memory_id: str) -> None:
    """Show each figure that a memory's state comes from, its history, and what becomes of it if nobody uses it."""
    from ...tools.explain import explain, text_of

    run = invocation(ctx)
    with run.services() as services:
        facts = explain(services, memory_id)
    run.answer(facts, lambda: "\n".join(text_of(facts)))
