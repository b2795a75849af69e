"""Checks of arguments that several tools share; each error says what to change."""

from __future__ import annotations

from collections.abc import Sequence

from ..encoding.clean import clean
from ..schemas.errors import InvalidInputError, TooLargeError, UnknownMemoryError
from ..schemas.ids import parse_id
from ..schemas.instants import parse
from ..schemas.memory import GLOBAL_SCOPE, Kind, Memory
from ..schemas.texts import whole
from .services import Services

_MAX_SCOPE = 4096


def scope_key(services: Services, scope: str | None) -> str:
    """The scope that a call is about: the session's project unless it names another."""
    if scope is None or not scope.strip():
        return services.scope
    if len(scope) > _MAX_SCOPE or "\0" in scope or whole(scope) != scope:
        raise InvalidInputError("the scope is not a project key: give 'global', or the path of a project")
    return scope.strip()


def visible_scopes(services: Services, scope: str | None) -> tuple[str, ...]:
    """What a recall may see: the scope and `global`, nothing else."""
    return tuple(dict.fromkeys((scope_key(services, scope), GLOBAL_SCOPE)))


def question(services: Services, query: str) -> str:
    """A query as it is looked for: clean, without space around it.

    Raises:
        TooLargeError: if it is longer than a question is.
    """
    asked = clean(query).strip()
    if len(asked) > services.limits.query_characters:
        raise TooLargeError(
            f"the query has {len(asked):,} characters, more than {services.limits.query_characters:,}: "
            "ask for the point of it in a sentence or two"
        )
    return asked


def kind_of(name: str) -> Kind:
    """A kind by its name."""
    try:
        return Kind(name.strip().lower())
    except ValueError:
        raise InvalidInputError(f"{name[:40]!r} is not a kind of memory; kinds are {', '.join(Kind)}") from None


def instant(text: str | None, name: str, *, end_of_day: bool = False) -> int | None:
    """An optional date argument as an instant (µs)."""
    if text is None:
        return None
    try:
        return parse(text, end_of_day=end_of_day)
    except InvalidInputError as error:
        raise InvalidInputError(f"{name}: {error}") from None


def ordered(start: int | None, end: int | None, names: str) -> None:
    """Refuse a range that ends before it starts."""
    if start is not None and end is not None and end < start:
        raise InvalidInputError(f"{names}: the end lies before the start; swap them")


def memories_by_id(services: Services, ids: Sequence[str], scopes: Sequence[str]) -> list[Memory]:
    """The memories with some ids, all of which must lie in the given scopes."""
    if len(ids) > services.limits.ids:
        raise TooLargeError(f"{len(ids)} ids are more than the {services.limits.ids} of one call: split the call")
    wanted = list(dict.fromkeys(parse_id(identifier) for identifier in ids))
    found = services.store.memories.by_ids(wanted)
    for memory in found:
        if memory.scope not in scopes:
            raise UnknownMemoryError(
                f"memory {memory.id} belongs to another scope than this session's: name its scope to reach it"
            )
    return found


def between(value: float, low: float, high: float, name: str) -> float:
    """A number within bounds."""
    if not low <= value <= high:
        # A whole number of hundreds of digits is more than a float can hold, and than anyone wants to read.
        raise InvalidInputError(f"{name} must lie between {low:g} and {high:g}, not {str(value)[:20]}")
    return value
