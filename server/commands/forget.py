"""`ebbing forget`: let memories fade at once, erase them for good, or bring them back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from .invocation import Invocation, invocation, shared_options

if TYPE_CHECKING:
    from ...schemas.wire import ForgetReply


@click.command("forget")
@click.argument("memory_ids", nargs=-1, metavar="[ID]...")
@click.option("--query", metavar="QUESTION", help="Show what this finds and ask about it, instead of ids.")
@click.option(
    "--mode",
    type=click.Choice(("fade", "erase", "restore")),
    default="fade",
    show_default=True,
    help="fade can be undone with restore; erase removes every trace and checks that none is left.",
)
@click.option("--dry-run", is_flag=True, help="Only show what would be affected.")
@click.option("-y", "--yes", is_flag=True, help="Don't ask.")
@shared_options()
@click.pass_context
def command(
    ctx: click.Context, memory_ids: tuple[str, ...], query: str | None, mode: str, dry_run: bool, yes: bool
) -> int:
    """Forget memories by id, or those that a question finds and you agree to."""
    from ...tools.forget import forget

    if bool(memory_ids) == (query is not None):
        raise click.UsageError("Give either ids or --query")
    if yes and query is not None and not dry_run:
        raise click.UsageError("What a question finds is a guess: name the ids to forget them without being asked")
    run = invocation(ctx)
    with run.services(with_model=query is not None) as services:
        reply = forget(services, memory_ids, query, mode, dry_run=True)
        if reply.ids and not dry_run and (yes or mode == "restore" or _agreed(run, reply)):
            reply = forget(services, reply.ids, None, mode, confirmed=True)
    run.answer(reply.model_dump(mode="json"), lambda: _text(reply, asked=dry_run))
    return 1 if reply.verified is False else 0


def _agreed(run: Invocation, preview: ForgetReply) -> bool:
    from ...schemas.errors import ConfirmationRequiredError

    if run.as_json:
        raise ConfirmationRequiredError(f"{preview.mode} needs a yes: repeat it with --yes")
    click.echo(preview.text, err=True)
    question = "Erase for good? This can't be undone." if preview.mode == "erase" else "Let fade?"
    return click.confirm(question, err=True)


def _text(reply: ForgetReply, *, asked: bool) -> str:
    if not reply.dry_run:
        return reply.text
    return reply.text if asked or not reply.ids else "Nothing was changed."
