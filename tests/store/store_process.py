"""A process that uses a store: what it does and to which folder are its arguments, what came of it is its output."""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from plain_store import NOW, open_store, save

from ebbing.schemas.errors import StoreError
from ebbing.schemas.memory import Event
from ebbing.store.backup import Backups
from ebbing.store.database import Database
from ebbing.store.journal import Entry
from ebbing.store.migrations import Migration, migrate

_CAPABILITIES = 0x20080522
_OVERRIDES = 0b110  # the two capabilities by which root passes over permissions


def count(home: Path, argument: str) -> str:
    """Once told to, add one to a shared counter and append to the journal, so many times."""
    with open_store(home) as store:
        _wait_for_start()
        for number in range(int(argument)):
            with store.atomic(durable=False):
                store.meta.set("counter", str(int(store.meta.get("counter") or 0) + 1))
                store.journal.append(Entry(NOW, Event.USED, memory=str(os.getpid()), data={"number": number}))
    return "done"


def begin(home: Path, argument: str) -> str:
    """Once told to, open a store that several open at once."""
    _wait_for_start()
    with open_store(home) as store:
        return f"{store.schema}"


def enter(home: Path, argument: str) -> str:
    """Open a store as somebody to whom permissions apply, even where the tests run as root."""
    _obey_permissions()
    with open_store(home) as store:
        return str(store.memories.count())


def fill(home: Path, argument: str) -> str:
    """Save until the system refuses to let files grow further; then make room and save once more."""
    with open_store(home) as store:
        _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(argument), most))
        saved, error = _save_until_refused(home)
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
        save(store, "there is room again")
    return f"{type(error).__name__} {saved}"


def die(home: Path, argument: str) -> str:
    """Save, say so, and be killed in the middle of the next transaction."""
    store = open_store(home)
    for number in range(int(argument)):
        save(store, f"acknowledged {number}")
    with store.atomic():
        save(store, "never acknowledged")
        os.kill(os.getpid(), signal.SIGKILL)
    return "still alive"


def look(home: Path, argument: str) -> str:
    """Read a value, and end as the last process that uses the store would."""
    with open_store(home) as store:
        return str(store.meta.get(argument))


def _save_until_refused(home: Path) -> tuple[int, StoreError]:
    saved = 0
    with open_store(home) as store:
        while True:
            try:
                save(store, f"fact {saved} " + "word " * 400)
            except StoreError as error:
                return saved, error
            saved += 1


def _wait_for_start() -> None:
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()


def _obey_permissions() -> None:
    if os.geteuid() != 0:
        return
    libc = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(_CAPABILITIES, 0)
    sets = (ctypes.c_uint32 * 6)()
    assert libc.capget(header, sets) == 0
    for place in range(3):
        sets[place] &= ~_OVERRIDES
    assert libc.capset(header, sets) == 0


def hold(home: Path, argument: str) -> str:
    """Have a store open, as an idle server does, until told to go."""
    with open_store(home) as store:
        store.memories.count()
        _wait_for_start()
    return "done"


def migrate_by_steps(home: Path, argument: str) -> str:
    """Bring a database up to date, and be killed in the middle of the migration of that number, if there is one."""
    first = Migration(1, "first", "CREATE TABLE song (title TEXT, year INTEGER); INSERT INTO song VALUES ('one', 0);")
    second = Migration(2, "second", "INSERT INTO song VALUES ('two', 1968); UPDATE song SET year = year + 1;")
    third = Migration(3, "third", "CREATE TABLE album (name TEXT); UPDATE song SET year = 1969;")
    with Database(home / "memory.db") as database:
        backups = Backups(database, home / "backups")
        migrate(database, backups, NOW, (first,))
        if argument == "2":
            with database.connection() as connection:
                connection.set_update_hook(_die)
                migrate(database, backups, NOW + 1, (first, second))
        number = migrate(database, backups, NOW + 2, (first, second, third))
        count, year = database.row("SELECT count(*), max(year) FROM song") or (0, 0)
        return f"{number} {count} {year}"


def _die(_kind: int, _database: str, _table: str, _row: int) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


COMMANDS: dict[str, Callable[[Path, str], str]] = {
    "count": count,
    "begin": begin,
    "enter": enter,
    "fill": fill,
    "die": die,
    "look": look,
    "hold": hold,
    "migrate": migrate_by_steps,
}


if __name__ == "__main__":
    try:
        said = COMMANDS[sys.argv[1]](Path(sys.argv[2]), sys.argv[3])
    except StoreError as refused:
        said = type(refused).__name__
    sys.stdout.write(said + "\n")
