"""The words that carry no topic, and the pieces of a text that do."""

from collections.abc import Sequence

_WORDS = """
    a an and are as at be but by for if in into is it no not of on or such that the their then there these they this
    to was will with
    what when where who whom which how why did do does has have had
    her his him she he its i you we s t m re ve d ll
    would could should can may might been being were from about your my our me us so than them while during after before
"""

STOP_WORDS = frozenset(_WORDS.split())
"""Function words, question words, auxiliaries and pronouns of English, in lower case.

The lexical index and late interaction drop the same words, so that both speak of the same content.
"""


def word_positions(words: Sequence[str]) -> list[int]:
    """Return the positions of the `words` with at least one letter or digit, whatever their case: no punctuation."""
    return [i for i, word in enumerate(words) if any(map(str.isalnum, word))]


def content_positions(words: Sequence[str]) -> list[int]:
    """Return the positions of the `words` that are neither punctuation nor stop words, whatever their case."""
    return [i for i in word_positions(words) if words[i].lower() not in STOP_WORDS]
