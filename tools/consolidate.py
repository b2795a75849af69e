"""consolidate: run the daily work now."""

from __future__ import annotations

from ..lifecycle.daily import DailyReport, Progress, no_progress
from ..schemas.wire import ConsolidateReply, StepReport
from .checks import scope_key
from .services import Services


def consolidate(
    services: Services, scope: str | None = None, *, dry_run: bool = False, progress: Progress = no_progress
) -> ConsolidateReply:
    """Run every step of the daily run, as of now.

    Raises:
        StoreError: if a step can't go on; what was done stays done.
    """
    chosen = None if scope is None else scope_key(services, scope)
    services.showings.settle()
    report = services.daily.run(services.clock(), dry_run=dry_run, scope=chosen, asked=True, progress=progress)
    return ConsolidateReply(
        ran=report.ran,
        dry_run=report.dry_run,
        steps=[
            StepReport(name=step.name, changed=step.changed, seconds=step.seconds, detail=step.detail)
            for step in report.steps
        ],
        text=describe(report),
    )


def describe(report: DailyReport) -> str:
    """A report in a sentence or two."""
    if not report.ran:
        return "Another process is consolidating right now; nothing was done here."
    verb = "would change" if report.dry_run else "changed"
    done = ", ".join(f"{step.name} {verb} {step.changed}" for step in report.steps if step.changed)
    return (done or "Nothing to do") + "." + _ending(report)


def _ending(report: DailyReport) -> str:
    failed = [f"{step.name} failed: {step.detail}" for step in report.steps if step.failed]
    if failed:
        return f" {'; '.join(failed)}. The next run goes on."
    return "" if report.finished else " It was stopped early and goes on with the next run."
