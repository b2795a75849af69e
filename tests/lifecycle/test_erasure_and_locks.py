"""Erasing reads every file of the store, and must leave the locks of the database alone while it does."""

import os
import subprocess
import sys
from pathlib import Path

from world import World

READER = """
import sys
from pathlib import Path
from ebbing.store.store import Store
with Store(Path(sys.argv[1]), 1, model_name="fake-words", dimension=384) as store:
    print(store.memories.count())
"""


def counted_elsewhere(home: Path) -> int:
    """How many memories another process sees; it opens the store and closes it again."""
    done = subprocess.run(
        [sys.executable, "-c", READER, str(home)],
        capture_output=True,
        text=True,
        check=True,
        env=dict(os.environ),
        timeout=60,
    )
    return int(done.stdout)


def test_saves_after_an_erase_are_seen_by_processes_that_come_and_go(tmp_path: Path) -> None:
    with World(tmp_path / "home") as world:
        erased = world.save("The merger with Quillfeather closes in May.", "episode")
        world.save("The cache is cold.", "episode")
        assert world.services.recorder.erase([world.memory(erased.id)], world.now).verified
        assert counted_elsewhere(world.home) == 1
        world.save("The queue is full.", "episode")
        assert counted_elsewhere(world.home) == 2
    assert counted_elsewhere(tmp_path / "home") == 2
