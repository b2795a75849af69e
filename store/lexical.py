"""The lexical index: words of every memory in every state, without the text.

Two contentless FTS5 tables: `lexical` (porter stemming, accents folded) over words and split identifiers, and
`substring` (trigrams) over what has no word boundaries or is looked up by part. User text reaches MATCH only as quoted
tokens; callers pass an expression built that way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from .connections import OCCURRENCES
from .database import Database

_MERGED_AT_ONCE = 16
_REMOVALS = "lexical.removals"
TOKENIZER: tuple[str, ...] = ("porter", "unicode61", "remove_diacritics", "2")


@dataclass(frozen=True, slots=True, eq=False)
class Postings:
    """Where a term occurs: seqs (int64, ascending) and how often in each (float32)."""

    seqs: NDArray[np.int64]
    counts: NDArray[np.float32]


class Lexical:
    """Write to and search the lexical index."""

    def __init__(self, database: Database) -> None:
        """Read and write through `database`."""
        self._database = database

    def add(self, seq: int, index_text: str, trigram_text: str) -> None:
        """Index a memory, inside the caller's transaction."""
        with self._database.part():
            self._database.execute("INSERT INTO lexical (rowid, body) VALUES (?, ?)", (seq, index_text))
            if trigram_text:
                self._database.execute("INSERT INTO substring (rowid, body) VALUES (?, ?)", (seq, trigram_text))

    def remove(self, seqs: Iterable[int]) -> None:
        """Take memories out of the index."""
        rows = [(seq,) for seq in seqs]
        with self._database.part():
            self._database.executemany("DELETE FROM lexical WHERE rowid = ?", rows)
            self._database.executemany("DELETE FROM substring WHERE rowid = ?", rows)
            self._count_removal()

    def search(self, expression: str, scopes: Sequence[int], limit: int) -> list[tuple[int, float]]:
        """(seq, score) by FTS5's BM25, best first; a higher score is better."""
        return self._match("lexical", expression, scopes, limit)

    def search_substrings(self, expression: str, scopes: Sequence[int], limit: int) -> list[tuple[int, float]]:
        """(seq, score) over trigrams, best first; a higher score is better."""
        return self._match("substring", expression, scopes, limit)

    def containing(self, expression: str, scopes: Sequence[int], limit: int) -> list[int]:
        """Seqs that match over trigrams, ascending; none where more than `limit` do: that tells little."""
        return self._having("substring", expression, scopes, limit)

    def saying(self, expression: str, scopes: Sequence[int], limit: int) -> list[int]:
        """The same over stemmed words: what holds a phrase."""
        return self._having("lexical", expression, scopes, limit)

    def terms(self, words: Sequence[str]) -> dict[str, str]:
        """The index terms (stems) that words become under the index's own tokenizer, each once, in their order.

        A word may yield none or several. Each comes with the part of a word that becomes just that term.
        """
        found: dict[str, str] = {}
        with self._database.connection() as connection:
            tokenizer = connection.fts5_tokenizer(TOKENIZER[0], list(TOKENIZER[1:]))
            for word in words:
                text = word.encode("utf-8")
                pieces = cast("Iterable[tuple[int, int, str]]", tokenizer(text, 0x0001, None, include_colocated=False))
                for start, end, term in pieces:
                    found.setdefault(term, text[start:end].decode("utf-8"))
        return found

    def stems(self, words: Sequence[str]) -> list[str]:
        """The index terms alone; see `terms`."""
        return list(self.terms(words))

    def postings(self, term: str) -> Postings:
        """Where an index term (a stem) occurs, over all scopes; removed memories may still be listed."""
        joined = self._database.value("SELECT group_concat(doc) FROM lexical_posting WHERE term = ?", (term,))
        if not joined:
            return Postings(np.zeros(0, np.int64), np.zeros(0, np.float32))
        # One occurrence a number, in the order of the seqs: parsing them in C is most of what makes this fast.
        documents = np.fromstring(joined, dtype=np.int64, sep=",")
        is_first = np.ones(len(documents), np.bool_)
        np.not_equal(documents[1:], documents[:-1], out=is_first[1:])
        starts = np.flatnonzero(is_first)
        counts = np.empty(len(starts), np.float32)
        counts[:-1] = starts[1:] - starts[:-1]
        counts[-1] = len(documents) - starts[-1]
        return Postings(documents[starts], counts)

    def frequency(self, term: str, most: int) -> int:
        """How many memories of all scopes hold an index term (a stem), raw observations aside; at most `most` + 1."""
        return self._counted("SELECT DISTINCT doc AS seq FROM lexical_posting WHERE term = ?", term, most)

    def phrase_frequency(self, expression: str, most: int) -> int:
        """The same for what matches an expression over words."""
        if not expression:
            return 0
        return self._counted("SELECT rowid AS seq FROM lexical WHERE lexical MATCH ?", expression, most)

    def postings_after(self, text: str, seq: int) -> Postings:
        """Where the term that `text` becomes occurs in memories above `seq`; see `terms`, which gives no quotes."""
        rows = self._database.rows(
            f"SELECT rowid, {OCCURRENCES}(lexical) FROM lexical WHERE lexical MATCH ? AND rowid > ? ORDER BY rowid",
            (f'"{text}"', seq),
        )
        return Postings(
            np.array([seq for seq, _ in rows], dtype=np.int64), np.array([count for _, count in rows], dtype=np.float32)
        )

    def last(self) -> int:
        """The largest seq that there is; 0 in an empty store."""
        return int(self._database.value("SELECT coalesce(max(seq), 0) FROM memory"))

    def removals(self) -> int:
        """How often words were taken out of the index; posting lists that were read before tell nothing of it."""
        return int(self._database.value("SELECT value FROM meta WHERE key = ?", (_REMOVALS,)) or 0)

    def rebuild(self, texts: Iterable[tuple[int, str, str]]) -> int:
        """Index anew from (seq, index_text, trigram_text). Returns how many were indexed."""
        count = 0
        with self._database.atomic():
            self._database.execute("INSERT INTO lexical (lexical) VALUES ('delete-all')")
            self._database.execute("INSERT INTO substring (substring) VALUES ('delete-all')")
            self._count_removal()
            for seq, index_text, trigram_text in texts:
                self.add(seq, index_text, trigram_text)
                count += 1
        return count

    def merge(self, stopped: Callable[[], bool] = lambda: False, *, pages: int = 500) -> int:
        """Merge up to `pages` of the index's segments, a bounded step towards `optimize`; returns how many.

        In short transactions, so that nobody waits long.
        """
        done = 0
        for table in ("lexical", "substring"):
            left = pages
            while left > 0 and not stopped() and self._merged(table):
                left -= _MERGED_AT_ONCE
            done += pages - left
        return done

    def optimize(self) -> None:
        """Merge the index's segments into one, which drops what was removed, in short transactions."""
        for table in ("lexical", "substring"):
            # Below zero the command first marks all segments as ones to be merged (SQLite's documentation of "merge").
            self._merged(table, -_MERGED_AT_ONCE)
            while self._merged(table):
                pass

    def _count_removal(self) -> None:
        self._database.execute(
            "INSERT INTO meta VALUES (?, '1') ON CONFLICT (key) DO UPDATE SET value = CAST(value AS INTEGER) + 1",
            (_REMOVALS,),
        )

    def _merged(self, table: str, pages: int = _MERGED_AT_ONCE) -> bool:
        """Merge a few pages of a table; whether there was anything to merge."""
        with self._database.atomic(durable=False), self._database.connection() as connection:
            before = connection.total_changes()
            self._database.execute(f"INSERT INTO {table} ({table}, rank) VALUES ('merge', ?)", (pages,))
            # The command itself counts as one change (SQLite's documentation of "merge").
            return connection.total_changes() - before > 1

    def _counted(self, found: str, term: str, most: int) -> int:
        rows = f"SELECT 1 FROM ({found}) JOIN memory m USING (seq) WHERE m.kind <> 'observation' LIMIT ?"
        return int(self._database.value(f"SELECT count(*) FROM ({rows})", (term, most + 1)))

    def _having(self, table: str, expression: str, scopes: Sequence[int], limit: int) -> list[int]:
        if not expression or not scopes:
            return []
        rows = self._database.rows(
            f"SELECT f.rowid FROM {table} f JOIN memory m ON m.seq = f.rowid"
            f" WHERE {table} MATCH ? AND m.scope IN ({','.join('?' * len(scopes))}) LIMIT ?",
            (expression, *scopes, limit + 1),
        )
        return [] if len(rows) > limit else sorted(int(seq) for (seq,) in rows)

    def _match(self, table: str, expression: str, scopes: Sequence[int], limit: int) -> list[tuple[int, float]]:
        if not expression or not scopes:
            return []
        rows = self._database.rows(
            f"SELECT f.rowid, -bm25({table}) FROM {table} f JOIN memory m ON m.seq = f.rowid"
            f" WHERE {table} MATCH ? AND m.scope IN ({','.join('?' * len(scopes))})"
            " ORDER BY 2 DESC, 1 LIMIT ?",
            (expression, *scopes, limit),
        )
        return [(int(seq), float(score)) for seq, score in rows]
