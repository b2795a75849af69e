"""Records as lines of JSON, and back: a line that can't be read is named by its number and kept apart."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, NoReturn, cast

from ...schemas.errors import InvalidInputError
from ...schemas.nesting import is_too_deep
from ...store.carried import FORMAT, Record
from .checks import Columns, check

_FIRST = 1
_TYPE = "ebbing-export"


@dataclass(frozen=True, slots=True)
class Line:
    """A line by its number: its record, or what is wrong with it."""

    number: int
    record: Record | None = None
    wrong: str = ""


def to_line(record: Record) -> bytes:
    """A record as one line of UTF-8."""
    try:
        text = json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n"
        return text.encode("utf-8")
    except UnicodeEncodeError:
        # Half a surrogate pair, in what a client once said: only an escape can carry it.
        return (json.dumps(record, separators=(",", ":")) + "\n").encode("ascii")


def header_of(file: BinaryIO) -> Record:
    """The first line of an export, read from the file's beginning.

    Raises:
        InvalidInputError: if the file is not an export, or of a format this version can't read.
    """
    file.seek(0)
    record = _parsed(_FIRST, file.readline()).record
    if record is None or record.get("type") != _TYPE:
        raise InvalidInputError("the file is not an export of ebbing: its first line is not the header")
    written = record.get("format")
    if not isinstance(written, int) or not 1 <= written <= FORMAT:
        raise InvalidInputError(f"the export has format {written}, this version reads up to {FORMAT}: upgrade ebbing")
    if not isinstance(record.get("records"), dict):
        raise InvalidInputError("the export's header does not say how many records follow")
    return record


def lines_of(file: BinaryIO, columns: Columns) -> Iterator[Line]:
    """The lines after the header, each checked, read from the file's beginning; empty ones are passed over."""
    file.seek(0)
    file.readline()
    for number, raw in enumerate(file, _FIRST + 1):
        if raw.strip():
            yield _checked(_parsed(number, raw), columns)


def _checked(line: Line, columns: Columns) -> Line:
    if line.record is None:
        return line
    try:
        check(line.record, columns)
    except InvalidInputError as error:
        return Line(line.number, wrong=str(error))
    return line


def _parsed(number: int, raw: bytes) -> Line:
    try:
        found: object = json.loads(raw.decode("utf-8"), parse_constant=_refuse)
    except (ValueError, RecursionError):
        return Line(number, wrong="it is not JSON in UTF-8, or broken off")
    if not isinstance(found, dict):
        return Line(number, wrong="it is not a JSON object")
    if is_too_deep(raw, found):
        return Line(number, wrong="it is nested too deeply")
    return Line(number, cast("Record", found))


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)
