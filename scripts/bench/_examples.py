"""Questions put to stores, with what fitting needs to know of them, read once through the product's own channels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from _memory import SCOPE, Loaded, Question

from ebbing.retrieval.analysis import analyse
from ebbing.retrieval.channels.base import Context, nothing
from ebbing.retrieval.channels.registry import DIRECT
from ebbing.retrieval.evidence import Evidence, gather
from ebbing.retrieval.floor import figures_of, is_certain
from ebbing.retrieval.frames import Frames
from ebbing.retrieval.fusion import best_rows, pool_interaction
from ebbing.retrieval.inquiry import context_for
from ebbing.retrieval.layout import Floats, Rows
from ebbing.retrieval.request import RecallRequest
from ebbing.retrieval.settings import RecallSettings
from ebbing.retrieval.weights import INTERACTION

_LATER: Final = 2 * 10**15
# A pool is a hundred: so many by each kind of evidence hold every pool that sensible weights choose. As many again,
# evenly drawn, speak for the rest.
_BY: Final = ("words", "words_alone", "session", "meaning", "meaning_alone", "substring", "named", "date")
_CANDIDATES: Final = 100


@dataclass(frozen=True, slots=True, eq=False)
class Example:
    """One question put to one store: k candidates of the memories it may see, in the order of the store's rows.

    Attributes:
        features: what the direct channels and cues say, each float32 (k,), late interaction among them.
        relevant: intp (r,), the places of the candidates that answer it; all that there are.
        figures: what a floor looks at, but for late interaction, which depends on the pool.
        certain: whether no floor applies.
        wide: whether its pool is the wide one.
        weight: of each of its lists.
    """

    store: str
    dialogue: bool
    features: Mapping[str, Floats]
    relevant: Rows
    figures: Mapping[str, float]
    certain: bool
    wide: bool
    weight: float = 1.0


class Examples:
    """What each store says to each question, read when it is first wanted."""

    def __init__(self) -> None:
        """Nothing is read yet."""
        self._kept: dict[tuple[str, str, str], Example] = {}
        self._frames: dict[str, Frames] = {}

    def of(self, one: Loaded, questions: Sequence[Question]) -> list[Example]:
        """The example of each question put to one store."""
        frames = self._frames.setdefault(one.name, Frames(one.store))
        keys = [(one.name, question.text, str(question.asked_at)) for question in questions]
        for key, question in zip(keys, questions, strict=True):
            if key not in self._kept:
                self._kept[key] = _example(one, frames, question)
        return [self._kept[key] for key in keys]

    def own(self, one: Loaded) -> list[Example]:
        """The store's own questions that have an answer."""
        return self.of(one, answerable(one))


def answerable(one: Loaded) -> list[Question]:
    """The questions of a store that it has an answer to."""
    return [question for question in one.questions if question.relevant]


def off_topic(loaded: Sequence[Loaded], one: Loaded, limit: int = 200) -> list[Question]:
    """Questions about the other stores, evenly drawn."""
    others = [question for other in loaded if other is not one for question in other.questions]
    step = max(1, len(others) // limit)
    return others[::step][:limit]


def asked(loaded: Loaded, questions: Sequence[Question]) -> Iterator[tuple[Question, Context, Evidence]]:
    """What the direct channels say to each question."""
    frames = Frames(loaded.store)
    for question in questions:
        with loaded.store.snapshot():
            context = _context(loaded, frames, question)
            yield question, context, gather(context, DIRECT)


def _context(one: Loaded, frames: Frames, question: Question) -> Context:
    until = None if question.asked_at is None else question.asked_at - 1
    request = RecallRequest(query=question.text, scopes=(SCOPE,), now=_LATER, until=until)
    return context_for(one.store, frames, request, analyse(question.text), question.embedding)


def _example(one: Loaded, frames: Frames, question: Question) -> Example:
    with one.store.snapshot():
        context = _context(one, frames, question)
        evidence = gather(context, DIRECT)
        relevant = context.layout.rows(np.array(sorted(question.relevant), np.int64))
        rows = _candidates(context, evidence, relevant)
        late = pool_interaction(context, evidence, rows, RecallSettings())
    size = len(context.layout)
    features = {name: values[rows] for name, values in evidence.features.items() if len(values) == size}
    return Example(
        store=one.name,
        dialogue=context.frame.dialogue,
        features={**features, INTERACTION: late},
        relevant=np.searchsorted(rows, np.sort(relevant)),
        figures=figures_of(context, evidence, nothing()),
        certain=is_certain(context, evidence),
        wide=context.analysis.query_class.is_wide,
    )


def _candidates(context: Context, evidence: Evidence, relevant: Rows) -> Rows:
    allowed = np.flatnonzero(context.eligible)
    drawn = allowed[:: max(1, len(allowed) // _CANDIDATES)]
    best = [
        best_rows(evidence.features[name], context.eligible & (evidence.features[name] > 0), _CANDIDATES).rows
        for name in _BY
        if name in evidence.features
    ]
    return np.unique(np.concatenate([relevant, drawn, *best]))
