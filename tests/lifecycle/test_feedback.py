import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbing.lifecycle.constants import DecaySettings
from ebbing.lifecycle.feedback import after_signal, confirmed, contradicted, starting_trust
from ebbing.schemas.memory import Signal


def test_trust_starts_by_source() -> None:
    assert [starting_trust(source) for source in ("user", "tool", "agent", "outside")] == [1.0, 0.8, 0.6, 0.4]


def test_a_source_that_does_not_exist_has_no_trust() -> None:
    with pytest.raises(KeyError):
        starting_trust("rumour")


def test_a_confirmation_gains_a_share_of_what_is_missing() -> None:
    assert confirmed(0.6) == pytest.approx(0.64)
    assert confirmed(1.0) == 1.0


def test_a_contradiction_loses_a_share_of_what_is_there() -> None:
    assert contradicted(0.6) == pytest.approx(0.42)
    assert contradicted(0.0) == 0.0


def test_one_contradiction_outweighs_one_confirmation() -> None:
    assert contradicted(confirmed(0.6)) < 0.6


@pytest.mark.parametrize(
    ("signal", "expected"),
    [(Signal.USEFUL, 0.64), (Signal.USED, 0.64), (Signal.WRONG, 0.42), (Signal.OUTDATED, 0.6)],
)
def test_each_signal_moves_trust_its_way(signal: Signal, expected: float) -> None:
    assert after_signal(0.6, signal) == pytest.approx(expected)


@given(st.floats(0.0, 1.0), st.lists(st.sampled_from(Signal), max_size=60))
def test_trust_stays_between_zero_and_one(trust: float, signals: list[Signal]) -> None:
    for signal in signals:
        trust = after_signal(trust, signal)
    assert 0.0 <= trust <= 1.0


def test_how_far_trust_moves_is_a_setting() -> None:
    settings = DecaySettings(trust_gain=0.5, trust_loss=1.0)
    assert after_signal(0.6, Signal.USED, settings) == pytest.approx(0.8)
    assert after_signal(0.6, Signal.WRONG, settings) == 0.0
