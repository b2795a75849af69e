"""The attic: verbatim text of archived and forgotten memories, compressed, given back byte for byte."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..schemas.errors import StoreCorruptError
from .database import Database

# A shared start for the compressor: short texts have little of their own to refer back to. It is part of the format:
# a change needs a new codec name.
_DICTIONARY = (
    b"the project uses because fixed by error failed test build deploy version config default should never always "
    b"decision prefer instead of when the function returns and the file in server client request response memory "
    b"database query index python typescript rust docker git commit branch merge release update remove add fix "
)
_CODEC = "zlib-1"
_PLAIN = "plain"
_DAMAGED = "the text of a memory is damaged or lost: run `ebbing doctor --fix`, which looks for it in the backups"


def pack(text: str) -> tuple[str, bytes]:
    """The codec's name and the stored bytes of a text; whichever is smaller of compressed and plain."""
    plain = text.encode("utf-8")
    compressor = zlib.compressobj(9, zlib.DEFLATED, -15, 9, zlib.Z_DEFAULT_STRATEGY, _DICTIONARY)
    packed = compressor.compress(plain) + compressor.flush()
    return (_CODEC, packed) if len(packed) < len(plain) else (_PLAIN, plain)


def unpack(codec: str | None, body: bytes | None) -> str:
    """The text that `pack` was given.

    Raises:
        StoreCorruptError: if the bytes are damaged or missing, or the codec is unknown.
    """
    try:
        return _plain(codec, body).decode("utf-8")
    except (zlib.error, UnicodeDecodeError) as error:
        raise StoreCorruptError(_DAMAGED) from error


def _plain(codec: str | None, body: bytes | None) -> bytes:
    if codec is None or body is None:
        raise StoreCorruptError(_DAMAGED)
    if codec == _PLAIN:
        return body
    if codec != _CODEC:
        raise StoreCorruptError(f"text is stored in an unknown way ({codec}): a newer ebbing may have written it")
    decompressor = zlib.decompressobj(-15, _DICTIONARY)
    plain = decompressor.decompress(body) + decompressor.flush()
    # Bytes that break off in the middle decompress without complaint, to the text's beginning.
    if not decompressor.eof or decompressor.unused_data:
        raise StoreCorruptError(_DAMAGED)
    return plain


@dataclass(frozen=True, slots=True)
class Packed:
    """A text as the attic keeps it, and the hash by which it is known whether it is still the memory's."""

    codec: str
    body: bytes
    content_hash: bytes


class Attic:
    """Move texts to the attic and back."""

    def __init__(self, database: Database) -> None:
        """Read and write through `database`."""
        self._database = database

    def stow(self, seq: int, now: int) -> None:
        """Move a memory's text to the attic; nothing happens when it is there already."""
        with self._database.atomic():
            self.stow_packed(self.packed([seq]), now)

    def packed(self, seqs: Sequence[int]) -> dict[int, Packed]:
        """The texts of some memories that are not in the attic yet, packed for it, by seq; a read, at most 500."""
        rows = self._database.rows(
            "SELECT seq, content_hash, content FROM memory"
            f" WHERE content IS NOT NULL AND seq IN ({','.join('?' * len(seqs))})",
            seqs,
        )
        return {int(seq): Packed(*pack(content), content_hash) for seq, content_hash, content in rows}

    def stow_packed(self, texts: Mapping[int, Packed], now: int) -> None:
        """Move texts that `packed` gave, in the caller's transaction.

        Those that were moved, erased or given other words since are passed over.
        """
        with self._database.atomic():
            self._database.executemany(
                "INSERT INTO attic SELECT seq, ?2, ?3, ?4 FROM memory"
                " WHERE seq = ?1 AND content_hash = ?5 AND content IS NOT NULL ON CONFLICT DO UPDATE"
                " SET codec = excluded.codec, body = excluded.body, moved_at = excluded.moved_at",
                [(seq, text.codec, text.body, now, text.content_hash) for seq, text in texts.items()],
            )
            self._database.executemany(
                "UPDATE memory SET content = NULL WHERE content IS NOT NULL AND seq = ? AND content_hash = ?",
                [(seq, text.content_hash) for seq, text in texts.items()],
            )

    def holds(self, seq: int) -> bool:
        """Whether a memory's text lies here."""
        return self._database.row("SELECT 1 FROM attic WHERE seq = ?", (seq,)) is not None

    def fetch(self, seq: int) -> None:
        """Move a memory's text back into its row; nothing happens when it is there already."""
        with self._database.atomic():
            found = self._database.row("SELECT codec, body FROM attic WHERE seq = ?", (seq,))
            if found is None:
                return
            self._database.execute("UPDATE memory SET content = ? WHERE seq = ?", (unpack(*found), seq))
            self._database.execute("DELETE FROM attic WHERE seq = ?", (seq,))
