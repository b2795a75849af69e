"""`ebbing save`: keep a piece of knowledge."""

from __future__ import annotations

import sys

import click

from .invocation import invocation, shared_options

KINDS = ("observation", "episode", "fact", "procedure", "decision", "preference")


@click.command("save")
@click.argument("text")
@click.option("--kind", type=click.Choice(KINDS), default="fact", show_default=True, help="What sort of thing it is.")
@click.option("--importance", type=float, help="0 to 1; by default it is judged by the text.")
@click.option("--pinned", is_flag=True, help="Never let it fade.")
@click.option("--tag", "tags", multiple=True, help="A tag; may be given several times.")
@click.option("--supersedes", multiple=True, metavar="ID", help="A memory that this one replaces; several times.")
@click.option("--valid-from", metavar="DATE", help="Since when it is true (ISO 8601).")
@click.option("--valid-to", metavar="DATE", help="Until when it is true.")
@click.option("--expires", "expires_at", metavar="DATE", help="When to forget it.")
@click.option("--source", help="The file, commit or address it comes from.")
@click.option(
    "--said-by",
    type=click.Choice(("user", "tool", "agent", "outside")),
    default="user",
    show_default=True,
    help="Who says so; sets how far it is trusted.",
)
@shared_options()
@click.pass_context
def command(ctx: click.Context, text: str, **given: object) -> None:
    """Save TEXT as a memory of this project; `-` reads it from standard input.

    Saying the same again confirms what is known. Secrets are removed before anything is stored.
    """
    from ...tools.save import SaveArguments, save

    content = sys.stdin.buffer.read().decode("utf-8", "replace") if text == "-" else text
    arguments = SaveArguments(content=content, **given)  # pyright: ignore[reportArgumentType]  # click made them
    run = invocation(ctx)
    with run.services(with_model=True) as services:
        reply = save(services, arguments)
    run.answer(reply.model_dump(mode="json"), lambda: reply.text[:1].upper() + reply.text[1:])
