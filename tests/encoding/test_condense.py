"""Gists of several texts: their own sentences, nothing made up, nothing twice, nothing that means more than it says."""

from hypothesis import given
from hypothesis import strategies as st

from ebbing.encoding.condense import GIST_CHARACTERS, condense
from ebbing.encoding.extract import facts_in
from ebbing.encoding.sentences import sentences

_TEXT = (
    "the deploy of api-v2 failed at 10:45 because db-1 was not reachable. never restart worker_pool without 3.12 "
    "Do not! run: make test? src/app.py isn't It \n\n - * 1. Bremen ferry cache: 5"
)
WORDS = st.sampled_from(_TEXT.split(" "))
TEXTS = st.lists(st.lists(WORDS, min_size=1, max_size=40).map(" ".join), max_size=6)


@given(TEXTS)
def test_every_line_is_a_sentence_of_a_source_and_every_fact_stands_in_one(texts: list[str]) -> None:
    found = condense(texts)
    assert len(found.text) <= GIST_CHARACTERS
    known = [sentence for place in found.quoted for sentence in sentences(texts[place])]
    assert all(line in known for line in found.text.split("\n") if line)
    assert facts_in(found.text) <= frozenset().union(*(facts_in(texts[place]) for place in found.quoted))


def test_it_takes_what_the_texts_share_and_says_nothing_twice() -> None:
    found = condense(
        [
            "The ferry import failed on the Bremen timetable. Coffee was cold that day.",
            "The ferry import failed on the Bremen timetable.",
            "The Bremen timetable lists the ferry twice, so the import counts it twice.",
        ]
    )
    assert found.text.count("The ferry import failed on the Bremen timetable.") == 1
    assert "counts it twice" in found.text


def test_an_item_is_not_taken_without_the_head_that_may_deny_it() -> None:
    found = condense(["Never do this in production:\n- restart the whole worker pool\n- drop the big index by hand"])
    assert found.text == ""


def test_questions_and_what_points_elsewhere_stay_out() -> None:
    assert (
        condense(["Should the worker pool be restarted every single night?", "It failed on the big index."]).text == ""
    )
