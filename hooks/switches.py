"""What a person has switched off, by environment variables that both the hooks and the server read."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

CAPTURE = "EBBING_CAPTURE"
CAPTURED = ("prompts", "tools", "answers")
INJECT = "EBBING_INJECT"
INJECTED = ("start", "prompts")
NOTHING = "none"


def chosen(env: Mapping[str, str], variable: str, every: tuple[str, ...]) -> frozenset[str]:
    """The words of `every` that a variable lists, all of them where it isn't set; what it doesn't name is off."""
    text = env.get(variable, "").strip().lower()
    return frozenset(every) if not text else frozenset(text.replace(",", " ").split()).intersection(every)


def unknown(env: Mapping[str, str], variable: str, every: tuple[str, ...]) -> list[str]:
    """The words that a variable lists and that mean nothing."""
    words = env.get(variable, "").strip().lower().replace(",", " ").split()
    return [word for word in words if word not in every and word != NOTHING]
