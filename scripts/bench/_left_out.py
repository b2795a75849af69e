"""What is fitted on several data sets, all of them or all but the store that is to be measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from _examples import Example, Examples
from _fitting import DIALOGUE, DIALOGUE_FLOOR, PLAIN, PLAIN_FLOOR, WORDS_FLOOR, fit_floor, fit_weights
from _memory import Loaded

from ebbing.retrieval.floor import Floors, fitted_floors
from ebbing.retrieval.weights import Weights, WeightSet, fitted_weights

Data = Sequence[Sequence[Loaded]]
"""Data sets, each its stores."""


def weights_of(data: Data, read: Examples) -> Weights:
    """Both sets: the one for dialogue on the conversations, the plain one on everything."""
    groups = _groups(data, read)
    return Weights(_dialogue(groups), _plain(groups))


def weights_without(one: Loaded, data: Data, read: Examples) -> Weights:
    """The package's weights with the set that applies to a store fitted without it, where there is anything to fit."""
    rest = [[other for other in group if other is not one] for group in data]
    groups, shipped = _groups(rest, read), fitted_weights()
    if is_dialogue(one, read):
        return replace(shipped, dialogue=_dialogue(groups)) if any(group[0].dialogue for group in groups) else shipped
    return replace(shipped, plain=_plain(groups)) if groups else shipped


def floors_of(data: Data, read: Examples, weights: Weights) -> Floors:
    """All three: for conversations, for everything else, and for answers from words alone."""
    stores = [one for group in data for one in group]
    talks = [one for one in stores if is_dialogue(one, read)]
    others = [one for one in stores if not is_dialogue(one, read)]
    return Floors(
        fit_floor(talks, read, weights, DIALOGUE_FLOOR),
        fit_floor(others, read, weights, PLAIN_FLOOR),
        fit_floor(stores, read, weights, WORDS_FLOOR),
    )


def floors_without(one: Loaded, loaded: Sequence[Loaded], read: Examples, weights: Weights) -> Floors:
    """The package's floors with the one that applies to a store fitted on the others of its data set."""
    others = [other for other in loaded if other is not one]
    if len(others) < 2:  # noqa: PLR2004 - a floor needs questions about another store
        return fitted_floors()
    if is_dialogue(one, read):
        return replace(fitted_floors(), dialogue=fit_floor(others, read, weights, DIALOGUE_FLOOR))
    return replace(fitted_floors(), plain=fit_floor(others, read, weights, PLAIN_FLOOR))


def is_dialogue(one: Loaded, read: Examples) -> bool:
    """Whether a store holds turns of named speakers."""
    return any(example.dialogue for example in read.own(one)[:1])


def _groups(data: Data, read: Examples) -> list[list[Example]]:
    groups = [[example for one in group for example in read.own(one)] for group in data]
    return [group for group in groups if group]


def _dialogue(groups: Sequence[Sequence[Example]]) -> WeightSet:
    return fit_weights(_same_weight([group for group in groups if group[0].dialogue]), DIALOGUE)


def _plain(groups: Sequence[Sequence[Example]]) -> WeightSet:
    return fit_weights(_same_weight(groups), PLAIN)


def _same_weight(groups: Sequence[Sequence[Example]]) -> list[Example]:
    """The examples of several data sets, each set weighing the same as a whole."""
    return [replace(one, weight=1 / len(group)) for group in groups for one in group]
