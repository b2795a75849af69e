"""What is wrong with rows and indexes that SQLite itself finds in order: read from a connection that can't write.

A store is sound when every memory can be read whole, has its figures, and is found by its words and its embedding.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal

import apsw
import numpy as np

from ..schemas.errors import StoreCorruptError
from ..schemas.memory import Entity, Event, Kind, State
from .attic import unpack
from .blueprint import blueprint, is_base_table, is_derived
from .codec import Codes, sign_bits_of
from .connections import run
from .errors import intact
from .memories import content_hash
from .rows import to_slots

Part = Literal["words", "embeddings", "schema", "rows", "columns", "figures", "texts", "journal", "definitions"]

_ROWS: Final = 500
_TERMS: Final = 200
_WIDTHS: Final = (2, 4, 8, 32)
KINDS: Final = ", ".join(f"'{kind}'" for kind in Kind)
EVENTS: Final = ", ".join(f"'{event}'" for event in Event)
_SHIFT: Final = 12
STRANGE: Final = (
    f"state NOT BETWEEN 0 AND {int(State.FORGOTTEN)} OR bit_width NOT IN {_WIDTHS}"
    " OR NOT (stability > 0 AND stability < 1e9) OR NOT (rate > 0 AND rate < 1e9) OR uses < 0"
    " OR NOT (spaced_uses BETWEEN 0 AND 1e9) OR NOT (anchor_tau BETWEEN -1e9 AND 1e9)"
    " OR NOT (activation BETWEEN 0 AND 1e9)"
)
"""A condition on rows of `strength`: figures that nothing can have led to."""

ONE_WAY: Final = (
    "NOT EXISTS (SELECT 1 FROM link AS back"
    " WHERE back.seq = link.other AND back.other = link.seq AND back.relation = link.relation)"
)
"""A condition on rows of `link`: the same link is not stored at its other end."""

LOST: Final = (
    "SELECT DISTINCT memory FROM journal WHERE event IN ('saved', 'gisted') AND memory NOT IN (SELECT id FROM memory)"
    " AND memory NOT IN (SELECT memory FROM journal WHERE event = 'erased' AND memory IS NOT NULL)"
)
"""The ids of memories that were saved, and are gone without having been erased."""


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that is wrong: what it is about, what is so, and whether it can be made right from other rows."""

    part: Part
    text: str
    derivable: bool = True


def faults(connection: apsw.Connection) -> list[Fault]:
    """Everything that is wrong with a database of this version's schema; a part that can't be read is a fault too."""
    found: list[Fault] = []
    checks: tuple[tuple[Part, Callable[[apsw.Connection], Iterator[Fault]]], ...] = (
        ("schema", _schema),
        ("definitions", _definitions),
        ("rows", _orphans),
        ("columns", _columns),
        ("journal", _journal),
        ("figures", _figures),
        ("texts", _texts),
        ("words", _words),
        ("embeddings", _embeddings),
    )
    for part, check in checks:
        try:
            with intact():
                found += check(connection)
        except (apsw.Error, StoreCorruptError):
            derivable = part not in ("texts", "rows")
            found.append(Fault(part, "can't be read", derivable))
    return found


def _schema(connection: apsw.Connection) -> Iterator[Fault]:
    present = {str(name) for (name,) in run(connection, "SELECT name FROM sqlite_master")}
    models = [(int(number), int(size)) for number, size in run(connection, "SELECT id, dimension FROM model")]
    missing = {name: sql for name, sql in blueprint(models).items() if name not in present}
    for name, sql in missing.items():
        if is_base_table(name, sql):
            yield Fault("schema", f"the table {name} is missing", derivable=False)
    if loose := [name for name, sql in missing.items() if not is_base_table(name, sql) and not is_derived(name)]:
        yield Fault("schema", f"{len(loose)} indexes or views are missing: {', '.join(loose[:3])}")
    if words := [name for name in missing if name.startswith(("lexical", "substring"))]:
        yield Fault("words", f"{words[0]} is missing")
    if coarse := [name for name in missing if name.startswith("coarse_")]:
        yield Fault("embeddings", f"{coarse[0]} is missing")
    if not list(run(connection, "SELECT 1 FROM meta WHERE key = 'rev' AND CAST(value AS INTEGER) >= 0")):
        yield Fault("schema", "the count of changes is lost")


def _definitions(connection: apsw.Connection) -> Iterator[Fault]:
    """Statements in the schema of which a part has changed: they still make tables, but others."""
    models = [(int(number), int(size)) for number, size in run(connection, "SELECT id, dimension FROM model")]
    wanted = blueprint(models)
    present = run(connection, "SELECT name, CAST(sql AS BLOB) FROM sqlite_master WHERE sql IS NOT NULL")
    changed = [str(name) for name, sql in present if name in wanted and sql != wanted[name].encode()]
    if changed:
        yield Fault("definitions", f"of {', '.join(changed[:3])} not what they were")


def _orphans(connection: apsw.Connection) -> Iterator[Fault]:
    """Rows that belong to nothing: harmless where the memory is gone, a loss where something it needs is."""
    counts: dict[tuple[str, str], int] = {}
    for table, _, parent, _ in run(connection, "PRAGMA foreign_key_check"):
        counts[str(table), str(parent)] = counts.get((str(table), str(parent)), 0) + 1
    for (table, parent), count in sorted(counts.items()):
        derivable = parent in ("memory", "entity") or (parent == "model" and table in ("vector", "token", "piece"))
        yield Fault("rows", f"{count:,} rows of {table} belong to no row of {parent}", derivable)
    if loose := _count(connection, f"link WHERE {ONE_WAY}"):
        yield Fault("rows", f"{loose:,} links are known at one of their ends only")


def _columns(connection: apsw.Connection) -> Iterator[Fault]:
    count = _count(
        connection,
        "memory WHERE json_valid(entities) = 0 OR json_valid(slots) = 0 OR json_valid(tags) = 0"
        f" OR kind NOT IN ({KINDS}) OR NOT (trust BETWEEN 0 AND 1) OR NOT (importance BETWEEN 0 AND 1)",
    )
    if count:
        yield Fault("columns", f"{count:,} memories have values that can't be")
        return
    bad = sum(not is_read(*row) for row in run(connection, f"SELECT {READ} FROM memory"))
    if bad:
        yield Fault("columns", f"{bad:,} memories have values that can't be")


READ: Final = ", ".join(f"CAST({name} AS BLOB)" for name in ("entities", "slots", "tags", "gist", "cue"))
"""Columns as the bytes they are: damaged ones may be no text."""


def is_read(entities: bytes, slots: bytes, tags: bytes, *texts: bytes) -> bool:
    """Whether a memory's columns that are text or JSON hold what they should."""
    try:
        with intact():
            read = [[Entity(*pair) for pair in json.loads(entities)], to_slots(slots.decode())]
            read += [text.decode() for text in texts]
            return len(read) > 0 and all(isinstance(tag, str) for tag in json.loads(tags))
    except StoreCorruptError:
        return False


def _journal(connection: apsw.Connection) -> Iterator[Fault]:
    if bad := unread_entries(connection):
        yield Fault("journal", f"{len(bad):,} entries can't be read")


def unread_entries(connection: apsw.Connection) -> list[int]:
    """The entries of the journal (ids) that are no entries any more."""
    rows = run(
        connection,
        f"SELECT id, event IN ({EVENTS}) AND CASE WHEN json_valid(data) THEN json_type(data) = 'object' END,"
        " CAST(concat(memory, ' ', ref, ' ', data) AS BLOB) FROM journal",
    )
    return [int(number) for number, readable, text in rows if not (readable and _is_text(text))]


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _figures(connection: apsw.Connection) -> Iterator[Fault]:
    missing = _count(connection, "memory WHERE seq NOT IN (SELECT seq FROM strength)")
    if missing:
        yield Fault("figures", f"{missing:,} memories have no figures and can't be recalled")
    strange = _count(connection, f"strength WHERE {STRANGE}")
    if strange:
        yield Fault("figures", f"{strange:,} memories have figures that can't be")


def _texts(connection: apsw.Connection) -> Iterator[Fault]:
    """Memories and their texts: there, and what was stored, by their hash."""
    gone = _count(connection, f"({LOST})")
    if gone:
        yield Fault("texts", f"{gone:,} memories that the journal tells of are gone", derivable=False)
    lost = wrong = 0
    rows = run(
        connection,
        f"SELECT {TEXT}, m.content_hash FROM memory m LEFT JOIN attic a USING (seq)",
    )
    for content, codec, body, digest in rows:
        text = text_of(content, codec, body)
        lost += text is None
        wrong += text is not None and content_hash(text) != digest
    if lost:
        yield Fault("texts", f"the texts of {lost:,} memories are lost", derivable=False)
    if wrong:
        yield Fault("texts", f"the texts of {wrong:,} memories are not what was stored", derivable=False)


TEXT: Final = "CAST(m.content AS BLOB), CAST(a.codec AS BLOB), a.body"


def text_of(
    content: bytes | None, codec: bytes | None, body: bytes | None, *, digest: bytes | None = None
) -> str | None:
    """A memory's text from its row or the attic; None where it is lost, or isn't the one of its hash."""
    try:
        with intact():
            text = unpack(None if codec is None else codec.decode(), body) if content is None else content.decode()
    except StoreCorruptError:
        return None
    return text if digest is None or content_hash(text) == digest else None


def _words(connection: apsw.Connection) -> Iterator[Fault]:
    for table in ("lexical", "substring"):
        stale = _count(connection, f"{table}_docsize WHERE id NOT IN (SELECT seq FROM memory)")
        if stale:
            yield Fault("words", f"{stale:,} entries are stale")
    missing = _count(connection, "memory WHERE seq NOT IN (SELECT id FROM lexical_docsize)")
    if missing:
        yield Fault("words", f"{missing:,} memories are missing")
    # A term is looked up another way than the list of terms is made.
    terms = list(run(connection, "SELECT term, doc FROM lexical_term LIMIT ?", (_TERMS,)))
    unfound = sum(_documents(connection, term) != count for term, count in terms)
    if unfound or (not terms and _count(connection, "memory WHERE words > 0")):
        yield Fault("words", "words that are in it are not found")


def _documents(connection: apsw.Connection, term: str) -> int:
    return _count(connection, "(SELECT DISTINCT doc FROM lexical_posting WHERE term = ?)", (term,))


def _embeddings(connection: apsw.Connection) -> Iterator[Fault]:
    for model, name, dimension in list(run(connection, "SELECT id, name, dimension FROM model")):
        expected = _count(connection, "vector WHERE model = ?", (model,), "coalesce(sum(chunks), 0)")
        held = {int(key): bytes(bits) for key, bits in run(connection, f"SELECT key, bits FROM coarse_{model}")}
        if len(held) != expected:
            yield Fault("embeddings", f"holds {len(held):,} of {expected:,} rows for {name}")
        elif wrong := _wrong_bits(connection, int(model), int(dimension), held):
            yield Fault("embeddings", f"{wrong:,} rows for {name} are not those of the embeddings")
        elif not _answers(connection, int(model), held):
            yield Fault("embeddings", f"does not find what it holds for {name}")


def _wrong_bits(connection: apsw.Connection, model: int, dimension: int, held: dict[int, bytes]) -> int:
    wrong = 0
    for seq, *row in run(connection, f"SELECT {VECTOR} FROM vector WHERE model = ?", (model,)):
        bits = bits_of(*row, dimension=dimension)
        wrong += bits is None or any(held.get(seq << _SHIFT | chunk) != one for chunk, one in enumerate(bits))
    return wrong


VECTOR: Final = "seq, bit_width, chunks, codes, scales"


def bits_of(bit_width: int, chunks: int, codes: bytes, scales: bytes, *, dimension: int) -> list[bytes] | None:
    """The sign bits of a memory's chunk vectors; None where their bytes are not those of so many vectors."""
    try:
        with intact():
            packed = np.frombuffer(codes, np.uint8).reshape(chunks, dimension * bit_width // 8)
            return [row.tobytes() for row in sign_bits_of(Codes(bit_width, packed, np.frombuffer(scales, np.float32)))]
    except StoreCorruptError:
        return None


def _answers(connection: apsw.Connection, model: int, held: dict[int, bytes]) -> bool:
    """Whether each shard gives something when it is asked for what is nearest to one of its rows."""
    shards = run(connection, f"SELECT shard, min(key) FROM coarse_{model} GROUP BY shard")
    nearest = f"SELECT key FROM coarse_{model} WHERE bits MATCH vec_bit(?) AND k = 1 AND shard = ?"
    return all(list(run(connection, nearest, (held[key], shard))) for shard, key in list(shards))


def _count(connection: apsw.Connection, source: str, bindings: tuple[Any, ...] = (), what: str = "count(*)") -> int:
    [value] = next(run(connection, f"SELECT {what} FROM {source}", bindings))
    return int(value)
