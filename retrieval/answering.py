"""From a context to a ranking: direct channels, the fitted model, seeded channels, bonus, reserved places."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from .bonus import spread_out, with_bonus, with_places
from .channels.base import Context, Ranking
from .channels.registry import DIRECT, SEEDED, channel
from .evidence import Evidence, gather
from .fusion import fused, weights_for
from .learned import Multipliers, Parts, multiplied, parts_of, reweighted, with_bonus_parts
from .router import ROUTES, Route
from .rrf import reciprocal_ranks
from .settings import RecallSettings
from .verbatim import verbatim_first

# A shorter answer has no place to give away.
_LEAST_FOR_PLACES: Final = 5


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """What a question found.

    Attributes:
        model: the pool ranked by the fitted model alone.
        ranking: the final order, the places kept for associations included.
        found: each channel's own ranking.
        parts: what each channel contributes to the scores of the model's rows, by default.
    """

    evidence: Evidence
    model: Ranking
    ranking: Ranking
    found: Mapping[str, Ranking]
    parts: Parts


def answer(context: Context, settings: RecallSettings, limit: int, learned: Multipliers | None = None) -> Answer:
    """Search and fuse; `learned` makes channels count more or less than by default.

    Raises:
        StoreError: if the store can't be read.
    """
    evidence = gather(context, [name for name in DIRECT if name in settings.channels])
    model = verbatim_first(context, fused(context, evidence, settings))
    route = ROUTES[context.analysis.query_class]
    found = dict(evidence.rankings)
    asked = SEEDED if settings.fusion == "rrf" else [name for name in SEEDED if name in route.bonus]
    seeded = replace(context, seeds=model)
    for name in asked:
        if name in settings.channels:
            found[name] = channel(name).search(seeded)
    parts = parts_of(model, evidence.features, weights_for(context, settings))
    parts = with_bonus_parts(parts, model, found, route.bonus, settings.bonus)
    if settings.fusion == "rrf":
        ranking = reciprocal_ranks(found, len(context.layout), settings.pool)
    else:
        multipliers = learned or {}
        adapted = reweighted(model, parts, multipliers)
        own = replace(route, bonus=multiplied(route.bonus, multipliers))
        ranking = _associated(context, adapted, found, own, settings, limit)
    return Answer(evidence, model, ranking, found, parts)


def _associated(
    context: Context, model: Ranking, found: Mapping[str, Ranking], route: Route, settings: RecallSettings, limit: int
) -> Ranking:
    """The model's ranking with the bonus, spread over sessions, and with the reserved places filled."""
    agreement = context.analysis.query_class.is_wide
    scores = with_bonus(model, found, route.bonus, settings.bonus, agreement=agreement)
    sessions = context.layout.session[model.rows]
    # Sessions of a conversation are about many things; what is not one keeps to its subject.
    spread = route.spread if context.frame.dialogue else 0.0
    ordered = spread_out(Ranking(model.rows, scores), sessions, spread, limit)
    if limit < _LEAST_FOR_PLACES or not settings.slots:
        return ordered
    return with_places(ordered, _for_places(found), route.places, settings.slots, limit)


def _for_places(found: Mapping[str, Ranking]) -> Mapping[str, Ranking]:
    """Rankings that may fill reserved places: of the gist channel only what gist memories have led to."""
    gist = found.get("gist")
    if gist is None or "led" not in gist.features:
        return {name: ranking for name, ranking in found.items() if name != "gist"}
    led = gist.features["led"][gist.rows] > 0
    return {**found, "gist": Ranking(gist.rows[led], gist.scores[led])}
