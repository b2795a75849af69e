"""Where a text still stands under a store's home: every file's bytes, and every row of every table, unpacked."""

from __future__ import annotations

from pathlib import Path

import apsw
from world import World

from ebbing.store.attic import unpack
from ebbing.store.connections import run
from ebbing.store.soundness import opened


def places_of(world: World, text: str) -> list[str]:
    """Files and tables that hold a text, its beginning, its middle or its end; the store is looked at as it lies."""
    world.services.store.database.checkpoint()
    return places_in(world.home, text)


def places_in(home: Path, text: str) -> list[str]:
    """`places_of` for a folder that nobody has open."""
    parts = {text, text[:30], text[-30:], text[len(text) // 2 :][:30]} if len(text) > 40 else {text}
    needles = {part.encode() for part in parts}
    found: list[str] = []
    for path in sorted(path for path in home.rglob("*") if path.is_file()):
        if any(needle in path.read_bytes() for needle in needles):
            found.append(path.name)
        if path.suffix == ".db":
            found += [f"{path.name}: the attic" for body in _attic(path) if any(part in body for part in parts)]
    return found


def _attic(path: Path) -> list[str]:
    try:
        with opened(path) as connection:
            return [unpack(*row) for row in run(connection, "SELECT codec, body FROM attic")]
    except apsw.Error:
        return []
