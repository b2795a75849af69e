"""`ebbing run-daily`: do the daily work now."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from .invocation import invocation, shared_options
from .progress import steps

if TYPE_CHECKING:
    from ...schemas.wire import ConsolidateReply


@click.command("run-daily")
@click.option("--dry-run", is_flag=True, help="Only say what would change.")
@shared_options()
@click.pass_context
def command(ctx: click.Context, dry_run: bool) -> int:
    """Take in what hooks observed, let what is unused fade, write the soft prompts and tidy the store.

    A server does this by itself once a day. It works on every scope.
    """
    from ...tools.consolidate import consolidate

    run = invocation(ctx)
    with run.services(with_model=True) as services, steps() as progress:
        reply = consolidate(services, None, dry_run=dry_run, progress=progress)
    run.answer(reply.model_dump(mode="json"), lambda: "\n".join(_text(reply)))
    return 0 if reply.ran else 1


def _text(reply: ConsolidateReply) -> Iterator[str]:
    for step in reply.steps:
        detail = f"  {step.detail}" if step.detail else ""
        yield f"{step.name:<14} {step.changed:>8,} changed {step.seconds:>8.2f} s{detail}"
    yield reply.text
