"""By which terms a text is recognised where it is reused, and when a reply counts as a reuse."""

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbing.encoding.distinctive import Rarity, Terms, reused, terms_of


def stems(words: Sequence[str]) -> list[str]:
    return [word.removesuffix("s") for word in words]


def terms(text: str) -> Terms:
    return terms_of(text, stems)


def rarity(common: Mapping[str, int] | None = None) -> Rarity:
    counts = common or {}
    return Rarity(lambda name: counts.get(name, 1), lambda stem: counts.get(stem, 1), 3)


def used(reply: str, shown: Sequence[str], known: str = "", common: Mapping[str, int] | None = None) -> list[int]:
    named = {str(number): terms(text) for number, text in enumerate(shown)}
    return [int(name) for name in reused(terms(reply), named, terms(known), rarity(common))]


@pytest.mark.parametrize(
    ("text", "exact"),
    [
        ("The port is 8443, since 2019.", {"8443"}),
        ("Run src/auth/hash.py with Python 3.11.4.", {"src/auth/hash.py", "3.11.4"}),
        ("retryBudget and MAX_RETRIES, twice, in v2", {"retrybudget", "max_retries"}),
        ("a well-known follow-up, and/or not; e.g. 12 or 5", set[str]()),
        ("see ticket ABC-1234 by me@host.example", {"abc-1234", "me@host.example"}),
    ],
)
def test_names_and_numbers_are_exact_and_the_rest_is_words(text: str, exact: set[str]) -> None:
    assert terms(text).exact == exact


def test_years_short_numbers_and_parts_of_hyphenated_words_are_words() -> None:
    assert {"2019", "well", "known"} <= terms("a well-known thing of 2019").words
    assert "the" not in terms("the thing").words


def test_a_name_or_number_of_one_memory_is_enough_and_so_are_three_words() -> None:
    shown = ["Staging listens on port 8443.", "The team eats lunch at noon.", "Deploys happen after the smoke test."]
    assert used("Connect to 8443.", shown) == [0]
    assert used("We deploy, deploys happen, after a smoke check.", shown) == [2]
    assert used("Lunch time.", shown) == []


def test_a_long_text_needs_more_than_one_term_in_common() -> None:
    long = " ".join(f"setting_{number}" for number in range(60))
    assert used("It is setting_1.", ["setting_1", "other"]) == [0]
    assert used("It is setting_1.", [long, "other"]) == []
    assert used("It is setting_1, setting_2 or setting_3.", [long, "other"]) == [0]


def test_what_the_prompt_or_most_others_say_or_many_memories_hold_tells_nothing() -> None:
    shown = ["Staging has 8443 on web.example", "Production has 9443 on web.example", "Tests have 7443 on web.example"]
    assert used("It is web.example", shown) == []
    assert used("It is 8443", shown, known="is it 8443?") == []
    assert used("It is 8443", shown, common={"8443": 4}) == []
    assert used("It is 8443", shown, common={"8443": 3}) == [0]


def test_quoting_more_than_half_of_what_was_shown_uses_none_of_it() -> None:
    shown = [f"Service {number} listens on port 80{number}1." for number in range(5)]
    assert used("8001", shown) == [0]
    assert used("8001 and 8021", shown) == [0, 2]
    assert used(" ".join(shown[:3]), shown) == []
    assert used(" ".join(shown), shown) == []
    assert used(shown[0], shown[:1]) == [0]


@given(st.lists(st.text("abcX12./_-é 日本", max_size=40), max_size=5), st.text("abcX12./_- 日", max_size=60))
def test_no_text_breaks_it_and_nothing_but_what_was_shown_is_used(shown: list[str], reply: str) -> None:
    assert set(used(reply, shown)) <= set(range(len(shown)))
    assert used(reply, shown, known=reply) == []
