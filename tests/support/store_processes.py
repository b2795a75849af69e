"""Starts processes that use a store (tests/store/store_process.py) and hears what they say."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

_PROGRAM = Path(__file__).parents[1] / "store" / "store_process.py"
_SECONDS = 60


def run_process(command: str, home: Path, argument: str = "") -> str:
    """What a process says at its end."""
    with start_process(command, home, argument) as process:
        said, _ = process.communicate(timeout=_SECONDS)
    return said.strip()


def start_process(command: str, home: Path, argument: str = "") -> subprocess.Popen[str]:
    """A process that has been started; some wait for a line before they go on."""
    paths = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    return subprocess.Popen(
        [sys.executable, str(_PROGRAM), command, str(home), argument],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": paths},
    )


def run_together(command: str, home: Path, argument: str, number: int) -> list[str]:
    """What several processes say that were made to begin at the same moment."""
    processes = [start_process(command, home, argument) for _ in range(number)]
    try:
        for process in processes:
            _await_ready(process)
        for process in processes:
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        return [process.communicate(timeout=_SECONDS)[0].strip() for process in processes]
    finally:
        for process in processes:
            process.kill()
            process.wait()


def _await_ready(process: subprocess.Popen[str]) -> None:
    """Wait until a process says that it is ready; one that isn't is asked what became of it, for whoever reads that."""
    assert process.stdout is not None
    said = process.stdout.readline()
    if said != "ready\n":
        rest, _ = process.communicate(timeout=_SECONDS)
        raise AssertionError(f"a process said {said + rest!r} and ended with {process.returncode}")
