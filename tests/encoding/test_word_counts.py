"""Counting word by word gives what counting the whole gives, and counts what comes again only once more."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ebbing.encoding.word_counts import WordCounts

WORDS = st.text(alphabet="ab-9", min_size=1, max_size=80)


class Letters:
    """Counts the characters of words, and remembers which it was asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, text: str) -> int:
        self.asked.append(text)
        return sum(map(len, text.split()))


@given(words=st.lists(WORDS, max_size=20), space=st.sampled_from([" ", "\n", " \t "]))
def test_the_sum_over_words_is_the_count_of_the_text(words: list[str], space: str) -> None:
    text = space.join(words)
    counts = WordCounts(Letters())
    assert counts(text) == counts(text) == counts(text) == Letters()(text)


def test_new_words_are_counted_together_and_kept_when_they_come_again() -> None:
    letters = Letters()
    counts = WordCounts(letters)
    assert [counts("the cache the cache"), counts("cache"), counts("cache cache")] == [16, 5, 10]
    assert letters.asked == ["the cache the cache", "cache"]


def test_words_beyond_what_is_kept_are_counted_all_the_same() -> None:
    letters = Letters()
    counts = WordCounts(letters)
    text = " ".join(f"w{number}" for number in range(5_000))
    assert {counts(text) for _ in range(4)} == {Letters()(text)}
