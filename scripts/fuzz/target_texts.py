"""Texts in every script and none, to everything that reads them."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from fuzz_store import judge_error, world_in
from fuzz_values import DATES, SECRET, texts
from fuzzing import Check, Target
from hypothesis import strategies as st
from world import World

from ebbing.encoding.chunks import spans
from ebbing.encoding.clean import clean, strip_private
from ebbing.encoding.condense import condense
from ebbing.encoding.extract import CUE_CHARACTERS, GIST_CHARACTERS, facts_in
from ebbing.encoding.likeness import Likeness, Statement, likeness
from ebbing.encoding.own_words import own_words, without_own_output
from ebbing.encoding.redact import redact
from ebbing.encoding.shape import shape_of
from ebbing.encoding.slots import slots
from ebbing.encoding.times import time_expressions
from ebbing.encoding.told import told_by_agent, told_by_user
from ebbing.encoding.trace import trace
from ebbing.encoding.words import query_terms
from ebbing.hooks.private import without_private
from ebbing.retrieval.analysis import analyse
from ebbing.schemas.errors import InvalidInputError
from ebbing.schemas.instants import day, iso, parse
from ebbing.tools.recall import RecallArguments, recall

_ANCHOR: Final = datetime(2026, 3, 2, 9, tzinfo=UTC)
_WINDOW: Final = 40
_IN_DATES: Final = """
    from between 3 31 to May march 2023 0000 9999 last next 999 weeks ago the day before yesterday Q4 of on Monday in
    spring a couple - – , . 000 past st 2023-02-29 2024-02-29T25:61:61Z 0001-01-01 9999-12-31T23:59:59+00:00
"""
_IN_SECRETS: Final = """
    password = : token Bearer authorization :// @ ' " -u --password api_key \\n -----END eyJhbGciOi sk-ant- hunter2
    <private> </private> [redacted:token] login sessionid= AKIA ${X} é xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
"""
_IN_STATEMENTS: Final = """
    the port of cache is 6379 not don't use apsw instead of sqlite3 because , we decided to never always prefer `code`
    v1.2 20MB . ? unless A B
"""

_time_words = st.sampled_from((*_IN_DATES.split(), "from now"))
_dates = st.one_of(st.lists(_time_words, max_size=12).map(" ".join), st.sampled_from(DATES), texts(20))
_secret_words = st.sampled_from(
    (*_IN_SECRETS.split(), "-----BEGIN PRIVATE KEY-----", "QUJD" * 10, "9" * 40, "\n", "\t")
)
_secrets = st.lists(_secret_words, max_size=14).flatmap(
    lambda words: st.sampled_from(["", " "]).map(lambda s: s.join(words))
)
_statements = st.lists(st.sampled_from((*_IN_STATEMENTS.split(), "20 MB")), max_size=14).map(" ".join)
_any = st.one_of(texts(), texts(300), _dates, _secrets, _statements)


def _judge_cleaning(text: str) -> None:
    cleaned = clean(text)
    assert clean(cleaned) == cleaned
    assert cleaned.encode("utf-8") or not cleaned
    assert strip_private(strip_private(cleaned)) == strip_private(cleaned)
    without_private(text)
    redacted = redact(cleaned)
    assert redact(redacted.text).text == redacted.text, "redacting twice gives something else"
    assert SECRET not in redact(f"{redacted.text} {SECRET} {redacted.text}").text


def _judge_reading(text: str) -> None:
    cleaned = redact(strip_private(clean(text)).strip()).text
    traced = trace(cleaned, _ANCHOR, ("tag",))
    assert len(traced.gist) <= GIST_CHARACTERS
    assert len(traced.cue) <= CUE_CHARACTERS
    assert _facts(traced.gist) <= _facts(cleaned), "the gist says what its source does not"
    assert 0.0 <= traced.arousal <= 1.0
    assert 0.0 <= traced.priority <= 1.0
    shape_of(cleaned, traced.index_text)
    for found in traced.times:
        assert found.start < found.end
    own_words(cleaned)
    without_own_output(cleaned)
    for claim in (*told_by_user(cleaned), *told_by_agent(cleaned)):
        assert claim.text.strip()
    condense([cleaned, text], 100)
    _judge_spans(cleaned)


def _facts(text: str) -> set[str]:
    """The facts of a text as it is and with its white space folded, as a gist has it."""
    folded = " ".join(text.split())
    return {" ".join(fact.split()) for fact in facts_in(text) | facts_in(folded)}


def _judge_spans(text: str) -> None:
    covered = [False] * len(text)
    for span in spans(text, lambda part: len(part) // 2 + 1, _WINDOW):
        covered[span.start : span.end] = [True] * (span.end - span.start)
    assert all(covered[at] or text[at].isspace() for at in range(len(text)))


def _judge_likeness(one: str, other: str) -> None:
    first, second = (Statement(text, slots(text)) for text in (one, other))
    assert likeness(first, first) is Likeness.SAME or not one.strip()
    there, back = likeness(first, second), likeness(second, first)
    opposite = {Likeness.COVERS: Likeness.COVERED, Likeness.COVERED: Likeness.COVERS}
    assert there is opposite.get(back, back)


def _judge_dates(text: str) -> None:
    for anchor in (_ANCHOR, datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)):
        for found in time_expressions(text, anchor):
            assert found.start < found.end
    analyse(text)
    try:
        instants = [parse(text), parse(text, end_of_day=True)]
    except InvalidInputError:
        return
    assert all(iso(instant) and day(instant) for instant in instants)


class _Texts:
    def __init__(self, world: World) -> None:
        self._world = world

    def judge(self, given: tuple[str, str]) -> None:
        """Everything that reads texts reads these, and keeps its promises."""
        for text in given:
            _judge_cleaning(text)
            _judge_reading(text)
            _judge_dates(text)
        _judge_likeness(*(clean(text) or "x" for text in given))
        self._search(given[0])

    def _search(self, text: str) -> None:
        """No text is syntax to the full-text search."""
        query_terms(text)
        try:
            recall(self._world.services, RecallArguments(query=text))
        except InvalidInputError as error:
            judge_error(error)


@contextmanager
def _opened(folder: Path) -> Generator[Check]:
    with world_in(folder) as world:
        yield _Texts(world).judge


TEXTS = Target(
    "texts",
    "pairs of texts in any script, with dates, secrets and statements in pieces, to everything that reads texts",
    st.tuples(_any, _any),
    _opened,
    examples=300,
    suite=30,
)
