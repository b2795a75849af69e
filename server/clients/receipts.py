"""What was done to which file, kept in ebbing's own folder so that it can be undone: a receipt and a backup each."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...hooks.places import write_private
from ...schemas.errors import EbbingError
from .placement import Undo
from .table import Format, Scope

FOLDER = "clients"
_VERSION = 1


@dataclass(frozen=True, slots=True)
class Receipt:
    """How a file is brought back.

    Attributes:
        client: the client's id.
        scope: the scope it was set up in.
        file: the file.
        format: how it is written.
        before: what it held; None if it wasn't there.
        made: folders that were made for it, outermost first.
        undos: the changes in their order.
        written: the hash of what was written, None once somebody else has changed the file between two of our writes.
        forced: paths that only had to be there at all.
    """

    client: str
    scope: Scope
    file: Path
    format: Format
    before: bytes | None
    made: tuple[Path, ...]
    undos: tuple[Undo, ...]
    written: str | None
    forced: tuple[tuple[str, ...], ...] = ()


class Receipts:
    """The receipts in a home folder."""

    def __init__(self, home: Path) -> None:
        """Look into `home`; nothing is made before something is kept."""
        self._folder = home / FOLDER

    def all(self) -> Iterator[Receipt]:
        """Every receipt that can be read."""
        for path in sorted(self._folder.glob("*.json")):
            receipt = self._read(path)
            if receipt is not None:
                yield receipt

    def of(self, client: str, file: Path) -> Receipt | None:
        """The receipt for a file of a client."""
        return self._read(self._path(client, file))

    def keep(self, receipt: Receipt) -> None:
        """Write a receipt and what the file held, readable by the user alone.

        Raises:
            EbbingError: if it can't be written.
        """
        path = self._path(receipt.client, receipt.file)
        record = {
            "v": _VERSION,
            "client": receipt.client,
            "scope": receipt.scope,
            "file": str(receipt.file),
            "format": receipt.format,
            "existed": receipt.before is not None,
            "made": [str(folder) for folder in receipt.made],
            "undos": [undo.as_json() for undo in receipt.undos],
            "written": receipt.written,
            "forced": receipt.forced,
        }
        try:
            if receipt.before is not None:
                write_private(path.with_suffix(".before"), receipt.before)
            write_private(path, json.dumps(record, indent=1).encode())
        except OSError as error:
            raise EbbingError(f"{path} can't be written: {error.strerror}") from error

    def drop(self, receipt: Receipt) -> None:
        """Forget a receipt and its backup, and the folder with the last one."""
        path = self._path(receipt.client, receipt.file)
        path.unlink(missing_ok=True)
        path.with_suffix(".before").unlink(missing_ok=True)
        with suppress(OSError):
            self._folder.rmdir()

    def _path(self, client: str, file: Path) -> Path:
        digest = hashlib.blake2b(str(file).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
        return self._folder / f"{client}-{digest}.json"

    def _read(self, path: Path) -> Receipt | None:
        try:
            record = json.loads(path.read_bytes())
            before = path.with_suffix(".before").read_bytes() if record["existed"] else None
            return _receipt(record, before)
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return None


def fingerprint(content: bytes) -> str:
    """The hash by which a receipt knows what was written."""
    return hashlib.sha256(content).hexdigest()


def _receipt(record: dict[str, Any], before: bytes | None) -> Receipt:
    return Receipt(
        client=record["client"],
        scope=record["scope"],
        file=Path(record["file"]),
        format=record["format"],
        before=before,
        made=tuple(Path(folder) for folder in record["made"]),
        undos=tuple(Undo.from_json(undo) for undo in record["undos"]),
        written=record["written"],
        forced=tuple(tuple(path) for path in record["forced"]),
    )
