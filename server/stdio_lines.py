"""The protocol's lines: bytes into messages, messages into bytes. Pure; nothing here raises on what a peer sends."""

import json
import logging
from dataclasses import dataclass
from typing import Any, cast

from mcp_types import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
)
from pydantic import ValidationError
from pydantic_core import PydanticSerializationError, from_json

from .stdio_repair import recover_id, repair_surrogates

logger = logging.getLogger(__name__)

MAX_LINE_BYTES = 32 * 1024 * 1024
_KEPT_BYTES = 4096  # of each end of a line that can't be parsed: enough to find its id


@dataclass(frozen=True, slots=True)
class OverlongLine:
    """Both ends of a line that was over the limit, and its size in bytes."""

    head: bytes
    tail: bytes
    size: int


@dataclass(frozen=True, slots=True)
class Rejected:
    """A line that is not a message, as the error to answer it with."""

    reply: JSONRPCError


class LineSplitter:
    """Cuts a byte stream at newlines and never holds more than `limit` bytes of one line."""

    def __init__(self, limit: int = MAX_LINE_BYTES) -> None:
        self._limit = limit
        self._reset()

    def feed(self, chunk: bytes) -> list[bytes | OverlongLine]:
        """Return the lines that `chunk` completes, without their newlines."""
        *ended, rest = chunk.split(b"\n")
        lines: list[bytes | OverlongLine] = []
        for piece in ended:
            self._add(piece)
            lines.append(self._take())
        self._add(rest)
        return lines

    def finish(self) -> list[bytes | OverlongLine]:
        """Return what follows the last newline, as a list of one line or none."""
        return [self._take()] if self._size else []

    def _reset(self) -> None:
        self._held = bytearray()
        self._tail = b""
        self._size = 0

    def _add(self, piece: bytes) -> None:
        was_overlong = self._size > self._limit
        self._size += len(piece)
        if self._size <= self._limit:
            self._held += piece
            return
        before = self._tail if was_overlong else bytes(self._held[-_KEPT_BYTES:])
        self._tail = (before + piece[-_KEPT_BYTES:])[-_KEPT_BYTES:]
        self._held = (self._held[:_KEPT_BYTES] + piece[:_KEPT_BYTES])[:_KEPT_BYTES]

    def _take(self) -> bytes | OverlongLine:
        overlong = self._size > self._limit
        line = OverlongLine(bytes(self._held), self._tail, self._size) if overlong else bytes(self._held)
        self._reset()
        return line


def parse_line(line: bytes | OverlongLine) -> JSONRPCMessage | Rejected | None:
    """Return the message in `line`, the error to answer it with, or None for a blank line.

    Invalid UTF-8 and lone surrogate escapes become U+FFFD. The error carries the request's id where it can be told,
    so that the caller fails at once instead of waiting for its timeout.
    """
    if isinstance(line, OverlongLine):
        request_id = _recover_id(line.head, line.tail)
        return _reject(INVALID_REQUEST, f"Message of {line.size} bytes is too large", request_id)
    if not line.strip():
        return None
    try:
        value = _parse_json(line)
    except ValueError as error:
        request_id = _recover_id(line[:_KEPT_BYTES], line[-_KEPT_BYTES:])
        return _reject(PARSE_ERROR, f"Parse error: {error}", request_id)
    return _parse_message(value)


def encode_message(message: JSONRPCMessage) -> bytes:
    """Return `message` as one line of JSON with its newline; text that is not valid Unicode becomes U+FFFD."""
    try:
        return message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
    except PydanticSerializationError:
        return _encode_leniently(message)


def _parse_json(line: bytes) -> object:
    """Raises ValueError when the line is not JSON even after repair."""
    try:
        return from_json(line, allow_inf_nan=False)
    except ValueError:
        text = line.decode("utf-8", "replace").removeprefix("\ufeff")
        return from_json(repair_surrogates(text), allow_inf_nan=False)


def _recover_id(head: bytes, tail: bytes) -> RequestId | None:
    return recover_id(head.decode("utf-8", "replace"), tail.decode("utf-8", "replace"))


def _parse_message(value: object) -> JSONRPCMessage | Rejected:
    if isinstance(value, list):
        return _reject(INVALID_REQUEST, "Invalid request: batches are not supported", None)
    if not isinstance(value, dict):
        return _reject(INVALID_REQUEST, "Invalid request: not an object", None)
    members = cast("dict[str, Any]", value)
    try:
        return _model_of(members).model_validate(members)
    except ValidationError:
        return _reject(INVALID_REQUEST, "Invalid request: not a JSON-RPC 2.0 message", _id_of(members))


def _model_of(members: dict[str, Any]) -> type[JSONRPCMessage]:
    # By its members and not by whichever model fits: a request with an unusable id would pass as a notification.
    if "method" in members:
        return JSONRPCRequest if "id" in members else JSONRPCNotification
    if "result" in members:
        return JSONRPCResponse
    return JSONRPCError if "error" in members else JSONRPCRequest


def _id_of(members: dict[str, Any]) -> RequestId | None:
    found = members.get("id")
    answers_us = "method" not in members and ("result" in members or "error" in members)
    usable = isinstance(found, int | str) and not isinstance(found, bool)
    return found if usable and not answers_us else None


def _reject(code: int, message: str, request_id: RequestId | None) -> Rejected:
    return Rejected(JSONRPCError(jsonrpc="2.0", id=request_id, error=ErrorData(code=code, message=message)))


def _encode_leniently(message: JSONRPCMessage) -> bytes:
    try:
        text = json.dumps(message.model_dump(by_alias=True, exclude_unset=True), allow_nan=False)
    except (TypeError, ValueError):
        logger.exception("a message could not be written as JSON")
        failure = ErrorData(code=INTERNAL_ERROR, message="The reply could not be written as JSON")
        request_id = None if isinstance(message, JSONRPCNotification) else message.id
        return encode_message(JSONRPCError(jsonrpc="2.0", id=request_id, error=failure))
    return repair_surrogates(text).encode() + b"\n"
