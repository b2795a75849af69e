"""`ebbing recall`: ask what is remembered."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from .invocation import invocation, shared_options
from .save import KINDS

if TYPE_CHECKING:
    from ...schemas.wire import RecalledMemory, RecallReply


@click.command("recall")
@click.argument("words", nargs=-1, metavar="[QUESTION]...")
@click.option("--ids", multiple=True, metavar="ID", help="Read these memories whole; several times, or with commas.")
@click.option("--kind", "kinds", type=click.Choice(KINDS), multiple=True, help="Only this kind; several times.")
@click.option("--limit", type=int, default=10, show_default=True, help="At most this many memories.")
@click.option("--max-tokens", type=int, default=4000, show_default=True, help="At most this much text.")
@click.option("--since", metavar="DATE", help="Recorded on this day or later (ISO 8601).")
@click.option("--until", metavar="DATE", help="Recorded on this day or before.")
@click.option("--as-of", metavar="DATE", help="What was valid then.")
@click.option("--include-faded", is_flag=True, help="Also what was forgotten.")
@click.option("--explain", is_flag=True, help="Say how the answer came about.")
@shared_options()
@click.pass_context
def command(ctx: click.Context, words: tuple[str, ...], ids: tuple[str, ...], **given: Any) -> None:
    """Ask what is remembered, in plain words; exact names and "quoted text" are matched exactly."""
    from ...tools.recall import RecallArguments, recall

    wanted = [identifier.strip() for part in ids for identifier in part.split(",") if identifier.strip()]
    arguments = RecallArguments(query=" ".join(words), ids=wanted, **given)
    run = invocation(ctx)
    with run.services(with_model=not wanted) as services:
        reply = recall(services, arguments)
    run.answer(reply.model_dump(mode="json"), lambda: "\n".join(_text(reply, explain=arguments.explain)))


def _text(reply: RecallReply, *, explain: bool) -> Iterator[str]:
    if not reply.memories:
        yield "Nothing relevant is remembered."
    for number, memory in enumerate(reply.memories, 1):
        yield from _memory(number, memory, explain=explain)
    if reply.omitted:
        yield f"{reply.omitted} more did not fit: raise --max-tokens, or read one whole with --ids."
    if reply.below_floor:
        yield f"{reply.below_floor} weak matches were left out."
    yield from reply.notices
    if explain and reply.explanation is not None:
        yield f"Taken for a question of class {reply.explanation['class']}."
        yield from (f"- {reason}" for reason in reply.explanation["reasons"])


def _memory(number: int, memory: RecalledMemory, *, explain: bool) -> Iterator[str]:
    parts = [memory.recorded_at[:10], memory.kind, memory.state, f"trust {memory.trust:.2f}"]
    if memory.source:
        parts.append(memory.source)
    if memory.valid_to:
        parts.append(f"valid to {memory.valid_to[:10]}")
    yield click.style(f"{number}. {' · '.join(parts)}", bold=True)
    yield from (f"   {line}" for line in memory.text.splitlines())
    found = f", score {memory.score:.3f}, found by {' and '.join(memory.found_by)}" if explain else ""
    yield click.style(f"   {memory.id}{found}", dim=True)
