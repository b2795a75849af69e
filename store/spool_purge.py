"""Removing the lines that contain a text, for when a memory is erased.

A memory's text went through cleaning, a line's through JSON, perhaps twice where a tool's answer was itself JSON. So
both are compared after undoing escapes, in NFC, with white space collapsed.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from io import BytesIO
from pathlib import Path

from .spool_files import locked, offset_of, replace_locked

_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_SHORT_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}
_ESCAPES_WITHIN_ESCAPES = 3


def plain(texts: Iterable[str]) -> list[str]:
    """The texts as they are looked for; empty ones are dropped, since every line contains them."""
    return [form for form in (_plain(text) for text in texts) if form]


def contains(line: bytes, wanted: Sequence[str]) -> bool:
    """Whether a line, readable or not, holds one of the texts that `plain` gave."""
    text = line.decode("utf-8", "replace")
    for _ in range(_ESCAPES_WITHIN_ESCAPES):
        form = _plain(text)
        if any(each in form for each in wanted):
            return True
        undone = _unescaped(text)
        if undone == text:
            return False
        text = undone
    form = _plain(text)
    return any(each in form for each in wanted)


def purge_file(path: Path, wanted: Sequence[str], *, wait: float) -> int:
    """Rewrite a file of the spool without the lines that hold one of the texts, and say how many those were.

    Committed lines at the beginning of a taken file are blanked whatever they hold.

    Raises:
        TimeoutError: if another process held the file for `wait` seconds.
        FileNotFoundError: if it was renamed or finished meanwhile.
        OSError: if it can't be rewritten; it is then as it was.
    """
    with locked(path, wait=wait) as descriptor:
        offset = offset_of(path) if path.name.startswith("taking-") else 0
        for draft in path.parent.glob(f"{path.name}.*.tmp"):
            draft.unlink()
        lines = list(BytesIO(path.read_bytes()[offset:]))
        kept = [line for line in lines if not contains(line, wanted)]
        if offset or len(kept) < len(lines):
            replace_locked(path, descriptor, b"\n" * offset + b"".join(kept))
    return len(lines) - len(kept)


def remove_orphaned_drafts(folder: Path) -> None:
    """Remove what a killed purge left of a file that is gone by now; one that is there loses it when it is purged."""
    for draft in folder.glob("*.tmp"):
        target = draft.with_suffix("").with_suffix("")
        if not target.exists():
            draft.unlink(missing_ok=True)


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())


def _unescaped(text: str) -> str:
    loose = _ESCAPE.sub(_character, text)
    return loose.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _character(found: re.Match[str]) -> str:
    code = found[1]
    return chr(int(code[1:], 16)) if len(code) > 1 else _SHORT_ESCAPES.get(code, code)
