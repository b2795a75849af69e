"""`ebbing soft-prompt`: what the next session will be told at its start."""

from __future__ import annotations

import click

from .invocation import invocation, shared_options


@click.command("soft-prompt")
@click.option("--fresh", is_flag=True, help="As the daily run would write it now, instead of the text it last wrote.")
@shared_options()
@click.pass_context
def command(ctx: click.Context, fresh: bool) -> None:
    """Show the text that a session of this project starts with."""
    from ...tools.resources import soft_prompt_text

    run = invocation(ctx)
    with run.engine() as engine:
        services = engine.services()
        if fresh:
            prompt = engine.steps().prompt(services.scope, services.clock())
            left_out = [{"id": identifier, "reason": reason} for identifier, reason in prompt.left_out]
            data = {"text": prompt.text, "included": list(prompt.included), "left_out": left_out}
        else:
            data = {"text": soft_prompt_text(services, services.scope)}
    text = str(data["text"]).rstrip() or "Nothing qualifies yet: save a preference, a decision or a procedure."
    run.answer({"scope": services.scope, **data}, lambda: text)
