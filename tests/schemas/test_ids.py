"""Identifiers: unique, in the order of time, read in every usual spelling."""

import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbing.schemas.errors import InvalidInputError
from ebbing.schemas.ids import new_id, parse_id

MILLISECOND = 1_000
LAST = (1 << 48) * MILLISECOND - 1


@given(st.integers(0, LAST))
def test_an_id_is_a_version_7_uuid_that_holds_its_millisecond(instant: int) -> None:
    made = uuid.UUID(new_id(instant))
    assert (made.version, made.variant) == (7, uuid.RFC_4122)
    assert made.int >> 80 == instant // MILLISECOND


@given(st.lists(st.integers(0, LAST // MILLISECOND), unique=True, min_size=2, max_size=20))
def test_ids_sort_by_the_time_they_were_made(milliseconds: list[int]) -> None:
    ids = [new_id(moment * MILLISECOND) for moment in sorted(milliseconds)]
    assert sorted(ids) == ids


def test_ids_of_one_moment_differ() -> None:
    assert len({new_id(0) for _ in range(10_000)}) == 10_000


def test_every_bit_that_may_be_random_is() -> None:
    seen_ones, seen_zeros = 0, 0
    for _ in range(300):
        value = uuid.UUID(new_id(0)).int
        seen_ones |= value
        seen_zeros |= ~value
    assert (seen_ones & seen_zeros & (1 << 128) - 1).bit_count() == 74


@pytest.mark.parametrize("instant", [-1, -(10**18), LAST + 1, 10**20])
def test_instants_that_a_uuid_can_not_hold_still_give_an_id(instant: int) -> None:
    assert uuid.UUID(new_id(instant)).version == 7


@given(st.integers(0, LAST))
def test_what_was_made_is_parsed_to_itself(instant: int) -> None:
    made = new_id(instant)
    assert parse_id(made) == parse_id(f"  {made.upper()}\n") == parse_id(made.replace("-", "")) == made


@given(st.text(max_size=80))
def test_any_text_is_an_id_or_an_error_that_says_what_ids_are(text: str) -> None:
    try:
        assert str(uuid.UUID(parse_id(text))) == parse_id(text)
    except InvalidInputError as error:
        assert "recall" in str(error)  # noqa: PT017 - either way is right


@pytest.mark.parametrize(
    "text", ["", " ", "7", "not-an-id", "0198c2f0", "x" * 10_000, "0198c2f0-0000-7000-8000-00000000000g"]
)
def test_what_is_no_id_is_refused_in_a_short_text(text: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        parse_id(text)
    assert len(str(caught.value)) < 200
