from hypothesis import given
from hypothesis import strategies as st

from ebbing.encoding.cues import arousal, priority
from ebbing.encoding.extract import clipped, cue, facts_in, gist
from ebbing.encoding.sentences import sentences

LONG = (
    "We spent the morning on the flaky websocket test. It was a nice day outside and the coffee was good. "
    "The cause was a race between reconnect() and the heartbeat in src/ws/client.py, which fires every 30 s. "
    "Somebody told a long story about holidays that has nothing to do with any of this at all. "
    "Never lower the heartbeat below 10 s again, or the proxy on host edge-3 drops the connection."
)


def test_a_short_text_is_its_own_gist() -> None:
    assert gist("The cache is cold.") == "The cache is cold."


def test_a_gist_keeps_the_telling_sentences_in_their_order() -> None:
    found = gist(LONG)
    assert len(found) <= 240
    assert "src/ws/client.py" in found or "edge-3" in found
    assert "holidays" not in found


_parts = st.lists(
    st.sampled_from(
        ["never", "do not", "port 5433", "v2.10.3", "src/a/b.py", "fooBar", "don't", "and", "the", "word", "12,5", "."]
    ),
    max_size=120,
)


@given(_parts.map(" ".join) | st.text(max_size=600))
def test_every_identifier_number_and_negation_of_a_gist_stands_in_its_source(text: str) -> None:
    folded = " ".join(text.split())
    for shorter in (gist(text), cue(text), clipped(text, 40)):
        for fact in facts_in(shorter):
            assert fact.lower() in folded.lower()
    assert len(gist(text)) <= 240
    assert len(cue(text)) <= 80


@given(st.text(max_size=300), st.integers(min_value=2, max_value=60))
def test_a_clipped_text_ends_at_a_word(text: str, size: int) -> None:
    short = clipped(text, size)
    words = text.split()
    assert len(short) <= size
    assert set(short.removesuffix("…").split()) <= set(words)


def test_a_long_sentence_is_cut_after_a_clause_so_that_no_negation_is_lost() -> None:
    text = "Restart the ingest workers one by one in the early morning, but the scheduler must not be restarted."
    assert clipped(text, 80) == "Restart the ingest workers one by one in the early morning,…"


def test_wrapped_lines_are_one_sentence_and_short_lines_are_their_own() -> None:
    text = "The connection cache keeps handles that were closed by the\npeer, so the first request fails.\n- one\n- two"
    assert sentences(text) == [
        "The connection cache keeps handles that were closed by the peer, so the first request fails.",
        "- one",
        "- two",
    ]


def test_a_weight_that_is_denied_is_no_cue() -> None:
    assert priority("This is not important.") == 0.0
    assert priority("I remember when it rained.") == 0.0
    assert priority("Remember this: it leaks.") > 0.0


def test_cues_saturate_and_stay_within_bounds() -> None:
    assert priority("The cache is cold.") == 0.0
    assert 0.0 < priority("Never do that.") < priority("Never do that, it is important: always ask.") < 1.0
    assert arousal("production down, data loss!!") > arousal("a crash")


def test_a_gist_quotes_nothing_that_its_source_does_not_quote() -> None:
    text = "0" * 181 + "?" + ")" * 18 + '"' * 18 + '000000000?)"00?)"'
    assert facts_in(gist(text)) <= facts_in(text)
