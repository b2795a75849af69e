"""Do the exact laws of a forgetting store hold? Simulation against theory.

    python scripts/bench/stationary.py [--json]

- size_error: relative error of a store's mean size. A memory is used at rate ν and forgotten at the first gap longer
  than the window w, so that it lives E[L] = (e^(νw) − 1)/ν, and memories saved at rate α make a store of α·E[L]
  (Little's law). w is the product's: the time until an unused fact's retention falls below archive, with stability
  held at its base, which is what makes the law exact.
- ks_max_over_critical: the largest of the Kolmogorov–Smirnov distances below, over its critical value at 1 %:
  shot noise (uses at rate ν, each adding an exponential amount of mean J, decaying with time constant θ) against
  Gamma(νθ, J); diffusion in a potential U with noise T between reflecting walls against the stationary solution
  e^(−U/T) of its Fokker–Planck equation, from all particles at the left wall and from all at the right one.

The product is deterministic; these are the laws that a population of memories follows under random use.
"""

from __future__ import annotations

from math import exp, expm1, lgamma, sqrt
from typing import Final

import numpy as np
from _report import Report, Table, argument_parser, publish
from numpy.typing import NDArray

from ebbing.lifecycle.constants import DecaySettings
from ebbing.lifecycle.strength import decay_rate, kind_base, retention, stability, tau_until
from ebbing.schemas.memory import Kind

Floats = NDArray[np.float64]

SEED: Final = 20
SAVED_PER_DAY: Final = 40.0
USED_PER_DAY: Final = 0.05
HORIZON_DAYS: Final = 6000
PARTICLES: Final = 4000
KS_CRITICAL: Final = 1.6276  # 1 %, asymptotic, divided by the root of the sample's size

JUMP: Final = 0.7
JUMPS_PER_DAY: Final = 0.18
THETA_DAYS: Final = 14.0  # the product's time constant of activation
RELAXED: Final = 20.0

TEMPERATURE: Final = 0.5
STEP: Final = 0.0005
STEPS: Final = 6000
GRID: Final = 4001


def forgetting_window() -> float:
    """Days until an unused fact is forgotten, its stability independent of uses."""
    settings = DecaySettings(weight_uses=0.0)
    rate = decay_rate(stability(kind_base(Kind.FACT, settings), spaced_uses=9.0, settings=settings), trust=1.0)
    bound = settings.archive_above - settings.hysteresis
    window = tau_until(bound, rate, 0.0)
    if not retention(rate, window * 0.999) > bound > retention(rate, window * 1.001):
        raise AssertionError(window)
    return window


def lifetimes(rng: np.random.Generator, count: int, window: float) -> Floats:
    """How long each of `count` memories lives: gaps between uses add up until one is longer than the window."""
    life = np.zeros(count)
    alive = np.arange(count)
    while alive.size:
        gaps = rng.exponential(1.0 / USED_PER_DAY, alive.size)
        life[alive] += np.minimum(gaps, window)
        alive = alive[gaps <= window]
    return life


def mean_size(rng: np.random.Generator, window: float) -> float:
    """Mean number of memories in the store over the second half of the horizon."""
    count = int(rng.poisson(SAVED_PER_DAY * HORIZON_DAYS))
    saved = rng.uniform(0.0, HORIZON_DAYS, count)
    gone = saved + lifetimes(rng, count, window)
    start = HORIZON_DAYS / 2
    present = np.minimum(gone, HORIZON_DAYS) - np.maximum(saved, start)
    return float(np.maximum(present, 0.0).sum() / (HORIZON_DAYS - start))


def expected_size(window: float) -> float:
    """α·(e^(νw) − 1)/ν."""
    return SAVED_PER_DAY * expm1(USED_PER_DAY * window) / USED_PER_DAY


def shot_noise(rng: np.random.Generator) -> Floats:
    """The strength of independent memories after twenty time constants of random uses."""
    horizon = RELAXED * THETA_DAYS
    counts = rng.poisson(JUMPS_PER_DAY * horizon, PARTICLES)
    owner = np.repeat(np.arange(PARTICLES), counts)
    ages = rng.uniform(0.0, horizon, owner.size)
    jumps = rng.exponential(JUMP, owner.size)
    left: Floats = jumps * np.exp(-ages / THETA_DAYS)
    return np.bincount(owner, weights=left, minlength=PARTICLES).astype(np.float64)


def gamma_cdf(shape: float, values: Floats) -> Floats:
    """Regularised lower incomplete gamma function, by its power series (all terms positive)."""
    values = np.maximum(values, 1e-300)
    term = np.exp(shape * np.log(values) - values - lgamma(shape + 1.0))
    total = term.copy()
    for place in range(1, 400):
        term *= values / (shape + place)
        total += term
    return total


def potential(place: Floats) -> Floats:
    """U on [0, 1]: two valleys of unequal depth."""
    return 0.5 * np.cos(4.0 * np.pi * place) + place


def slope(place: Floats) -> Floats:
    """The derivative of U."""
    return -2.0 * np.pi * np.sin(4.0 * np.pi * place) + 1.0


def diffused(rng: np.random.Generator, start: float) -> Floats:
    """Particles after Langevin motion from `start`, reflected at 0 and 1."""
    place = np.full(PARTICLES, start)
    scale = sqrt(2.0 * TEMPERATURE * STEP)
    for _ in range(STEPS):
        place = place - slope(place) * STEP + scale * rng.standard_normal(PARTICLES)
        place = 1.0 - np.abs(1.0 - np.abs(place))
    return place


def stationary_cdf(values: Floats) -> Floats:
    """Distribution function of e^(−U/T), normalised on [0, 1], by the trapezoidal rule."""
    grid = np.linspace(0.0, 1.0, GRID)
    density = np.exp(-potential(grid) / TEMPERATURE)
    mass: Floats = np.concatenate([[0.0], np.cumsum((density[1:] + density[:-1]) / 2)])
    return np.asarray(np.interp(values, grid, mass / mass[-1]), dtype=np.float64)


def ks_over_critical(theory: Floats) -> float:
    """Kolmogorov–Smirnov distance of a sample over its critical value, given the theory's CDF at the sample."""
    ordered = np.sort(theory)
    steps = np.arange(ordered.size + 1) / ordered.size
    distance = max(np.max(steps[1:] - ordered), np.max(ordered - steps[:-1]))
    return float(distance) * sqrt(ordered.size) / KS_CRITICAL


def main() -> None:
    """Run and print."""
    as_json = bool(argument_parser(__doc__).parse_args().json)
    rng = np.random.default_rng(SEED)
    window = forgetting_window()
    simulated, expected = mean_size(rng, window), expected_size(window)
    distances = {
        "shot noise": ks_over_critical(gamma_cdf(JUMPS_PER_DAY * THETA_DAYS, shot_noise(rng) / JUMP)),
        "diffusion from the left wall": ks_over_critical(stationary_cdf(diffused(rng, 0.0))),
        "diffusion from the right wall": ks_over_critical(stationary_cdf(diffused(rng, 1.0))),
    }
    figures = {"size_error": abs(simulated / expected - 1.0), "ks_max_over_critical": max(distances.values())}
    tables = [
        Table(
            "store size under a forgetting window",
            ("window, days", "simulated", "expected", "without uses"),
            [[f"{window:.2f}", round(simulated, 1), round(expected, 1), round(SAVED_PER_DAY * window, 1)]],
        ),
        Table("distance over the 1 % critical value", ("law", "ratio"), [[*row] for row in distances.items()]),
    ]
    settings = {
        "saved a day": SAVED_PER_DAY,
        "used a day": USED_PER_DAY,
        "days": HORIZON_DAYS,
        "particles": PARTICLES,
        "fade of one day": round(exp(-1.0 / kind_base(Kind.FACT)), 4),
        "seed": SEED,
    }
    report = Report(bench="stationary", figures=figures, settings=settings, packages=("numpy",), tables=tables)
    publish(report, as_json=as_json)


if __name__ == "__main__":
    main()
