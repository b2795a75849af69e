"""How long a client waits for its hooks, as a multiple of starting Python and doing nothing.

The commands take turns, so that a noisy machine slows all of them alike; figures are medians.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path

from _report import Report, Table, argument_parser, publish

from ebbing.hooks import places

_COMMAND = Path(sysconfig.get_path("scripts"), "ebbing-hook")
_PYTHON = "python -I -c pass"
_JSON = "python -c 'import json'"
_PROMPT_LINE = "- 2026-03-01 [0195a7c0] tests run with pytest in importlib mode, the build uses hatchling\n"


def main() -> None:
    """Measure and report."""
    parser = argument_parser(__doc__)
    parser.add_argument("--rounds", type=int, default=100, help="how often each command is started (default 100)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ebbing-bench-") as folder:
        seconds = measure(Path(folder), rounds=arguments.rounds)
    publish(_report(seconds, arguments.rounds), as_json=arguments.json)


def measure(folder: Path, *, rounds: int) -> dict[str, float]:
    """Median wall seconds of each command, with the soft prompt and the spool in `folder`."""
    # Compiled modules are what an installed package has; a first round makes them.
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    env |= {"EBBING_HOME": str(folder / "home"), "PYTHONPYCACHEPREFIX": str(folder / "compiled")}
    places.write_private(places.soft_prompt_path(folder / "home", str(folder)), (_PROMPT_LINE * 100).encode())
    taken: dict[str, list[float]] = {name: [] for name in _commands()}
    for _ in range(rounds + 1):
        for name, command in _commands().items():
            taken[name].append(_timed(command, _given(name, folder), env))
    return {name: statistics.median(values[1:]) for name, values in taken.items()}


def _commands() -> dict[str, list[str]]:
    events = ("session-start", "user-prompt-submit", "post-tool-use", "stop")
    python = {_PYTHON: [sys.executable, "-I", "-c", "pass"], _JSON: [sys.executable, "-c", "import json"]}
    return python | {event: [str(_COMMAND), event] for event in events}


def _given(event: str, folder: Path) -> bytes:
    text = "word " * 400
    fields = {"prompt": text, "tool_name": "Bash", "tool_response": text, "source": "startup", "event": event}
    return json.dumps({"session_id": "s", "cwd": str(folder), **fields}).encode()


def _timed(command: list[str], stdin: bytes, env: dict[str, str]) -> float:
    begin = time.perf_counter()
    subprocess.run(command, input=stdin, env=env, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - begin


def _report(seconds: dict[str, float], rounds: int) -> Report:
    empty = seconds[_PYTHON]
    rows = [(name, round(value * 1000, 1), value / empty) for name, value in seconds.items()]
    return Report(
        bench="hooks",
        figures={
            "hook_over_python": seconds["session-start"] / empty,
            "slowest_hook_over_python": max(value for name, value in seconds.items() if "python" not in name) / empty,
        },
        settings={"rounds": rounds},
        tables=[Table("wall time", ("command", "ms", f"over {_PYTHON}"), rows)],
    )


if __name__ == "__main__":
    main()
