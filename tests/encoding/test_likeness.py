"""What says the same and what only looks alike: numbers, versions, names, negations, order and limits are exact."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbing.encoding.likeness import Likeness, Statement, likeness, may_be_alike, said, telling_words
from ebbing.encoding.slots import slots

SAME = [
    ("Use tabs.", "use  tabs"),
    ("The port of the cache is 6379.", "The cache's port is 6379"),
    ("Don't push to main.", "Do not push to main."),
    ("We can't deploy on Fridays.", "We cannot deploy on Fridays"),
    ("Timeout is 30s.", "The timeout is 30 seconds."),
    ("Note: the build needs Node 20.", "The build needs Node 20."),
    ("It holds 1,000 rows.", "It holds 1000 rows."),
    ("Deploy version v1.2.0 first.", "Deploy version 1.2.0 first."),
    ("Run `make test` first.", "Run make test first."),
]
LONGER = [
    "deployment",
    "couldn't",
    "cannot",
    "minutes",
    "important",
    "cache's",
    "Gateway",
    "config_file",
    "a1234",
    "the",
]
DISGUISES: list[Callable[[str], str]] = [
    lambda text: text.replace("couldn't", "could not").replace("cannot", "can not"),
    lambda text: text.replace("minutes", "min"),
    lambda text: f"Note: {text}.",
    lambda text: text.replace("the ", ""),
    lambda text: f"{text} because nothing else works with the old compiler",
    str.lower,
]


def between(one: str, other: str) -> Likeness:
    return likeness(Statement(one, slots(one)), Statement(other, slots(other)))


@pytest.mark.parametrize(("one", "other"), SAME)
def test_the_same_in_other_clothes_is_the_same(one: str, other: str) -> None:
    assert between(one, other) is Likeness.SAME
    assert between(other, one) is Likeness.SAME


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Use the API v1.", "Use the API v2."),
        ("Use pnpm.", "Do not use pnpm."),
        ("The port is 5432.", "The port is 5433."),
        ("It holds 15 rows.", "It holds 1.5 rows."),
        ("It sends 5 MB.", "It sends 5 Mb."),
        ("Timeout is 30s.", "Timeout is 30ms."),
        ("Migrate from A to B.", "Migrate from B to A."),
        ("Client calls the server.", "Server calls the client."),
        ("Keep x > 5.", "Keep x < 5."),
        ("Use C.", "Use C++."),
        ("Edit __init__.py", "Edit init.py"),
        ("Is the port 5432?", "The port is 5432."),
        ("We use Redis.", "We use Redis, unless it is down."),
        ("We use Redis.", "We use Redis only in tests."),
        ("We use Redis.", "We used Redis."),
        ("Enable the cache.", "Disable the cache."),
        ("Deploy on Monday.", "Deploy on Tuesday."),
        ("The vector a is large.", "The vector is large."),
        ("Their API is slow.", "Our API is slow."),
        ("Always ask first.", "Never ask first."),
        ("Open db-1.", "Open db-2."),
        ("Set LIMIT in the shell.", "Set limit in the shell."),
    ],
)
def test_what_differs_in_one_thing_is_different(one: str, other: str) -> None:
    assert between(one, other) is Likeness.DIFFERENT
    assert between(other, one) is Likeness.DIFFERENT


def test_a_statement_with_its_reason_covers_the_bare_one() -> None:
    reasoned = "The cache port is 6379 because 6380 was taken."
    assert between(reasoned, "The port of the cache is 6379.") is Likeness.COVERS
    assert between("The port of the cache is 6379.", reasoned) is Likeness.COVERED


@pytest.mark.parametrize(
    "longer",
    [
        "The cache port is 6379 because it is the default, unless TLS is on.",
        "The cache port is 6379. It was 6380.",
        "The cache port is 6379 because 6380 was taken?",
        "The cache port is not 6379 because 6380 was taken.",
    ],
)
def test_a_limit_a_question_or_a_second_sentence_covers_nothing(longer: str) -> None:
    assert between(longer, "The cache port is 6379.") is Likeness.DIFFERENT


WORDS = st.lists(
    st.sampled_from(
        ["use", "not", "v1", "v2", "5", "50", "Redis", "redis-2", "the", "never", "a.py", "from", "to", "s"]
    ),
    min_size=1,
    max_size=6,
).map(" ".join)


@given(WORDS, WORDS)
def test_likeness_looks_the_same_from_both_sides(one: str, other: str) -> None:
    mirrored = {Likeness.COVERS: Likeness.COVERED, Likeness.COVERED: Likeness.COVERS}
    found = between(one, other)
    assert between(other, one) is mirrored.get(found, found)


@given(WORDS, WORDS)
def test_what_says_the_same_has_the_same_numbers_names_and_negations(one: str, other: str) -> None:
    if between(one, other) is Likeness.SAME:
        exact = [
            sorted(word for word in text.split() if word not in ("use", "the", "from", "to")) for text in (one, other)
        ]
        assert exact[0] == exact[1]


@given(st.text(max_size=200))
def test_any_text_is_said_without_failing_and_is_like_itself(text: str) -> None:
    assert all(said(text))
    if text.strip():
        assert between(text, text) is Likeness.SAME


def test_texts_that_share_few_words_need_not_be_compared() -> None:
    one = telling_words("The gateway retries every failed upload twice before giving up entirely.")
    other = telling_words("Staging deploys happen from branch release after tests passed nightly.")
    assert not may_be_alike(one, other)
    assert may_be_alike(one, telling_words("short text"))


@given(st.lists(st.sampled_from(LONGER), min_size=1, max_size=30), st.sampled_from(DISGUISES))
def test_what_says_the_same_is_always_compared(words: list[str], disguise: Callable[[str], str]) -> None:
    text = " ".join(words)
    other = disguise(text)
    if likeness(Statement(text), Statement(other)) is not Likeness.DIFFERENT:
        assert may_be_alike(telling_words(text), telling_words(other))


@pytest.mark.parametrize(("one", "other"), SAME)
def test_the_same_in_other_clothes_is_always_compared(one: str, other: str) -> None:
    assert may_be_alike(telling_words(one), telling_words(other))
