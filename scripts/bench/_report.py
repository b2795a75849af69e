"""How every benchmark reports: tables for people, or with --json one object for programs, on standard output."""

from __future__ import annotations

import argparse
import json
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata

from rich.console import Console
from rich.table import Table as RichTable

Setting = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Table:
    """A titled table; the first column is text, the others are shown as they come (floats with four decimals)."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Setting]]


@dataclass(frozen=True, slots=True)
class Report:
    """What one benchmark found.

    Attributes:
        bench: its name.
        figures: the named results, numbers only.
        settings: what they depend on: data, sizes, seeds.
        packages: the distributions whose versions matter, beside ebbing's and Python's own.
        tables: what people see besides the figures.
    """

    bench: str
    figures: Mapping[str, float]
    settings: Mapping[str, Setting]
    packages: Sequence[str] = ()
    tables: Sequence[Table] = ()


def argument_parser(description: str | None) -> argparse.ArgumentParser:
    """A parser that already knows --json."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of tables")
    return parser


def publish(report: Report, *, as_json: bool) -> None:
    """Print the report to standard output."""
    if as_json:
        print(json.dumps(as_object(report)))
        return
    console = Console(width=None if Console().is_terminal else 120)
    for table in report.tables:
        console.print(_drawn(table))
    console.print(_drawn(Table(report.bench, ("figure", "value"), list(report.figures.items()))))
    remarks = {**report.settings, **versions(report.packages)}
    console.print(", ".join(f"{name} {value}" for name, value in remarks.items()), style="dim", highlight=False)


def as_object(report: Report) -> dict[str, object]:
    """The report as one JSON object: bench, figures, settings, versions."""
    return {
        "bench": report.bench,
        "figures": {name: round(float(value), 6) for name, value in report.figures.items()},
        "settings": dict(report.settings),
        "versions": versions(report.packages),
    }


def versions(packages: Sequence[str]) -> dict[str, str]:
    """The versions of Python, ebbing and `packages`; "missing" for one that is not installed."""
    return {"python": platform.python_version()} | {name: _version(name) for name in ("ebbing", *packages)}


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "missing"


def _drawn(table: Table) -> RichTable:
    drawn = RichTable(title=table.title, title_justify="left", min_width=len(table.title))
    for index, column in enumerate(table.columns):
        drawn.add_column(column, justify="right" if index else "left")
    for row in table.rows:
        drawn.add_row(*(_cell(value) for value in row))
    return drawn


def _cell(value: Setting) -> str:
    return f"{value:.4f}" if isinstance(value, float) else str(value)
