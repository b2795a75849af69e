import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from ebbing.server.watchdog import ClosingOnce, Watchdog

PATIENCE = 10.0
PARENT = 4711


class Process:
    """What a watchdog sees of a process and does to it."""

    def __init__(self, close: Callable[[], None] = lambda: None) -> None:
        self.closed = 0
        self.parent = PARENT
        self.now = 100.0
        self.exit_codes: list[int] = []
        self._close = close
        self.closing = ClosingOnce(self._count_and_close)
        self.watchdog = Watchdog(
            self.closing,
            parent=PARENT,
            parent_now=lambda: self.parent,
            exit_process=self.exit_codes.append,
            clock=lambda: self.now,
            tick_seconds=0.001,
        )

    def _count_and_close(self) -> None:
        self.closed += 1
        self._close()


@pytest.fixture
def process() -> Process:
    return Process()


def start(process: Process) -> Watchdog:
    process.watchdog.start()
    return process.watchdog


def test_asked_to_leave_it_closes_once_and_exits(process: Process) -> None:
    watchdog = start(process)
    watchdog.leave()
    assert watchdog.join(PATIENCE)
    watchdog.leave()
    assert (process.closed, process.exit_codes) == (1, [0])


def test_another_parent_means_that_the_first_one_died(process: Process) -> None:
    watchdog = start(process)
    process.parent = 1
    assert watchdog.join(PATIENCE)
    assert (process.closed, process.exit_codes) == (1, [0])


def test_it_leaves_at_the_deadline_and_not_before(process: Process) -> None:
    watchdog = start(process)
    watchdog.leave_within(5)
    process.now += 4.9
    assert not watchdog.join(0.05)
    process.now += 0.1
    assert watchdog.join(PATIENCE)
    assert (process.closed, process.exit_codes) == (1, [0])


def test_what_was_closed_before_is_not_closed_again(process: Process) -> None:
    assert process.closing() == 0
    watchdog = start(process)
    watchdog.leave()
    assert watchdog.join(PATIENCE)
    assert (process.closed, process.exit_codes) == (1, [0])


def test_a_failure_to_close_is_the_exit_code() -> None:
    def fail() -> None:
        raise OSError("the disk is gone")

    process = Process(close=fail)
    watchdog = start(process)
    watchdog.leave()
    assert watchdog.join(PATIENCE)
    assert process.exit_codes == [1]


def test_a_close_that_never_returns_does_not_keep_the_process() -> None:
    forever = threading.Event()
    process = Process(close=lambda: assert_set(forever))
    watchdog = start(process)
    watchdog.leave()
    assert watchdog.join(PATIENCE)
    assert process.exit_codes == [0]
    forever.set()
    assert process.closing() == 0


def assert_set(event: threading.Event) -> None:
    assert event.wait(PATIENCE)


def test_whoever_closes_second_waits_until_the_first_has_closed() -> None:
    entered, may_finish = threading.Event(), threading.Event()
    closes: list[str] = []

    def close() -> None:
        entered.set()
        assert_set(may_finish)
        closes.append("closed")

    closing = ClosingOnce(close)
    with ThreadPoolExecutor() as pool:
        first = pool.submit(closing)
        assert_set(entered)
        second = pool.submit(closing)
        assert not second.done()
        may_finish.set()
        assert (first.result(PATIENCE), second.result(PATIENCE)) == (0, 0)
    assert closes == ["closed"]
