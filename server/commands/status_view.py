"""The status as a terminal shows it: with bars and colours."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from rich.console import Console
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from .status import budget, details

_WIDTH = 30
_STATES = {"active": "green", "warm": "yellow", "cold": "cyan", "archive": "blue", "forgotten": "bright_black"}
_FULL = 0.85


def draw(facts: Mapping[str, Any]) -> bool:
    """Show the status on standard output; False where that can't show bars."""
    console = Console(highlight=False)
    if not console.is_terminal or console.is_dumb_terminal:
        return False
    console.print(Text(f"{facts['memories']:,} memories of {facts['scope']}", style="bold"), soft_wrap=True)
    most = max(facts["by_state"].values(), default=0)
    states = ((name, count / most if most else 0.0, f"{count:,}") for name, count in facts["by_state"].items())
    console.print(_bars(states, _STATES))
    if facts["by_kind"]:
        most = max(facts["by_kind"].values())
        console.print(Text("kinds", style="bold"))
        console.print(_bars((name, count / most, f"{count:,}") for name, count in facts["by_kind"].items()))
    console.print(Text("budget", style="bold"))
    shares = list(budget(facts))
    console.print(_bars(shares, {name: "red" for name, share, _ in shares if share >= _FULL}))
    for line in details(facts):
        console.print(Text(line), soft_wrap=True)
    return True


def _bars(rows: Iterable[tuple[str, float, str]], colours: Mapping[str, str] | None = None) -> Table:
    """A line for each name, share (0 to 1) and figure."""
    table = Table.grid(padding=(0, 1))
    table.add_column(min_width=12)
    table.add_column(width=_WIDTH)
    table.add_column(justify="right")
    for name, share, figure in rows:
        colour = (colours or {}).get(name, "magenta")
        bar = ProgressBar(1.0, min(1.0, share), _WIDTH, complete_style=colour, finished_style=colour)
        table.add_row(Text(f"  {name}", style=colour), bar, Text(figure))
    return table
