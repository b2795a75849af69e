"""Every constant of decay, as one frozen object: each has its documented default and can be set on its own."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class DecaySettings:
    """The constants of time, strength, retention, states, heat, eviction and trust.

    Units are in the comments: days are days of the activity clock unless a comment says otherwise; weights and
    thresholds have no unit.
    """

    # Activity clock: one wall day costs a memory 1 / wall_days_per_day of a day, active or not.
    wall_days_per_day: float = 30.0

    # Base stability by kind, in days.
    base_observation: float = 1.0
    base_episode: float = 7.0
    base_fact: float = 14.0
    base_procedure: float = 21.0
    base_decision: float = 30.0
    base_preference: float = 60.0

    # Stability: weights of the six terms, and its floor in days.
    weight_uses: float = 2.0
    weight_importance: float = 1.5
    weight_confirmations: float = 1.0
    weight_arousal: float = 0.5
    weight_association: float = 0.5
    weight_activation: float = 0.25
    stability_floor: float = 0.1
    spacing_days: float = 1.0  # wall days: how far apart two uses must be to count as two
    weak_use: float = 0.25  # what a use counts that a reply shows and nobody reports; 0 looks for none
    activation_days: float = 14.0  # time constant with which an activation dies away

    # Retention: how much a lack of trust speeds forgetting up.
    trust_kappa: float = 2.0

    # States: lower bounds of retention, and the half-width of the dead band around each.
    active_above: float = 0.8
    warm_above: float = 0.5
    cold_above: float = 0.2
    archive_above: float = 0.05
    hysteresis: float = 0.02

    # Embedding precision of each state, in bits per dimension.
    bits_active: int = 32
    bits_warm: int = 8
    bits_cold: int = 4
    bits_archive: int = 2
    bits_forgotten: int = 2

    # Heat: shown on `heat_days` of the last `heat_window` active days (at most 63).
    heat_days: int = 3
    heat_window: int = 7

    # Budget: marks as shares of either budget, exemption of the young in days, undo in wall days.
    budget_bytes: int = 512 * 1024 * 1024
    budget_memories: int = 200_000
    high_mark: float = 0.85
    low_mark: float = 0.70
    young_days: float = 2.0
    undo_days: float = 30.0

    # Retention value (`value.py`): exponents of uses and confirmations, importance, length, interference and
    # familiarity in the fast trace; those in the slow one, its weight (a natural logarithm) and its power of time.
    value_uses: float = 6.24
    value_importance: float = 3.0
    value_detail: float = 0.5
    value_interference: float = 3.94
    value_familiarity: float = 1.19
    lasting_share: float = -1.442
    lasting_uses: float = 4.02
    lasting_importance: float = 3.0
    lasting_detail: float = 1.06
    lasting_interference: float = 2.79
    lasting_fading: float = 0.216

    # Trust: where a source starts, and how far one confirmation or contradiction moves it.
    trust_user: float = 1.0
    trust_tool: float = 0.8
    trust_agent: float = 0.6
    trust_outside: float = 0.4
    trust_gain: float = 0.1
    trust_loss: float = 0.3


DEFAULTS = DecaySettings()
"""The documented defaults."""
