import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbing.encoding.chunks import CHUNK_CHARS, chunks, spans


def words(text: str) -> int:
    return len(text.split())


def wordish(text: str) -> int:
    """As a tokenizer counts: about one piece for four letters, one for every other character that is not a space."""
    return sum(-(-len(run) // 4) for run in re.findall(r"[A-Za-z]+", text)) + len(re.findall(r"[^A-Za-z\s]", text))


PROSE = st.lists(st.text("abcdefgh", min_size=1, max_size=12), max_size=400).map(" ".join)
LINES = st.lists(st.text("ab ;(){}=", max_size=90), max_size=60).map("\n".join)
SOLID = st.text("日本語x0", max_size=3_000)


def test_a_text_that_fits_is_one_chunk_as_it_is() -> None:
    assert chunks("  two words ", words, 2) == ["  two words "]


@pytest.mark.parametrize("text", ["", " ", "\n\n"])
def test_a_text_without_words_is_one_chunk(text: str) -> None:
    assert len(chunks(text, words, 5)) == 1


def test_long_prose_becomes_overlapping_chunks_of_700_to_800_characters() -> None:
    text = " ".join(f"word{number}" for number in range(1_000))
    parts = chunks(text, words, 254)
    assert all(700 <= len(part) <= CHUNK_CHARS for part in parts[:-1])
    assert all(after.split()[0] in before.split() for before, after in pairwise(parts))


def test_chunks_are_cut_at_line_ends_before_spaces() -> None:
    line = "some words of a line that is not long"
    parts = chunks("\n".join([line] * 200), words, 254)
    assert all(part.endswith(line) for part in parts)


def test_no_word_is_cut_when_there_are_spaces() -> None:
    text = " ".join(f"word{number}" for number in range(1_000))
    assert {word for part in chunks(text, words, 254) for word in part.split()} == set(text.split())


def test_dense_text_gets_smaller_chunks() -> None:
    parts = chunks("{}" * 2_000, wordish, 254)
    assert max(map(wordish, parts)) <= 254


@given(PROSE | LINES | SOLID, st.integers(1, 300))
def test_every_chunk_fits_the_window(text: str, window: int) -> None:
    assert all(wordish(part) <= window for part in chunks(text, wordish, window))


@given(PROSE | LINES | SOLID | st.text(max_size=2_000), st.integers(1, 300))
def test_nothing_but_white_space_is_lost(text: str, window: int) -> None:
    covered: set[int] = set()
    for span in spans(text, wordish, window):
        covered.update(range(span.start, span.end))
    assert all(char.isspace() for at, char in enumerate(text) if at not in covered)


@given(PROSE | LINES | SOLID, st.integers(1, 300))
def test_chunks_always_move_on(text: str, window: int) -> None:
    found = spans(text, wordish, window)
    assert all(a.start < b.start and a.end < b.end for a, b in pairwise(found))
    assert chunks(text, wordish, window) == [text[span.start : span.end] for span in found]


def test_a_megabyte_is_cut_without_counting_it_whole() -> None:
    counted: list[int] = []

    def count(text: str) -> int:
        counted.append(len(text))
        return wordish(text)

    chunks("lorem ipsum " * 90_000, count, 254)
    assert max(counted) <= CHUNK_CHARS
