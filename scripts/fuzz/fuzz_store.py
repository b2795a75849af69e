"""Surroundings of targets that use a store, and what is judged of them: errors, logs, and the store that is left."""

from __future__ import annotations

import logging
import re
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from fuzz_values import MARK, SECRET
from world import World

from ebbing.schemas.errors import EbbingError
from ebbing.store import checkup
from ebbing.store.store import Store

_SHORTEST_ADVICE: Final = 12
_FRAME: Final = re.compile(r'File "[^"\n]*/ebbing/[^"\n]*?([^/"\n]+)", line \d+, in (\S+)')


class CrashedError(AssertionError):
    """Something unexpected was logged; `where` says where it came from, as `fuzzing.place_of` would."""

    def __init__(self, logged: str) -> None:
        super().__init__(logged)
        frames = _FRAME.findall(logged)
        self.where = " < ".join(["logged", *(f"{file}:{function}" for file, function in reversed(frames[-2:]))])


class Logged(logging.Handler):
    """What reaches the log at the default level."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []
        self.setFormatter(logging.Formatter("%(levelname)s: %(name)s: %(message)s"))

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a line, the traceback with it."""
        self.lines.append(self.format(record))

    def judge(self) -> None:
        """Nothing unexpected was logged since the last time, and nothing that was to be remembered."""
        lines, self.lines = self.lines, []
        for line in lines:
            if "Traceback" in line:
                raise CrashedError(line)
        assert not any(secret in line for line in lines for secret in (MARK, SECRET)), lines


@contextmanager
def logged() -> Generator[Logged]:
    """Listen to the log."""
    handler, root = Logged(), logging.getLogger()
    root.addHandler(handler)
    try:
        yield handler
    finally:
        root.removeHandler(handler)


def judge_error(error: EbbingError | str) -> None:
    """The text of an error says something, and repeats nothing that was to be remembered."""
    text = str(error)
    assert len(text) >= _SHORTEST_ADVICE, text
    assert not any(found in text for found in (MARK, SECRET, "Traceback (most")), text


@contextmanager
def world_in(folder: Path) -> Generator[World]:
    """A whole ebbing with one memory that must outlive everything; what is left is examined."""
    with World(folder / "home") as world:
        kept = world.save("The oldest lighthouse of the coast has a green lamp.")
        yield world
        judge_store(world.services.store, [kept.id])
    judge_files(folder / "home")


def judge_store(store: Store, kept: Iterable[str]) -> None:
    """The store is sound and holds what was acknowledged."""
    wanted = sorted(kept)
    found = {memory.id for batch in store.memories.all() for memory in batch}
    assert not (set(wanted) - found), f"lost: {sorted(set(wanted) - found)[:5]}"
    assert store.integrity() == []
    broken = store.database.rows("PRAGMA foreign_key_check")
    assert not broken, broken[:5]


def judge_files(home: Path) -> None:
    """The indexes of a store that is closed are whole, and no file but those of the spool holds the secret."""
    for path in home.rglob("*"):
        if path.is_file() and path.parent.name != "spool":
            assert SECRET.encode() not in path.read_bytes(), f"the secret is in {path.name}"
    found = checkup.examine(home / "memory.db")
    assert found.integrity == ()
    assert (found.unindexed, found.orphaned) == (0, 0)
    assert all(one.rows == one.expected for one in found.coarse)
