"""Work beside its caller's: begun at once, its result or its error for whoever asks."""

from __future__ import annotations

import threading

import pytest

from ebbing.encoding.ahead import Ahead, computing
from ebbing.schemas.errors import ModelError


def test_the_work_goes_on_while_the_caller_does_something_else() -> None:
    told, heard = threading.Event(), threading.Event()

    def work() -> str:
        computing()
        told.set()
        assert heard.wait(5)
        return "done"

    ahead = Ahead(work)
    assert told.wait(5)
    heard.set()
    assert [ahead.result(), ahead.result()] == ["done", "done"]


def test_an_error_of_the_work_is_raised_where_its_result_is_asked_for() -> None:
    def work() -> str:
        raise ModelError("the model failed")

    ahead = Ahead(work)
    for _ in range(2):
        with pytest.raises(ModelError, match="the model failed"):
            ahead.result()


def test_the_caller_goes_on_only_when_the_work_computes_or_is_done() -> None:
    done: list[str] = []

    def work() -> str:
        done.append("read")
        computing()
        done.append("computed")
        return "result"

    ahead = Ahead(work)
    assert done[0] == "read"
    assert (ahead.result(), done) == ("result", ["read", "computed"])


def test_several_works_go_on_at_once_and_their_threads_are_used_again() -> None:
    met = threading.Barrier(4)
    threads: set[str] = set()

    def work() -> None:
        computing()
        threads.add(threading.current_thread().name)
        met.wait(5)

    for _ in range(3):
        for ahead in [Ahead(work) for _ in range(4)]:
            ahead.result()
    assert len(threads) <= 8


def test_outside_of_such_work_nobody_listens() -> None:
    computing()
