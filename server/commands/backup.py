"""`ebbing backup`: a whole copy of the store."""

from __future__ import annotations

from pathlib import Path

import click

from ...schemas.errors import InvalidInputError
from .invocation import invocation, shared_options
from .progress import working
from .status import size


@click.command("backup")
@click.argument("file", required=False, metavar="[FILE]")
@click.option("--force", is_flag=True, help="Write over FILE if it exists.")
@shared_options()
@click.pass_context
def command(ctx: click.Context, file: str | None, force: bool) -> None:
    """Copy the store, embeddings and indexes too, into FILE or among its backups, of which the newest five are kept.

    Servers may go on meanwhile. `ebbing restore` puts such a copy back.
    """
    run = invocation(ctx)
    target = None if file is None else Path(file)
    if target is not None and target.exists() and not force:
        raise InvalidInputError(f"{target} exists: --force writes over it")
    with run.services() as services, working("copying the store"):
        if target is None:
            target = services.store.backups.make("by-hand", services.clock())
        else:
            services.store.backups.write_to(target)
        memories, written = services.store.memories.count(), target.stat().st_size
    data = {"file": str(target), "bytes": written, "memories": memories}
    run.answer(data, lambda: f"Copied {memories:,} memories to {target}, {size(written)}.")
