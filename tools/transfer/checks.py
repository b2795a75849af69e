"""Whether a record could have come out of a store: what is wrong with it is said, and nothing wrong gets in."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, cast

from ...schemas.errors import InvalidInputError
from ...schemas.ids import parse_id
from ...schemas.instants import to_datetime
from ...schemas.memory import Event, Kind, State
from ...store.carried import Column, Record

Columns = Mapping[str, Sequence[Column]]

_INTEGER_BITS: Final = 63
_WIDTHS: Final = (32, 8, 4, 2)
_HEAVIEST: Final = 1e6
_FRACTIONS: Final = ("importance", "arousal", "trust")
_INSTANTS: Final = (
    "recorded_at",
    "valid_from",
    "valid_to",
    "expires_at",
    "forgotten_at",
    "evicted_at",
    "last_use_at",
)
_TYPES: Final[Mapping[str, tuple[type, ...]]] = {"INTEGER": (int,), "REAL": (int, float), "TEXT": (str,)}


def check(record: Record, columns: Columns) -> None:
    """Refuse a record that this store's tables could not hold or its readers not read.

    Raises:
        InvalidInputError: saying what is wrong, without quoting any memory.
    """
    checker = _CHECKERS.get(str(record.get("type")))
    if checker is None:
        raise InvalidInputError("it is of no type that this version knows")
    checker(record, columns)


def _scope(record: Record, columns: Columns) -> None:
    _row({name: value for name, value in record.items() if name != "type"}, columns["scope"], {})
    parts = [record.get(name) for name in ("clock_origin", "clock_start", "clock_end", "clock_latest")]
    if any(part is None for part in parts) and any(part is not None for part in parts):
        raise InvalidInputError("the scope's clock is incomplete")


def _meta(record: Record, _columns: Columns) -> None:
    _only(record, {"type", "key", "value"})
    _text(record["key"], "key")
    _text(record["value"], "value")


def _memory(record: Record, columns: Columns) -> None:
    flags = {column.name for column in columns["flags"]}
    _require(all(record.get(name, True) is True for name in flags), "a mark is true or left out")
    apart = {"type", "scope", "content", "strength", "attic", "mentions"} | flags
    own = {name: value for name, value in record.items() if name not in apart}
    lists: Mapping[str, Callable[[Any], bool]] = {"entities": _pairs, "slots": _slots, "tags": _texts}
    _row(own, columns["memory"], lists)
    _text(record.get("scope"), "scope")
    _text(record.get("content"), "content")
    if not _is_id(record["id"]) or record["kind"] not in set(Kind):
        raise InvalidInputError("its id or kind is none")
    if any(not 0 <= record[name] <= 1 for name in _FRACTIONS):
        raise InvalidInputError(f"one of {', '.join(_FRACTIONS)} is not between 0 and 1")
    if "mentions" in record and not _pairs(record["mentions"]):
        raise InvalidInputError("mentions are pairs of kind and value")
    _figures(record, columns)
    for name in _INSTANTS:
        _instant(own.get(name, record["strength"].get(name)), name)
    if "attic" in record:
        _only(record["attic"], {"moved_at"})
        _instant(record["attic"]["moved_at"], "moved_at", required=True)


def _is_id(text: str) -> bool:
    """Whether it is an id as tools take it: a memory with another could never be named."""
    try:
        return parse_id(text) == text
    except InvalidInputError:
        return False


def _figures(record: Record, columns: Columns) -> None:
    _require(isinstance(record.get("strength"), dict), "it has no strength")
    figures: Record = record["strength"]
    _row(figures, columns["strength"], {})
    if figures.get("state", 0) not in set(State) or figures.get("bit_width", 32) not in _WIDTHS:
        raise InvalidInputError("its state or precision is none")


def _links(record: Record, _columns: Columns) -> None:
    _only(record, {"type", "memory", "links"})
    _text(record["memory"], "memory")
    _require(_all(record["links"], _is_link), "links are triples of id, relation and weight")


def _journal(record: Record, _columns: Columns) -> None:
    _only(record, {"type", "at", "event", "scope", "memory", "ref", "data"})
    _instant(record["at"], "at", required=True)
    if not isinstance(record["event"], str) or record["event"] not in set(Event):
        raise InvalidInputError("the journal knows no such event")
    for name in ("scope", "memory", "ref"):
        if record[name] is not None:
            _text(record[name], name)
    if not isinstance(record["data"], dict):
        raise InvalidInputError("an entry's data is an object")


_CHECKERS: Final[Mapping[str, Callable[[Record, Columns], None]]] = {
    "scope": _scope,
    "meta": _meta,
    "memory": _memory,
    "links": _links,
    "journal": _journal,
}


def _row(values: Mapping[str, Any], columns: Sequence[Column], lists: Mapping[str, Callable[[Any], bool]]) -> None:
    known = {column.name: column for column in columns}
    unknown = values.keys() - known
    if unknown:
        raise InvalidInputError(f"this version knows no {_named(unknown)}: a newer ebbing may have written it")
    missing = [name for name, column in known.items() if name not in values and not column.optional]
    if missing:
        raise InvalidInputError(f"it lacks {_named(missing)}")
    for name, value in values.items():
        if name in lists:
            _require(lists[name](value), f"{name} is not a list as it should be")
        elif value is None:
            _require(known[name].nullable, f"{name} is null")
        else:
            _typed(value, known[name])


def _typed(value: Any, column: Column) -> None:
    fits = isinstance(value, _TYPES.get(column.type, ())) and not isinstance(value, bool)
    _require(fits, f"{column.name} is not of type {column.type}")
    if isinstance(value, str):
        _text(value, column.name)
    elif isinstance(value, int):
        _require(value.bit_length() <= _INTEGER_BITS, f"{column.name} is too large")
    else:
        _require(math.isfinite(value), f"{column.name} is not finite")


def _instant(value: Any, name: str, *, required: bool = False) -> None:
    if value is None:
        _require(not required, f"{name} is null")
        return
    _require(isinstance(value, int) and not isinstance(value, bool), f"{name} is not an instant")
    try:
        to_datetime(value)
    except OverflowError:
        raise InvalidInputError(f"{name} is not an instant") from None


def _text(value: Any, name: str) -> None:
    _require(isinstance(value, str), f"{name} is not a text")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise InvalidInputError(f"{name} is not valid Unicode") from None


def _only(record: Any, names: set[str]) -> None:
    _require(isinstance(record, dict) and record.keys() == names, f"it does not have exactly {_named(names)}")


def _require(fits: bool, otherwise: str) -> None:
    if not fits:
        raise InvalidInputError(otherwise)


def _named(names: Any) -> str:
    return ", ".join(sorted(str(name)[:40] for name in names))


def _all(value: Any, fits: Callable[[Any], bool], length: int | None = None) -> bool:
    """Whether a value is a list, of some length if one is given, whose items all fit."""
    if not isinstance(value, list):
        return False
    items = cast("list[Any]", value)
    return (length is None or len(items) == length) and all(fits(item) for item in items)


def _texts(value: Any) -> bool:
    return _all(value, _is_text)


def _pairs(value: Any) -> bool:
    return _all(value, lambda item: _all(item, _is_text, 2))


def _slots(value: Any) -> bool:
    return _all(value, lambda item: _all(item, _is_anything, 4) and _texts(item[:3]) and isinstance(item[3], bool))


def _is_link(value: Any) -> bool:
    return _all(value, _is_anything, 3) and _texts(value[:2]) and _is_weight(value[2])


def _is_weight(value: Any) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and -_HEAVIEST <= value <= _HEAVIEST


def _is_anything(_value: Any) -> bool:
    return True


def _is_text(value: Any) -> bool:
    try:
        _text(value, "")
    except InvalidInputError:
        return False
    return True
