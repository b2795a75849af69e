"""Where a memory stands in a soft prompt, and with which of its words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_memory import made

from ebbing.lifecycle.prompt_sections import Section, said_in, section_of


@pytest.mark.parametrize(
    ("content", "kind", "section"),
    [
        ("The user prefers short answers.", "preference", Section.PREFERENCES),
        ("Always run the tests before pushing.", "preference", Section.CONVENTIONS),
        ("Test files must be named test_*.py.", "fact", Section.CONVENTIONS),
        ("Use SQLite for the cache.", "decision", Section.DECISIONS),
        ("To release: tag, build, upload.", "procedure", Section.PROCEDURES),
        ("The importer fails when a file has a byte order mark.", "fact", Section.PITFALLS),
        ("npm test failed because of a stale cache; fixed by npm ci.", "episode", Section.PITFALLS),
        ("TODO: the retry limit is not yet configurable.", "fact", Section.OPEN_THREADS),
        ("The staging database listens on port 5433.", "fact", None),
        ("Looked at the calendar.", "episode", None),
        ("I prefer tabs.", "observation", None),
    ],
)
def test_kind_and_words_tell_the_section(content: str, kind: str, section: Section | None) -> None:
    assert section_of(made(content, kind)) is section


def test_a_tag_names_the_section_and_a_pin_makes_room_for_anything() -> None:
    assert section_of(made("Two spaces in YAML.", "fact", tags=("convention",))) is Section.CONVENTIONS
    assert section_of(made("The staging host is db-7.", "fact", pinned=True)) is Section.PINNED
    assert section_of(made("Use SQLite.", "decision", pinned=True)) is Section.DECISIONS


def test_of_a_long_text_the_sentence_that_says_it_is_shown() -> None:
    text = "I looked at the layout. " * 12 + "I prefer simple, minimal dependencies. " + "It is late now. " * 8
    assert said_in(made(text), Section.PREFERENCES, 120) == "I prefer simple, minimal dependencies."


def test_of_a_long_sentence_the_clause_that_says_it_is_shown_and_cuts_are_marked() -> None:
    text = (
        "I'm trying to keep the app easy to maintain, so I prefer few dependencies, can you show me how to do that "
        "with Flask, given that the deadline is in April, and that the database is a single file on one machine"
    )
    said = said_in(made(text), Section.PREFERENCES, 110)
    assert "I prefer few dependencies" in said
    assert said.startswith("…")
    assert said.endswith("…")
    assert len(said) <= 110


def test_blocks_of_code_are_left_out_unless_there_is_nothing_else() -> None:
    text = "I prefer plain functions.\n```python\n" + "x = 1\n" * 80 + "```\n"
    assert said_in(made(text), Section.PREFERENCES, 200) == "I prefer plain functions."
    assert said_in(made("```\nmake\n```"), Section.PROCEDURES, 200) == "``` make ```"


@given(st.text(min_size=1, max_size=600), st.sampled_from(list(Section)))
def test_what_is_shown_is_short_and_stands_in_the_text(text: str, section: Section) -> None:
    said = said_in(made(text), section, 80)
    assert len(said) <= 80
    folded = " ".join(text.split())
    assert said.strip("…").strip() in folded or "```" in text or "~~~" in text
