import fcntl
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ebbing.hooks.appending import append, append_or_set_beside, lock_current, open_locked


@contextmanager
def held(path: Path) -> Generator[int]:
    """The lock on a file, as another process would hold it."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def test_lines_follow_each_other_in_a_private_file(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    append(str(path), b"one\n", wait=0)
    append(str(path), b"two\nthree\n", wait=0)
    assert path.read_bytes() == b"one\ntwo\nthree\n"
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_half_written_line_does_not_spoil_the_next(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_bytes(b"one\nhal")
    append(str(path), b"two\n", wait=0)
    assert path.read_bytes() == b"one\nhal\ntwo\n"


def test_a_locked_file_is_waited_for_only_so_long(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    with held(path), pytest.raises(TimeoutError):
        append(str(path), b"one\n", wait=0.02)
    append(str(path), b"two\n", wait=0)
    assert path.read_bytes() == b"two\n"


def test_a_line_that_cannot_wait_goes_into_a_file_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    with held(path):
        append_or_set_beside(str(path), b"one\n", unique="x", wait=0.02)
    assert (tmp_path / "events-x.jsonl").read_bytes() == b"one\n"
    assert path.read_bytes() == b""


def test_a_file_that_was_renamed_under_the_lock_is_not_written_to(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_bytes(b"one\n")
    stale = os.open(path, os.O_RDWR)
    path.rename(tmp_path / "taken")
    assert not lock_current(stale, str(path))
    path.touch()
    assert not lock_current(stale, str(path))
    os.close(stale)
    append(str(path), b"two\n", wait=0)
    assert (tmp_path / "taken").read_bytes() == b"one\n"
    assert path.read_bytes() == b"two\n"


def test_a_missing_file_is_only_made_when_asked(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        open_locked(str(tmp_path / "lines"), wait=0, create=False)
    assert list(tmp_path.iterdir()) == []
