"""The words of the question, each memory together with its neighbours; substrings for names and unspaced scripts."""

from __future__ import annotations

from typing import Final

import numpy as np

from ...encoding.words import match_expression
from ..analysis import Analysis
from ..layout import Floats
from ..lexical_evidence import lexical_evidence
from .base import Context, Ranking, ranked

LIMIT: Final = 100
_SUBSTRINGS: Final = 200
_SHORTEST_SUBSTRING: Final = 3
_MOST_TERMS: Final = 64
_LEAST_MASS: Final = 1e-6


class LexicalChannel:
    """BM25 over stems with neighbours, and trigram hits for identifiers."""

    name: Final = "lexical"

    def search(self, context: Context) -> Ranking:
        """See `Channel`."""
        words = context.analysis.terms.words[:_MOST_TERMS]
        postings = context.store.postings.of(context.store.lexical.terms(words))
        found = lexical_evidence(context.layout, context.frame.lengths, postings)
        substrings = _substrings(context)
        mass, session_mass = max(found.mass, _LEAST_MASS), max(found.session_mass, _LEAST_MASS)
        features = {
            "words": found.near / np.float32(mass),
            "words_alone": found.alone / np.float32(mass),
            "session": found.session / np.float32(session_mass),
            "covered": found.covered / np.float32(max(found.alone_mass, _LEAST_MASS)),
            "substring": substrings,
            "known": np.full(1, found.known / mass, np.float32),
        }
        return ranked(features["words"] + substrings, context.eligible, LIMIT, features=features)


def _substrings(context: Context) -> Floats:
    """1 for rows that contain an identifier or unspaced run of the question by trigrams, else 0."""
    result = np.zeros(len(context.layout), np.float32)
    expression = match_expression(_names(context.analysis))
    if expression:
        hits = context.store.lexical.containing(expression, context.layout.scopes, _SUBSTRINGS)
        result[context.layout.rows(np.array(hits, dtype=np.int64))] = 1.0
    return result


def _names(analysis: Analysis) -> list[str]:
    names = [*analysis.terms.identifiers, *analysis.terms.cjk_runs]
    return [name for name in dict.fromkeys(names) if len(name) >= _SHORTEST_SUBSTRING]
