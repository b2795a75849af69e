"""`ebbing doctor`: check everything, say what to do, and on request repair what can be derived."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from .invocation import Invocation, invocation, shared_options
from .progress import working

if TYPE_CHECKING:
    from ..doctor import Finding

_MARKS = {"ok": ("ok", "green"), "note": ("note", "yellow"), "problem": ("PROBLEM", "red")}


@click.command("doctor")
@click.option("--fix", is_flag=True, help="Repair what follows from something else; look for lost texts in backups.")
@shared_options()
@click.pass_context
def command(ctx: click.Context, fix: bool) -> int:
    """Check the store, the model, the indexes, the spool, the clients and the clock, and say what to do.

    Nothing is changed without --fix. The exit code is 1 when there is a problem.
    """
    run = invocation(ctx)
    findings = _look(run)
    wanted = {finding.fix for finding in findings if finding.fix is not None} if fix else set[str]()
    if wanted:
        _repair(run, wanted)
        findings = _look(run)
    sound = all(finding.level != "problem" for finding in findings)
    data = {"ok": sound, "fixed": sorted(wanted), "findings": [asdict(finding) for finding in findings]}
    run.answer(data, lambda: "\n".join(_text(findings, wanted, sound=sound)))
    return 0 if sound else 1


def _look(run: Invocation) -> list[Finding]:
    with working("checking"):
        from ..clients.inspection import inspect
        from ..doctor import diagnose
        from ..engine import system_clock
        from .setup import project_folder

        settings = run.settings()
        clock = run.clock or system_clock(settings.clock_offset_days)
        env = run.environment()
        return diagnose(settings, clock(), inspect(env, project_folder(env)))


def _repair(run: Invocation, wanted: set[str]) -> None:
    with working("putting right what follows from something else"):
        from ..engine import system_clock
        from ..repairing import repair

        settings = run.settings()
        clock = run.clock or system_clock(settings.clock_offset_days)
        repair(settings.home, wanted, clock(), run.services)


def _text(findings: Sequence[Finding], fixed: set[str], *, sound: bool) -> Iterator[str]:
    for finding in findings:
        mark, colour = _MARKS[finding.level]
        yield f"{click.style(f'{mark:<8}', fg=colour)}{finding.check}: {finding.text}"
        if finding.remedy:
            yield f"{'':<8}→ {finding.remedy}"
    if fixed:
        yield f"Repaired: {', '.join(sorted(fixed))}."
    yield "Everything is in order." if sound else "Something needs attention."
