"""What a `with` block holds is closed at its end, whatever happened inside."""

import pytest

from ebbing.schemas.closing import Closing


class Door(Closing):
    def __init__(self) -> None:
        self.closed = 0

    def close(self) -> None:
        self.closed += 1


def test_it_is_closed_once_at_the_end() -> None:
    with Door() as door:
        assert not door.closed
    assert door.closed == 1


def test_it_is_closed_when_something_is_raised_which_goes_on() -> None:
    door = Door()
    with pytest.raises(ValueError, match="stuck"), door:
        raise ValueError("stuck")
    assert door.closed == 1
