"""The file of a soft prompt: written whole or not at all, readable to its owner only, and emptied of what must go."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Final

_LINE_ID: Final = re.compile(r"\[([0-9a-f]{8}-[0-9a-f-]{27})\]$")
_LINE: Final = re.compile(r"^- \d{4,5}-\d\d-\d\d (.*) \[[0-9a-f-]{36}\]$")
_HEADING: Final = "## "
_QUOTE: Final = 40
"""Characters in a row that count as quoting a text; shorter texts count as quoted when they stand there whole."""


def read(path: Path) -> str:
    """A soft prompt's text; "" when there is none.

    Raises:
        OSError: if it is there and can't be read.
    """
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return ""


def write(path: Path, text: str) -> bool:
    """Put a soft prompt where the hook finds it (0600, replaced at once); whether the file changed.

    Raises:
        OSError: if it can't be written.
    """
    if read(path) == text:
        return False
    if not text:
        path.unlink(missing_ok=True)
        return True
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    partial = path.with_suffix(f".{os.getpid()}.partial")
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    partial.replace(path)
    return True


def ids_in(text: str) -> tuple[str, ...]:
    """The ids of the memories that a soft prompt holds, in its order."""
    found = (_LINE_ID.search(line) for line in text.splitlines())
    return tuple(match.group(1) for match in found if match)


def without(text: str, ids: Collection[str] = (), texts: Sequence[str] = ()) -> str:
    """A soft prompt without the lines of some memories and without those that quote any of some texts.

    A section left empty goes with its heading; "" when no line is left. The daily run writes it anew later.
    """
    quoted = [" ".join(said.split()) for said in texts]
    lines = text.splitlines()
    kept = [line for line in lines if not (_is_of(line, ids) or any(_quotes(line, said) for said in quoted))]
    if len(kept) == len(lines):
        return text
    return "" if not ids_in("\n".join(kept)) else _without_empty_sections(kept)


def withdraw(folder: Path, ids: Collection[str] = (), texts: Sequence[str] = ()) -> int:
    """Take memories and quotations out of every soft prompt in a folder; returns how many files changed.

    Raises:
        OSError: if one can't be read or written.
    """
    return sum(write(path, without(read(path), ids, texts)) for path in sorted(folder.glob("*.md")))


def _is_of(line: str, ids: Collection[str]) -> bool:
    match = _LINE_ID.search(line)
    return match is not None and match.group(1) in ids


def _quotes(line: str, said: str) -> bool:
    match = _LINE.match(line)
    if match is None or not said:
        return False
    shown = match.group(1).strip("…").replace("`", "")
    plain = said.replace("`", "")
    if min(len(shown), len(plain)) <= _QUOTE:
        return plain in shown or shown in plain
    return any(shown[at : at + _QUOTE] in plain for at in range(len(shown) - _QUOTE + 1))


def _without_empty_sections(lines: Sequence[str]) -> str:
    blocks = "\n".join(lines).split("\n\n")
    kept = [block for block in blocks if not block.startswith(_HEADING) or "\n" in block]
    return "\n\n".join(kept) + "\n"
