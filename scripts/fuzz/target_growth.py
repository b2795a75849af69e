"""The same few characters again and again, to everything that reads texts: four times the text, four times the work.

The work is the time of this thread on its processor, which a busy machine hardly changes. An expression that goes back
over what it has read takes sixteen times as long, or never ends.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from fuzzing import Check, Target
from hypothesis import strategies as st

from ebbing.encoding.chunks import spans
from ebbing.encoding.clean import clean, strip_private
from ebbing.encoding.condense import condense
from ebbing.encoding.directives import addresses_a_model, visible
from ebbing.encoding.entities import entities
from ebbing.encoding.extract import cue, gist
from ebbing.encoding.foreign.notes import Document
from ebbing.encoding.foreign.registry import FORMATS
from ebbing.encoding.likeness import Statement, likeness
from ebbing.encoding.own_words import own_words, without_own_output
from ebbing.encoding.redact import redact
from ebbing.encoding.sentences import sentences
from ebbing.encoding.shape import shape_of
from ebbing.encoding.slots import slots
from ebbing.encoding.times import time_expressions
from ebbing.encoding.told import told_by_agent, told_by_user
from ebbing.encoding.words import indexed, query_terms
from ebbing.hooks.own import before_quote, ids_in, is_quoted
from ebbing.hooks.private import without_private
from ebbing.retrieval.analysis import analyse
from ebbing.schemas.errors import InvalidInputError
from ebbing.server.clients.placement import Placement
from ebbing.server.clients.plans import EDITORS
from ebbing.server.clients.toml_lines import statements
from ebbing.server.stdio_lines import parse_line
from ebbing.server.stdio_repair import recover_id, repair_surrogates
from ebbing.store.spool_purge import contains, plain

_ANCHOR: Final = datetime(2026, 3, 2, 9, tzinfo=UTC)
_SIZES: Final = (100, 400, 1_600, 6_400, 25_600)
_NOTICED_SECONDS: Final = 0.5
_PLACEMENT: Final = Placement(("mcp_servers", "ebbing"), {"command": "x"})
_STEEP: Final = 9.0
"""How many times the work of a text a quarter as long is too much: 4 is linear, 16 goes with the square."""


def _same_as_itself(text: str) -> object:
    return likeness(Statement(text), Statement(text + " x"))


def _foreign(text: str) -> object:
    documents = [Document("MEMORY.md", "MEMORY.md", text)]
    return [(format_.is_sure(documents), format_.read(documents)) for format_ in FORMATS.values()]


def _config(text: str) -> object:
    for editor in EDITORS.values():
        with suppress(InvalidInputError):
            editor.strip(text, _PLACEMENT)
    return text


_READERS: Final[Mapping[str, Callable[[str], object]]] = {
    "analyse": analyse,
    "clean": clean,
    "condense": lambda text: condense([text, text[: len(text) // 2]]),
    "config": _config,
    "cue and gist": lambda text: (cue(text), gist(text)),
    "directives": lambda text: (addresses_a_model(text), visible(text)),
    "entities": entities,
    "foreign formats": _foreign,
    "lines": lambda text: parse_line(text.encode()),
    "likeness": _same_as_itself,
    "own words": lambda text: (own_words(text), without_own_output(text)),
    "private": lambda text: (strip_private(text), without_private(text)),
    "purge": lambda text: contains(text.encode(), plain(["absent words"])),
    "quotes": lambda text: (before_quote(text), is_quoted(text), ids_in(text)),
    "redact": redact,
    "repair": lambda text: (repair_surrogates(text), recover_id(text, text)),
    "sentences": sentences,
    "shape": lambda text: shape_of(text, text),
    "slots": slots,
    "spans": lambda text: spans(text, lambda part: len(part) // 3 + 1, 256),
    "times": lambda text: time_expressions(text, _ANCHOR),
    "told": lambda text: (told_by_user(text), told_by_agent(text)),
    "toml lines": lambda text: list(statements(f'a = "{text}"\n'.replace("\\", ""))),
    "words": lambda text: (indexed(text), query_terms(text)),
}
_BITS: Final = """
a A 0 é 日 . , ; : - _ / \\ " ' ` ( ) [ ] { } < > | = # @ ~ * + ? ! $ % ^ & 1. v1 aB A_ -- == :: ... ``` ~~~ --- ***
=== <!-- --> the is not of and to from in on we use never May 3 2023 ago days week password= token: Bearer sk- eyJ
://a:b@ -u <private> </private> <private [x]( [[ ]] {{ \\u00 \\n "a":1, {"id":1} Name: Error: failed: ebbing [redacted:
because instead ignore prompt do don't
"""
_bits = st.sampled_from((*_BITS.split(), " ", "\n", "\t", "\r\n", "\u00a0", "\u200b", "\u0301", "\0"))
_units = st.lists(_bits, min_size=1, max_size=5).map("".join)
_ends = st.one_of(st.just(""), _bits, st.lists(_bits, max_size=3).map(" ".join))
_inputs = st.tuples(st.sampled_from(sorted(_READERS)), _ends, _units, _ends)


def judge(given: tuple[str, str, str, str]) -> None:
    """The reader of that name copes with `start`, then `unit` again and again, then `end`."""
    name, start, unit, end = given
    before = 0.0
    for size in _SIZES:
        text = start + unit * (size // len(unit)) + end
        spent = _spent(_READERS[name], text)
        if spent > _NOTICED_SECONDS:
            ratio = spent / max(before, 1e-3)
            assert ratio < _STEEP, f"{name}: {size} characters take {spent:.2f} s, {ratio:.0f} times a quarter of them"
        before = spent


def _spent(read: Callable[[str], object], text: str) -> float:
    started = time.thread_time()
    read(text)
    return time.thread_time() - started


@contextmanager
def _opened(_folder: Path) -> Generator[Check]:
    yield judge


GROWTH = Target(
    "growth",
    "a few characters again and again, at growing lengths, to everything that reads texts",
    _inputs,
    _opened,
    examples=300,
    suite=25,
)
