"""Draw the curves of docs/forgetting.md with the product's own functions: python scripts/plots.py."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

from ebbing.lifecycle import clock as activity
from ebbing.lifecycle.constants import DEFAULTS
from ebbing.lifecycle.states import thresholds
from ebbing.lifecycle.strength import decay_rate, kind_base, next_spacing, retention, stability
from ebbing.schemas.activity import ActivityClock
from ebbing.schemas.instants import MICROSECONDS_PER_DAY
from ebbing.schemas.memory import Kind, State

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "plots"
_WIDTH, _HEIGHT = 640, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 48, 132, 34, 44
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
_BANDS = ("#e8f5e9", "#fff8e1", "#e0f2f1", "#e8eaf6", "#f5f5f5")
_STEPS = 96

Point = tuple[float, float]
Line = tuple[str, Sequence[Point]]


@dataclass(frozen=True, slots=True)
class Axes:
    """The ranges of a plot and what stands beside them."""

    title: str
    x_label: str
    y_label: str
    x_most: float
    y_most: float
    x_every: float
    y_every: float
    states: bool = False


def plots() -> dict[str, str]:
    """Each plot's SVG by the name of its file."""
    return {
        "retention.svg": svg(
            Axes("What nobody uses", "active days", "retention R", 120, 1, 20, 0.2, states=True),
            [(str(kind), curve(_unused(kind), 120)) for kind in reversed(list(Kind))],
        ),
        "uses.svg": svg(
            Axes("A fact, and the days on which it is used", "active days", "retention R", 60, 1, 10, 0.2, states=True),
            [(name, _used(days)) for name, days in _HABITS],
        ),
        "trust.svg": svg(
            Axes("A decision, by who said it", "active days", "retention R", 90, 1, 15, 0.2, states=True),
            [(f"{name} ({trust:g})", curve(_trusted(trust), 90)) for name, trust in _SOURCES],
        ),
        "clock.svg": svg(
            Axes("How fast a project's clock runs", "calendar days", "days on its clock", 90, 90, 15, 15),
            [(name, _clock(working)) for name, working in _WORKING],
        ),
    }


_HABITS: tuple[tuple[str, tuple[int, ...]], ...] = (
    ("every few days", (2, 5, 9, 14, 20, 27)),
    ("five times on day 2", (2, 2, 2, 2, 2)),
    ("once, on day 10", (10,)),
    ("never", ()),
)
_SOURCES = (
    ("user", DEFAULTS.trust_user),
    ("tool", DEFAULTS.trust_tool),
    ("agent", DEFAULTS.trust_agent),
    ("outside", DEFAULTS.trust_outside),
)
_DAYS = 90
_WORKING: tuple[tuple[str, frozenset[int]], ...] = (
    ("every day", frozenset(range(_DAYS))),
    ("on weekdays", frozenset(day for day in range(_DAYS) if day % 7 not in {5, 6})),
    ("three weeks off", frozenset(range(_DAYS)) - frozenset(range(30, 51))),
    ("left after a week", frozenset(range(7))),
)


def curve(of: Callable[[float], float], most: float) -> list[Point]:
    """A function's points from 0 to `most`."""
    return [(most * step / _STEPS, of(most * step / _STEPS)) for step in range(_STEPS + 1)]


def _unused(kind: Kind) -> Callable[[float], float]:
    rate = decay_rate(stability(kind_base(kind)), 1.0)
    return lambda days: retention(rate, days)


def _trusted(trust: float) -> Callable[[float], float]:
    rate = decay_rate(stability(kind_base(Kind.DECISION)), trust)
    return lambda days: retention(rate, days)


def _used(days: Sequence[int]) -> list[Point]:
    """Retention of a fact that is used on some days, each use bringing it back to 1 and making it last longer."""
    points: list[Point] = []
    spaced, last, previous = 0.0, 0.0, None
    for use in (*days, None):
        rate = decay_rate(stability(kind_base(Kind.FACT), spaced_uses=spaced), 1.0)
        end = 60.0 if use is None else float(use)
        points += [(last + (end - last) * step / 24, retention(rate, (end - last) * step / 24)) for step in range(25)]
        if use is not None:
            at = use * MICROSECONDS_PER_DAY
            spaced, previous, last = spaced + next_spacing(previous, at), at, end
    return points


def _clock(working: frozenset[int]) -> list[Point]:
    points: list[Point] = []
    clock: ActivityClock | None = None
    for hour in range(_DAYS * 24 + 1):
        now = hour * MICROSECONDS_PER_DAY // 24
        if hour % 24 == 0 and hour // 24 in working:
            clock = activity.touch(clock, now)
        if hour % 24 == 0:
            points.append((hour / 24, activity.tau(clock, now)))
    return points


def svg(axes: Axes, lines: Sequence[Line]) -> str:
    """A plot of some lines, each named at its end."""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{_HEIGHT}">',
        f'<g font-family="sans-serif" font-size="12" role="img" aria-label="{escape(axes.title)}">',
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#ffffff"/>',
        f'<text x="{_LEFT}" y="20" font-size="14" font-weight="bold">{escape(axes.title)}</text>',
        *(_bands(axes) if axes.states else ()),
        *_grid(axes),
    ]
    for number, (name, points) in enumerate(lines):
        colour = _COLOURS[number % len(_COLOURS)]
        path = " ".join(f"{_x(axes, x):.1f},{_y(axes, y):.1f}" for x, y in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.8"/>')
        y = _TOP + 14 + 17 * number
        parts.append(f'<rect x="{_WIDTH - _RIGHT + 10}" y="{y - 5}" width="14" height="3" fill="{colour}"/>')
        parts.append(f'<text x="{_WIDTH - _RIGHT + 28}" y="{y}">{escape(name)}</text>')
    return "\n".join([*parts, "</g></svg>"]) + "\n"


def _bands(axes: Axes) -> list[str]:
    parts: list[str] = []
    bounds = (1.0, *thresholds(), 0.0)
    for state, colour, above, below in zip(State, _BANDS, bounds, bounds[1:], strict=False):
        top, bottom = _y(axes, above), _y(axes, below)
        parts.append(
            f'<rect x="{_LEFT}" y="{top:.1f}" width="{_WIDTH - _LEFT - _RIGHT}" height="{bottom - top:.1f}"'
            f' fill="{colour}"/>'
        )
        if state is not State.FORGOTTEN:
            parts.append(
                f'<text x="{_WIDTH - _RIGHT - 6}" y="{(top + bottom) / 2 + 4:.1f}" text-anchor="end"'
                f' fill="#9e9e9e">{state.label}</text>'
            )
    return parts


def _grid(axes: Axes) -> list[str]:
    left, right, bottom = _LEFT, _WIDTH - _RIGHT, _HEIGHT - _BOTTOM
    parts: list[str] = []
    for step in range(int(axes.x_most / axes.x_every + 1e-9) + 1):
        x = _x(axes, step * axes.x_every)
        parts.append(f'<line x1="{x:.1f}" y1="{bottom}" x2="{x:.1f}" y2="{bottom + 4}" stroke="#616161"/>')
        parts.append(f'<text x="{x:.1f}" y="{bottom + 17}" text-anchor="middle">{step * axes.x_every:g}</text>')
    for step in range(int(axes.y_most / axes.y_every + 1e-9) + 1):
        y = _y(axes, step * axes.y_every)
        parts.append(f'<line x1="{left}" y1="{y:.1f}" x2="{right}" y2="{y:.1f}" stroke="#e0e0e0" stroke-width="0.6"/>')
        parts.append(f'<text x="{left - 6}" y="{y + 4:.1f}" text-anchor="end">{step * axes.y_every:g}</text>')
    middle = (_TOP + bottom) / 2
    parts.append(f'<line x1="{left}" y1="{bottom}" x2="{right}" y2="{bottom}" stroke="#616161"/>')
    parts.append(f'<line x1="{left}" y1="{_TOP}" x2="{left}" y2="{bottom}" stroke="#616161"/>')
    parts.append(
        f'<text x="{(left + right) / 2:.1f}" y="{bottom + 36}" text-anchor="middle">{escape(axes.x_label)}</text>'
    )
    parts.append(
        f'<text x="14" y="{middle:.1f}" text-anchor="middle" transform="rotate(-90 14 {middle:.1f})">'
        f"{escape(axes.y_label)}</text>"
    )
    return parts


def _x(axes: Axes, value: float) -> float:
    return _LEFT + value / axes.x_most * (_WIDTH - _LEFT - _RIGHT)


def _y(axes: Axes, value: float) -> float:
    return _HEIGHT - _BOTTOM - value / axes.y_most * (_HEIGHT - _TOP - _BOTTOM)


def main() -> None:
    """Write the files."""
    FOLDER.mkdir(exist_ok=True)
    for name, text in plots().items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
