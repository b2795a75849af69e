"""The words of the question, each memory together with its neighbours; substrings for names and unspaced scripts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from ...encoding.words import match_expression
from ...store.lexical import Postings
from ..layout import Floats
from ..lexical_evidence import lexical_evidence, rare_share
from .base import Context, Ranking, ranked

LIMIT: Final = 100
_HOLDING: Final = 500
_SHORTEST_SUBSTRING: Final = 3
_MOST_NAMES: Final = 8
_MOST_TERMS: Final = 64
_LEAST_MASS: Final = 1e-6


class LexicalChannel:
    """BM25 over stems with neighbours, and trigram hits for identifiers."""

    name: Final = "lexical"

    def search(self, context: Context) -> Ranking:
        """See `Channel`."""
        words = context.analysis.terms.words[:_MOST_TERMS]
        terms = context.store.lexical.terms(words)
        postings = context.store.postings.of(terms)
        found = lexical_evidence(context.layout, context.frame.lengths, postings)
        names = _names(context, dict(zip(terms, postings, strict=True)))
        mass, session_mass = max(found.mass, _LEAST_MASS), max(found.session_mass, _LEAST_MASS)
        features = {
            "words": found.near / np.float32(mass),
            "words_alone": found.alone / np.float32(max(found.alone_mass, _LEAST_MASS)),
            "session": found.session / np.float32(session_mass),
            "covered": found.covered / np.float32(max(found.alone_mass, _LEAST_MASS)),
            "substring": names,
            "known": np.full(1, found.known / mass, np.float32),
        }
        return ranked(features["words"] + names, context.eligible, LIMIT, features=features)


def _names(context: Context, postings: Mapping[str, Postings]) -> Floats:
    """How much of the rare names in the question each row contains, float32 (n,), from 0 to 1.

    Identifiers and unspaced runs are found by trigrams, what stands in quotes as a phrase, and codes by the posting
    lists of the words.
    """
    terms, lexical = context.analysis.terms, context.store.lexical
    parts = [name for name in (*terms.identifiers, *terms.cjk_runs) if len(name) >= _SHORTEST_SUBSTRING]
    scopes = context.layout.scopes
    found = [lexical.containing(match_expression([name]), scopes, _HOLDING) for name in parts[:_MOST_NAMES]]
    found += [lexical.saying(match_expression([phrase]), scopes, _HOLDING) for phrase in terms.phrases[:_MOST_NAMES]]
    stems = [stem for stem in lexical.stems(terms.codes[:_MOST_NAMES]) if stem in postings]
    seqs = [*(np.array(some, np.int64) for some in found), *(postings[stem].seqs for stem in stems)]
    return rare_share([context.layout.rows(some) for some in seqs], len(context.layout))
