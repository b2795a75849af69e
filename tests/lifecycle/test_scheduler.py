"""Background jobs take turns on one gentle thread, and a failing turn is followed by the next."""

import logging
import os
import sys
import threading

import pytest

from ebbing.lifecycle.scheduler import NICENESS, Job, Scheduler, give_way, guarded
from ebbing.schemas.errors import StoreBusyError


def test_jobs_run_on_one_background_thread_again_and_again() -> None:
    threads: set[int] = set()
    turns = threading.Semaphore(0)

    def turn() -> None:
        threads.add(threading.get_ident())
        turns.release()

    scheduler = Scheduler([Job("one", 0.01, turn), Job("two", 0.01, turn)])
    scheduler.start()
    scheduler.start()
    try:
        assert all(turns.acquire(timeout=10) for _ in range(6))
    finally:
        scheduler.close()
    assert len(threads) == 1
    assert threading.get_ident() not in threads


def test_a_turn_that_fails_is_logged_and_raises_nothing(caplog: pytest.LogCaptureFixture) -> None:
    def busy() -> None:
        raise StoreBusyError("the memory store is busy")

    with caplog.at_level(logging.WARNING):
        guarded(Job("spool", 30, busy))()
    assert "spool: the memory store is busy" in caplog.text


def test_a_closed_scheduler_takes_no_more_turns_and_closes_twice() -> None:
    scheduler = Scheduler([Job("one", 3600, lambda: None)])
    scheduler.start()
    scheduler.close()
    scheduler.close()


def test_the_background_thread_gives_way_and_the_others_do_not() -> None:
    found: list[int] = []

    def lowered() -> None:
        give_way()
        found.append(os.getpriority(os.PRIO_PROCESS, threading.get_native_id()))

    before = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
    thread = threading.Thread(target=lowered)
    thread.start()
    thread.join()
    # Only Linux gives a thread a priority of its own.
    assert (found[0] > before) == (sys.platform == "linux" and before < NICENESS)
    assert os.getpriority(os.PRIO_PROCESS, threading.get_native_id()) == before
