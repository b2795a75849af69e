"""A server keeps up with what other processes write before anybody asks."""

from __future__ import annotations

import threading
from itertools import pairwise
from pathlib import Path

from plain_store import open_store, save

from ebbing.server.engine import Engine
from ebbing.server.following import Follower
from ebbing.server.settings import Settings
from ebbing.store.catalog import Catalog, Columns
from ebbing.store.database import Database


class WatchedCatalog(Catalog):
    """A catalog that tells when it has been read up to a revision."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.wanted = 1
        self.reached = threading.Event()

    def columns(self) -> Columns:
        columns = super().columns()
        if columns.revision >= self.wanted:
            self.reached.set()
        return columns


def test_what_another_opening_of_the_file_writes_is_read_without_a_call(tmp_path: Path) -> None:
    with open_store(tmp_path) as store, open_store(tmp_path) as other:
        watched = store.catalog = WatchedCatalog(store.database)
        with Follower(store, 0.001) as follower:
            follower.start()
            save(other, "The cache is cold.")
            assert watched.reached.wait(5.0)


def test_who_is_told_to_look_does_not_wait_for_the_next_time(tmp_path: Path) -> None:
    with open_store(tmp_path) as store, open_store(tmp_path) as other:
        watched = store.catalog = WatchedCatalog(store.database)
        with Follower(store, 3_600.0) as follower:
            follower.start()
            save(other, "The cache is cold.")
            follower.look()
            assert watched.reached.wait(5.0)


def test_what_takes_long_to_make_ready_is_made_once_in_a_while_however_often_a_look_is_asked_for(
    tmp_path: Path,
) -> None:
    now = [0.0]
    looked, prepared = threading.Semaphore(0), list[float]()

    class CountedCatalog(Catalog):
        def columns(self) -> Columns:
            looked.release()
            return super().columns()

    with open_store(tmp_path) as store:
        store.catalog = CountedCatalog(store.database)
        prepare, clock = (lambda: prepared.append(now[0])), (lambda: now[0])
        with Follower(store, 3_600.0, then=prepare, clock=clock) as follower:
            follower.start()
            for now[0] in (0.0, 10.0, 3_500.0, 3_601.0, 3_602.0, 7_300.0, 7_301.0):
                assert looked.acquire(timeout=5.0)
                follower.look()
            assert looked.acquire(timeout=5.0)
    assert all(later - earlier >= 3_600.0 for earlier, later in pairwise(prepared))
    assert len(prepared) in (2, 3)


def test_a_server_reads_what_a_call_wrote_once_it_is_answered(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, scope="/projects/plain", model_dir=tmp_path / "no-model", background=False)
    with Engine(settings, follow_seconds=3_600.0) as engine:
        engine.start()
        store = engine.services().store
        watched = WatchedCatalog(store.database)
        save(store, "The cache is cold.")
        watched.wanted = store.meta.revision()
        store.catalog = watched
        # Following begins when the store has been opened in the background.
        for _ in range(500):
            engine.follow()
            if watched.reached.wait(0.01):
                break
        assert watched.reached.is_set()


def test_a_store_that_is_closed_meanwhile_ends_nothing_but_the_following(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    follower = Follower(store, 0.001)
    follower.start()
    store.close()
    follower.close()


def test_what_follows_from_the_store_is_made_ready_after_each_look(tmp_path: Path) -> None:
    ready = threading.Event()
    with open_store(tmp_path) as store, Follower(store, 0.001, then=ready.set) as follower:
        follower.start()
        assert ready.wait(5.0)
