"""`ebbing learn`: say how recalled memories turned out."""

from __future__ import annotations

import click

from .invocation import invocation, shared_options


@click.command("learn")
@click.argument("signal", type=click.Choice(("used", "useful", "wrong", "outdated")))
@click.argument("memory_ids", nargs=-1, metavar="[ID]...")
@click.option("--recall-id", metavar="ID", help="Every memory that this recall showed, instead of ids.")
@click.option("--note", help="Why.")
@shared_options()
@click.pass_context
def command(
    ctx: click.Context, signal: str, memory_ids: tuple[str, ...], recall_id: str | None, note: str | None
) -> None:
    """Say how memories turned out: used ones stay sharp, wrong ones lose trust, outdated ones end."""
    from ...tools.learn import learn

    run = invocation(ctx)
    with run.services() as services:
        reply = learn(services, signal, memory_ids, recall_id, note)
    run.answer(reply.model_dump(mode="json"), lambda: reply.text)
