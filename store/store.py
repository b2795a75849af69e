"""Everything the store offers, opened together and closed together."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path

from ..schemas.closing import Closing
from ..schemas.errors import StoreCorruptError
from ..schemas.memory import NewMemory
from .attic import Attic
from .backup import Backups
from .catalog import Catalog
from .copies import Copies
from .database import Database
from .evictions import Evictions
from .exporting import Exporting
from .figures import FigureTable
from .gists import Gists
from .graph import Graph
from .importing import Importing
from .journal import Journal
from .kept_postings import KeptPostings
from .lease import Leases
from .lexical import Lexical
from .memories import Memories
from .meta import Meta
from .migrations import migrate
from .pending import Pending
from .rebuilding import Rebuilding
from .repairs import Repairs
from .resemblance import Resemblance
from .resident import ResidentVectors
from .saying import Saying
from .scopes import Scopes
from .search import VectorSearch
from .soundness import with_way_back
from .spool import Spool
from .tokens import Tokens
from .vectors import Vectors


class Store(Closing):
    """One `EBBING_HOME`: the database with its parts, the backups, the spool."""

    def __init__(self, home: Path, now: int, *, model_name: str, dimension: int, busy_timeout_ms: int = 10_000) -> None:
        """Open the store of a folder and bring its schema up to date, as of the instant `now` (µs).

        Raises:
            StoreError: the member of the tree that says why it can't be opened; nothing is changed then.
        """
        self.home = home
        self.database = Database(home / "memory.db", busy_timeout_ms=busy_timeout_ms)
        self.backups = Backups(self.database, home / "backups")
        self.meta = Meta(self.database)
        self.scopes = Scopes(self.database)
        self.memories = Memories(self.database, self.meta, self.scopes)
        self.lexical = Lexical(self.database)
        self.postings = KeptPostings(self.database, self.lexical)
        self.vectors = Vectors(self.database, self.meta, model_name, dimension)
        self.tokens = Tokens(self.database, dimension)
        self.graph = Graph(self.database)
        self.journal = Journal(self.database)
        self.attic = Attic(self.database)
        self.figures = FigureTable(self.database, self.meta)
        self.rebuilding = Rebuilding(self.database, self.meta, self.scopes)
        self.evictions = Evictions(self.database, self.meta)
        self.exporting = Exporting(self.database)
        self.importing = Importing(self.database, self.meta, self.scopes)
        self.leases = Leases(self.database)
        self.catalog = Catalog(self.database)
        self.resident = ResidentVectors(self.database, self.vectors)
        self.nearest = VectorSearch(self.database, self.vectors, self.resident, self.catalog)
        self.spool = Spool(home / "spool")
        self.schema = self._prepared(now)

    def _prepared(self, now: int) -> int:
        """Bring the schema up to date and return its number; what was opened is closed if that fails."""
        try:
            schema = migrate(self.database, self.backups, now)
            self.vectors.prepare()
        except StoreCorruptError as error:
            self.database.close()
            raise with_way_back(error, self.database.path) from error
        except BaseException:
            self.database.close()
            raise
        return schema

    def close(self) -> None:
        """Close the database's connections."""
        self.database.close()

    @property
    def pending(self) -> Pending:
        """What consolidation has not looked at yet."""
        return Pending(self.database)

    @property
    def gists(self) -> Gists:
        """Which memories are gists, and of what."""
        return Gists(self.database, self.meta)

    @property
    def copies(self) -> Copies:
        """What may be merged, and what was."""
        return Copies(self.database)

    @property
    def repairs(self) -> Repairs:
        """What puts damaged rows right."""
        return Repairs(self.database)

    @property
    def saying(self) -> Saying:
        """What memories hold word for word."""
        return Saying(self.database)

    @property
    def resemblance(self) -> Resemblance:
        """How alike memories are by their words."""
        return Resemblance(self.database)

    def atomic(self, *, durable: bool = True) -> AbstractContextManager[None]:
        """One write transaction over every part; see `Database.atomic`."""
        return self.database.atomic(durable=durable)

    def snapshot(self) -> AbstractContextManager[None]:
        """One read transaction over every part; see `Database.snapshot`."""
        return self.database.snapshot()

    def follow(self) -> None:
        """Bring what is resident up to date: the catalog and the embeddings.

        Raises:
            StoreError: if the store can't be read.
        """
        self.catalog.columns()
        self.resident.matrix()

    def catch_up(self) -> None:
        """`follow` where something is resident already, so that what comes next finds little left to read.

        Raises:
            StoreError: if the store can't be read.
        """
        if self.resident.loaded:
            self.follow()

    def erase(self, seqs: list[int]) -> None:
        """Remove memories from every table and index, in the caller's transaction; the journal keeps their ids."""
        with self.atomic():
            named = self.graph.named_by(seqs)
            self.lexical.remove(seqs)
            self.vectors.remove(seqs)
            self.tokens.remove(seqs)
            self.memories.remove(seqs)
            self.graph.prune_entities(named)

    def reword(self, seq: int, new: NewMemory, now: int) -> None:
        """Give a memory the words of `new` in every table and index, in the caller's transaction.

        Its embedding was of other words: it goes, and the daily run computes it anew.
        """
        with self.atomic():
            named = self.graph.named_by([seq])
            stowed = self.attic.holds(seq)
            self.lexical.remove([seq])
            self.vectors.remove([seq])
            self.tokens.remove([seq])
            self.memories.reword(seq, new)
            self.graph.forget_mentions(seq)
            self.graph.mention(seq, new.entities)
            self.graph.prune_entities(named)
            self.lexical.add(seq, new.index_text, new.trigram_text)
            if stowed:
                self.attic.stow(seq, now)

    def every_model(self) -> list[Vectors]:
        """The embeddings of every model that has any, the current one among them."""
        rows = self.database.rows("SELECT name, dimension FROM model ORDER BY id")
        return [Vectors(self.database, self.meta, str(name), int(dimension)) for name, dimension in rows]

    def integrity(self) -> list[str]:
        """What SQLite's own check finds wrong with the file; empty when it is sound."""
        found = [str(text) for (text,) in self.database.rows("PRAGMA integrity_check(20)")]
        return [] if found == ["ok"] else found
