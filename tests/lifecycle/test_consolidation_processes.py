"""Consolidation that is killed in the middle of a turn: nothing is lost, nothing is done twice."""

import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

from plain_store import NOW, PROJECT, open_store

from ebbing.schemas.memory import Event, Kind
from ebbing.store.spool import SpoolEvent

TURNS = 40
SECOND = 1_000_000


def consolidating(home: Path, dies_in: int, when: str = "before") -> subprocess.CompletedProcess[str]:
    support = str(Path(__file__).parents[1] / "support")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([support, os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, str(Path(__file__).with_name("consolidation_process.py")), str(home), str(dies_in), when]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120, check=False)


def events(turn: int) -> list[SpoolEvent]:
    """A prompt that tells a rule, a failure, an edit, a success, an answer."""
    told: list[tuple[str, dict[str, object]]] = [
        ("user-prompt-submit", {"prompt": f"Always keep module m{turn} small. Please fix its failing test now."}),
        (
            "post-tool-use-failure",
            {"tool_name": "Bash", "tool_input": {"command": f"pytest t{turn}.py"}, "error": f"E{turn}Error: no"},
        ),
        ("post-tool-use", {"tool_name": "Edit", "tool_input": {"file_path": f"m{turn}.py"}}),
        ("post-tool-use", {"tool_name": "Bash", "tool_input": {"command": f"pytest t{turn}.py"}}),
        ("stop", {"last_assistant_message": f"The test of module m{turn} passes again after the change."}),
    ]
    return [
        SpoolEvent(
            f"0198c2f0-0000-7000-8000-{turn * 10 + place:012d}",
            NOW - (TURNS - turn) * 60 * SECOND + place * SECOND,
            PROJECT,
            f"s{turn % 3}",
            name,
            payload,
        )
        for place, (name, payload) in enumerate(told)
    ]


def test_killed_three_times_it_loses_and_doubles_nothing(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        for turn in range(TURNS):
            store.spool.append(events(turn))
            # A client that was killed itself delivers its last event again.
            store.spool.append(events(turn)[-1:])
    for turn, when in ((7, "before"), (5, "after"), (1, "after")):
        assert consolidating(tmp_path, turn, when).returncode == -signal.SIGKILL
    last = consolidating(tmp_path, 0)
    assert (last.returncode, last.stderr) == (0, "")
    assert int(last.stdout) == 5 * (TURNS - 6 - 4)
    with open_store(tmp_path) as store:
        memories = [memory for batch in store.memories.all() for memory in batch]
        assert Counter(memory.kind for memory in memories) == {
            Kind.OBSERVATION: 5 * TURNS,
            Kind.EPISODE: TURNS,
            Kind.PREFERENCE: TURNS,
            Kind.FACT: TURNS,
        }
        texts = Counter(memory.content for memory in memories if memory.kind is not Kind.OBSERVATION)
        assert set(texts.values()) == {1}
        assert store.pending.count() == 0
        assert store.journal.count(Event.CONSOLIDATED) == TURNS
        assert store.integrity() == []
