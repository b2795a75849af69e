"""Which memories hold some texts word for word, wherever their own text lies; and what stands in rows at all."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ..schemas.errors import StoreCorruptError
from .attic import unpack
from .database import Database, Row
from .spool_purge import contains, plain
from .traces import Traces

_ROWS: Final = 500
_RUN: Final = re.compile(r"[0-9A-Za-z]+")

_TEXTS: Final = (
    "SELECT m.seq, m.scope, m.content, a.codec, a.body, m.gist, m.cue, m.entities, m.slots, m.tags, m.source"
    " FROM memory m LEFT JOIN attic a USING (seq) WHERE m.seq > ? ORDER BY m.seq LIMIT ?"
)
_OTHERS: Final = (
    "SELECT id, value FROM entity WHERE id > ? ORDER BY id LIMIT ?",
    "SELECT id, key FROM scope WHERE id > ? ORDER BY id LIMIT ?",
    "SELECT id, data FROM journal WHERE id > ? ORDER BY id LIMIT ?",
)


@dataclass(frozen=True, slots=True)
class Holder:
    """A memory (seq) of a scope (row id) that holds one of the texts."""

    seq: int
    scope: int


class Saying:
    """Reads every row: what an index finds is only what the index holds."""

    def __init__(self, database: Database) -> None:
        """Read through `database`."""
        self._database = database

    def holders(self, texts: Sequence[str]) -> list[Holder]:
        """The memories in whose text, gist or cue one of some texts stands whole, but for white space and escapes."""
        wanted = plain(texts)
        runs = {max(_RUN.findall(text), key=len, default="") for text in wanted}
        found: list[Holder] = []
        for rows in self._batches(_TEXTS) if wanted else ():
            for seq, scope, content, codec, body, gist, cue, *_ in rows:
                said = f"{_whole(content, codec, body)}\n{gist}\n{cue}"
                # Looking for a word of each is quick, and leaves little that has to be compared with care.
                is_near = any(run in said for run in runs) or "\\" in said
                if is_near and contains(said.encode("utf-8", "replace"), wanted):
                    found.append(Holder(int(seq), int(scope)))
        return found

    def said(self, traces: Traces) -> set[bytes]:
        """The windows that stand in what rows say: memories, entities, names of scopes, the journal."""
        found: set[bytes] = set()
        for rows in self._batches(_TEXTS):
            texts = (_whole(content, codec, body) for _, _, content, codec, body, *_ in rows)
            found |= traces.found(_joined([*texts, *(value for row in rows for value in row[5:])]))
            # Packed texts that begin alike have bytes in common too.
            found |= traces.found(b"\0".join(body for _, _, _, _, body, *_ in rows if body is not None))
        for statement in _OTHERS:
            for rows in self._batches(statement):
                found |= traces.found(_joined([value for _, value in rows]))
        return found

    def _batches(self, statement: str) -> Iterator[list[Row]]:
        last = 0
        while rows := self._database.rows(statement, (last, _ROWS)):
            yield rows
            last = rows[-1][0]


def _joined(values: Sequence[str | None]) -> bytes:
    return "\0".join(value for value in values if value is not None).encode("utf-8", "replace")


def _whole(content: str | None, codec: str | None, body: bytes | None) -> str:
    if content is not None:
        return content
    try:
        return unpack(codec, body)
    except StoreCorruptError:
        return ""
