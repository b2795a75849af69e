"""How long and how often a writer looks whether others have let go of the lock."""

from itertools import count, takewhile

from ebbing.store.connections import patient


def test_without_patience_it_gives_up_at_once() -> None:
    assert not patient(0.0)(0)


def test_it_looks_often_and_gives_up_when_its_time_is_over() -> None:
    wait = patient(0.02)
    assert len(list(takewhile(wait, count()))) == 10


def test_after_a_while_it_looks_less_often() -> None:
    wait = patient(0.25)
    assert wait(104)
    assert not wait(105)
