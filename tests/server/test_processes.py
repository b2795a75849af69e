"""Real server processes over stdio: several on one store at once, and one that is killed."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPTS = Path(__file__).parents[2] / "scripts" / "bench"


def figures_of(script: str, *arguments: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, str(SCRIPTS / script), "--json", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=dict(os.environ),
        timeout=200,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)["figures"]


def test_four_servers_on_one_store_answer_every_call_and_lose_nothing() -> None:
    figures = figures_of("concurrency.py", "--seconds", "120", "--most", "8")
    assert (figures["saves"], figures["recalls"]) == (32, 32)
    assert (figures["errors"], figures["missing"], figures["integrity_problems"]) == (0, 0, 0)


@pytest.mark.parametrize("saves", [25])
def test_facts_survive_the_process_and_no_acknowledged_save_is_lost_to_a_kill(saves: int) -> None:
    figures = figures_of("continuity.py", "--saves", str(saves))
    assert figures["rank1"] == 10
    assert figures["acknowledged"] >= saves
    assert figures["lost_after_kill"] == 0
    assert figures["doctor_problems"] == 0
