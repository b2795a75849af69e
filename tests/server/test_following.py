"""A server keeps up with what other processes write before anybody asks."""

from __future__ import annotations

import threading
from pathlib import Path

from plain_store import open_store, save

from ebbing.server.following import Follower
from ebbing.store.catalog import Catalog, Columns


class WatchedCatalog(Catalog):
    """A catalog that tells when it has been read up to a revision."""

    wanted = 0
    reached = threading.Event()

    def columns(self) -> Columns:
        columns = super().columns()
        if columns.revision >= self.wanted:
            self.reached.set()
        return columns


def test_what_another_opening_of_the_file_writes_is_read_without_a_call(tmp_path: Path) -> None:
    with open_store(tmp_path) as store, open_store(tmp_path) as other:
        watched = store.catalog = WatchedCatalog(store.database)
        watched.wanted = 1
        follower = Follower(store, 0.001)
        follower.start()
        try:
            save(other, "The cache is cold.")
            assert watched.reached.wait(5.0)
        finally:
            follower.close()


def test_a_store_that_is_closed_meanwhile_ends_nothing_but_the_following(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    follower = Follower(store, 0.001)
    follower.start()
    store.close()
    follower.close()


def test_what_follows_from_the_store_is_made_ready_after_each_look(tmp_path: Path) -> None:
    ready = threading.Event()
    with open_store(tmp_path) as store:
        follower = Follower(store, 0.001, then=ready.set)
        follower.start()
        try:
            assert ready.wait(5.0)
        finally:
            follower.close()
