"""Feedback moves trust: towards 1 with each confirmation, towards 0 with each contradiction, never past either."""

from ..schemas.memory import Signal
from .constants import DEFAULTS, DecaySettings


def starting_trust(source: str, settings: DecaySettings = DEFAULTS) -> float:
    """Return the trust in [0, 1] of a new memory from "user", "tool", "agent" or "outside"; KeyError otherwise."""
    return {
        "user": settings.trust_user,
        "tool": settings.trust_tool,
        "agent": settings.trust_agent,
        "outside": settings.trust_outside,
    }[source]


def confirmed(trust: float, settings: DecaySettings = DEFAULTS, *, at_least: float = 0.0) -> float:
    """Return trust after a confirmation: `trust_gain` of what was missing to 1 is gained, `at_least` some trust."""
    return max(at_least, trust + settings.trust_gain * (1.0 - trust))


def contradicted(trust: float, settings: DecaySettings = DEFAULTS) -> float:
    """Return trust after a contradiction: `trust_loss` of it is lost, so that one outweighs one confirmation."""
    return trust * (1.0 - settings.trust_loss)


def after_signal(trust: float, signal: Signal, settings: DecaySettings = DEFAULTS) -> float:
    """Return trust after a signal of `learn`.

    Being useful or used confirms and being wrong contradicts. Being outdated says nothing against the source: what it
    said was true in its time, so trust stays and validity ends instead.
    """
    return {
        Signal.USEFUL: confirmed(trust, settings),
        Signal.USED: confirmed(trust, settings),
        Signal.WRONG: contradicted(trust, settings),
        Signal.OUTDATED: trust,
    }[signal]
