"""`ebbing soft-prompt`: what the next session will be told at its start."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import click

from .invocation import invocation, shared_options

_LISTED = 40


@click.command("soft-prompt")
@click.option("--fresh", is_flag=True, help="As the daily run would write it now, instead of the text it last wrote.")
@click.option("--explain", is_flag=True, help="The fresh text with its size, and what was left out of it and why.")
@shared_options()
@click.pass_context
def command(ctx: click.Context, fresh: bool, explain: bool) -> None:
    """Show the text that a session of this project starts with."""
    from ...tools.resources import soft_prompt_text

    run = invocation(ctx)
    with run.engine() as engine:
        services = engine.services()
        if fresh or explain:
            prompt = engine.steps().prompt(services.scope, services.clock())
            left_out = [{"id": one.id, "reason": one.reason, "text": one.text} for one in prompt.left_out]
            data = {
                "text": prompt.text,
                "tokens": prompt.tokens,
                "included": list(prompt.included),
                "left_out": left_out,
            }
        else:
            data = {"text": soft_prompt_text(services, services.scope)}
    facts: dict[str, Any] = {"scope": services.scope, **data}
    run.answer(facts, lambda: "\n".join([_told(facts), *(_explained(facts) if explain else [])]))


def _told(facts: Mapping[str, Any]) -> str:
    return str(facts["text"]).rstrip() or "Nothing qualifies yet: save a preference, a decision or a procedure."


def _explained(facts: Mapping[str, Any]) -> Iterator[str]:
    left_out = facts["left_out"]
    yield ""
    yield f"{len(facts['included'])} lines, {facts['tokens']:,} tokens, {len(facts['text']):,} characters"
    yield f"{len(left_out)} left out" + (":" if left_out else "")
    for one in left_out[:_LISTED]:
        yield f"  {one['reason']}: {one['text']} [{one['id']}]"
    if len(left_out) > _LISTED:
        yield f"  … and {len(left_out) - _LISTED} more: --json lists them all"
