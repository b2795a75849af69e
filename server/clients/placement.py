"""What ebbing puts into a client's file, and what it must know to take it out again."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, cast

HOOK_PROGRAM = "ebbing-hook"


@dataclass(frozen=True, slots=True)
class Placement:
    """A value and its place.

    Attributes:
        path: the names that lead there.
        value: what stands there in the end; of an object that is there already only these members are set.
        listed: the value is an entry of the list at `path`, beside whatever else is in it.
        needed: the value only has to be there at all; another one is left as it is, and it is no part of ebbing.
    """

    path: tuple[str, ...]
    value: Any
    listed: bool = False
    needed: bool = False


@dataclass(frozen=True, slots=True)
class Undo:
    """How one change is taken back, whatever else in the file has changed since.

    Attributes:
        path: the names that lead to what was changed.
        listed: an entry of ebbing's in the list at `path` was added or changed.
        depth: how many containers on the way were there before; -1 if the file held none at all.
        hollow: what stood in the innermost one that was there, if it had no items; or before a table of TOML.
        was: the text that was replaced, if the place was taken.
    """

    path: tuple[str, ...]
    listed: bool = False
    depth: int = 0
    hollow: str | None = None
    was: str | None = None

    def as_json(self) -> dict[str, Any]:
        """A form that `from_json` reads."""
        return asdict(self)

    @classmethod
    def from_json(cls, given: dict[str, Any]) -> Undo:
        """The change that `as_json` gave.

        Raises:
            TypeError, KeyError: if it didn't.
        """
        arguments: dict[str, Any] = {**given, "path": tuple(given["path"])}
        return cls(**arguments)


def as_object(value: Any) -> dict[str, Any] | None:
    """The value if it is an object of JSON or a table of TOML."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def as_list(value: Any) -> list[Any] | None:
    """The value if it is a list."""
    return cast("list[Any]", value) if isinstance(value, list) else None


def is_ours(handler: Any) -> bool:
    """Whether an entry of a list of hooks runs ebbing's program, under whatever path and through whatever runner."""
    if isinstance(handler, str):
        words = handler.replace("\\", "/").replace('"', " ").replace("'", " ").split()
        return any(word.rpartition("/")[2].removesuffix(".exe") == HOOK_PROGRAM for word in words)
    members = as_object(handler)
    if members is not None:
        return any(is_ours(value) for key, value in members.items() if key != "hooks")
    return any(is_ours(value) for value in as_list(handler) or ())
