"""What each class of question asks of the channels beyond the evidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from .analysis import QueryClass


@dataclass(frozen=True, slots=True)
class Route:
    """How one class of question is answered.

    Attributes:
        bonus: each channel's share of the bounded bonus; channels that are not named are not asked.
        places: the channels that may fill the places kept at the end of the answer, with their shares.
        spread: what each further memory of a session that is in the answer already loses, in units of the model.
    """

    bonus: Mapping[str, float] = field(default_factory=dict[str, float])
    places: Mapping[str, float] = field(default_factory=dict[str, float])
    spread: float = 0.0


_WIDE: Final = {"entity": 0.5, "activation": 0.5, "gist": 0.3, "hopfield": 0.3}

ROUTES: Final[Mapping[QueryClass, Route]] = {
    QueryClass.EXACT: Route({"entity": 1.0, "temporal": 0.3}),
    QueryClass.TIME: Route({"temporal": 1.0, "entity": 0.5}),
    QueryClass.CURRENT: Route({"entity": 0.5, "temporal": 0.3}),
    QueryClass.SIMPLE: Route({"entity": 0.5, "temporal": 0.3}),
    QueryClass.MULTI_HOP: Route({**_WIDE, "temporal": 0.3}, places={"activation": 1.0, "gist": 1.1}),
    QueryClass.LIST: Route({**_WIDE, "temporal": 0.3}, places={"activation": 1.0, "gist": 1.1}, spread=0.4),
}
