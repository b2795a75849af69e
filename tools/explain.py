"""explain: why a memory is in its state, with every figure that it depends on."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from ..lifecycle.explain import Explanation
from ..lifecycle.explain import explain as explained
from ..schemas.instants import iso
from ..schemas.memory import State
from ..store.journal import Entry
from .checks import memories_by_id, visible_scopes
from .services import Services

_NEIGHBOURS_SHOWN = 5


def explain(services: Services, identifier: str, scope: str | None = None) -> dict[str, Any]:
    """A memory's figures as of now: the terms of S with their inputs, clock, λ, R, states, history, what comes next.

    Raises:
        UnknownMemoryError: if no memory with this id can be seen from here.
        StoreError: if the store can't be read.
    """
    services.showings.settle()
    [memory] = memories_by_id(services, [identifier], visible_scopes(services, scope))
    return as_object(explained(services.store, memory, services.clock(), services.decay), services)


def as_object(found: Explanation, services: Services) -> dict[str, Any]:
    """An explanation as one JSON object. Days are days of the scope's activity clock unless named otherwise."""
    memory, settings = found.memory, services.decay
    figures, terms = memory.strength, found.terms
    weighted = (
        ("spaced uses", settings.weight_uses, "ln(1 + a)", figures.spaced_uses, terms.uses),
        ("importance", settings.weight_importance, "ι", memory.importance, terms.importance),
        ("confirmations", settings.weight_confirmations, "γ", memory.confirmations, terms.confirmations),
        ("arousal", settings.weight_arousal, "ε", memory.arousal, terms.arousal),
        ("association", settings.weight_association, "L", found.association, terms.association),
        ("activation", settings.weight_activation, "ρ", found.activation, terms.activation),
    )
    return {
        "id": memory.id,
        "scope": memory.scope,
        "kind": str(memory.kind),
        "cue": memory.cue,
        "at": iso(found.at),
        "state": figures.state.label,
        "state_after_daily_run": found.state.label,
        "pinned": memory.pinned,
        "forgotten_at": None if memory.forgotten_at is None else iso(memory.forgotten_at),
        "evicted_at": None if found.evicted_at is None else iso(found.evicted_at),
        "merged_into": memory.merged_into,
        "expires_at": None if memory.expires_at is None else iso(memory.expires_at),
        "clock": {"tau": found.tau, "tau_of_last_use_or_save": figures.anchor_tau, "elapsed_days": found.elapsed_days},
        "uses": figures.uses,
        "last_use": None if figures.last_use_at is None else iso(figures.last_use_at),
        "terms": [
            {"name": name, "weight": weight, "of": of, "input": value, "adds": adds}
            for name, weight, of, value, adds in weighted
        ],
        "base_days": terms.base_days,
        "stability_days": terms.stability_days,
        "trust": memory.trust,
        "trust_kappa": settings.trust_kappa,
        "rate_per_day": found.rate,
        "retention": found.retention,
        "thresholds": dict(zip((state.label for state in State), found.thresholds, strict=False)),
        "hysteresis": found.hysteresis,
        "hot": found.hot,
        "bit_width": figures.bit_width,
        "bit_width_after_daily_run": found.bit_width,
        "neighbours": [
            {"id": neighbour.id, "weight": neighbour.weight, "retention": neighbour.retention}
            for neighbour in found.neighbours
        ],
        "next": None if found.upcoming is None else _next(found),
        "history": [_line(entry) for entry in found.history],
    }


def text_of(facts: Mapping[str, Any]) -> Iterator[str]:
    """An explanation for people, line by line."""
    clock = facts["clock"]
    yield f"{facts['id']} ({facts['kind']}, {facts['state']}) {facts['cue']}"
    yield ""
    yield f"S = {facts['base_days']:g} days · (1 + terms) = {facts['stability_days']:.2f} days"
    for term in facts["terms"]:
        yield f"  {term['name']:<14} {term['weight']:g} · {term['of']:<9} = {term['adds']:.3f}   ({term['input']:g})"
    for neighbour in facts["neighbours"][:_NEIGHBOURS_SHOWN]:
        yield f"    linked to {neighbour['id']}: weight {neighbour['weight']:.2f}, R {neighbour['retention']:.2f}"
    yield f"λ = (1 + {facts['trust_kappa']:g}·(1 − trust {facts['trust']:.2f})) / S = {facts['rate_per_day']:.4f} a day"
    yield f"Δτ = {clock['tau']:.2f} − {clock['tau_of_last_use_or_save']:.2f} = {clock['elapsed_days']:.2f} days"
    yield f"R = {'1 (pinned)' if facts['pinned'] else 'e^(−λ·Δτ) = ' + format(facts['retention'], '.3f')}"
    bounds = ", ".join(f"{state} from {bound:g}" for state, bound in facts["thresholds"].items())
    yield f"states: {bounds}, ± {facts['hysteresis']:g}; embedding {facts['bit_width']} bit"
    yield from _outlook(facts)
    yield ""
    yield from (f"{entry['at']}  {entry['event']} {entry['detail']}".rstrip() for entry in facts["history"])


def _outlook(facts: Mapping[str, Any]) -> Iterator[str]:
    for name, said in (("forgotten_at", "forgotten on purpose"), ("evicted_at", "evicted"), ("expires_at", "expires")):
        if facts[name] is not None:
            yield f"{said}: {facts[name]}"
    if facts["merged_into"] is not None:
        yield f"merged into {facts['merged_into']}; forget with mode restore undoes it"
    if facts["state_after_daily_run"] != facts["state"]:
        yield f"the next daily run makes it {facts['state_after_daily_run']}"
    coming = facts["next"]
    if coming is not None and coming["active_days"] is not None:
        yield (
            f"unused, it will be {coming['state']} in {coming['active_days']:.1f} active days"
            f" or {coming['idle_days']:.0f} idle ones"
        )


def _next(found: Explanation) -> dict[str, Any]:
    coming = found.upcoming
    assert coming is not None  # noqa: S101 - the caller has looked
    days = {"tau_days": coming.tau_days, "active_days": coming.active_days, "idle_days": coming.idle_days}
    # JSON has no infinity: None says that it never gets there.
    return {
        "state": coming.state.label,
        **{name: value if math.isfinite(value) else None for name, value in days.items()},
    }


def _line(entry: Entry) -> dict[str, str]:
    shown = {name: value for name, value in entry.data.items() if name != "links" and value is not None}
    if "links" in entry.data:
        shown["links"] = len(entry.data["links"])
    detail = ", ".join(
        f"{name} {value:.3g}" if isinstance(value, float) else f"{name} {value}" for name, value in shown.items()
    )
    return {"at": iso(entry.at), "event": str(entry.event), "detail": detail}
