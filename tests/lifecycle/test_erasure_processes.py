"""Erasing while other servers save, recall, consolidate, take the spool in and make backups."""

import json
import os
import subprocess
import sys
from pathlib import Path

from traces_left import places_in
from world import World, hooked

from ebbing.tools.forget import forget
from ebbing.tools.observe import observe

SECRETS = 4
ROUNDS = 3


def secret(number: int) -> str:
    return f"Quillfeather{number} buys the harbour of Bremen in May, said Xanthippe{number} over lunch."


def started(home: Path, name: str) -> subprocess.Popen[str]:
    folder = Path(__file__).parent
    paths = os.pathsep.join([str(folder.parent / "support"), str(folder), os.environ.get("PYTHONPATH", "")])
    return subprocess.Popen(
        [sys.executable, str(folder / "erasure_process.py"), str(home), name, str(ROUNDS)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": paths},
    )


def filled(world: World) -> list[str]:
    """A store that holds each secret in many ways; the ids of the memories that say them."""
    ids = [world.save(secret(number)).id for number in range(SECRETS)]
    for number in range(SECRETS):
        observe(world.services, [{"text": f"Mind that {secret(number)} Then water the plants of room {number}."}])
    world.services.store.backups.make("early", world.now)
    world.services.store.spool.append(
        [hooked(number, "told", f"As I said: {secret(number)}", world.now) for number in range(SECRETS)]
    )
    return ids


def test_nothing_is_left_and_nothing_else_is_lost_while_others_are_at_work(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with World(home) as world:
        ids = filled(world)
        kept = world.save("The lighthouse keeper of Amrum grows tulips behind the tower.").content
        servers = [started(home, name) for name in ("one", "two")]
        try:
            for server in servers:
                assert server.stdout is not None
                assert server.stdout.readline() == "ready\n"
            for server in servers:
                assert server.stdin is not None
                server.stdin.write("go\n")
                server.stdin.flush()
            for identifier in ids:
                forget(world.services, [identifier], mode="erase", confirmed=True)
            saved = [text for server in servers for text in json.loads(server.communicate(timeout=120)[0])]
        finally:
            for server in servers:
                server.kill()
                server.wait()
        texts = {memory.content for batch in world.services.store.memories.all() for memory in batch}
        assert world.services.store.integrity() == []
    assert {kept, *saved} <= texts
    assert [place for number in range(SECRETS) for place in places_in(home, f"Quillfeather{number} buys")] == []
    assert [place for number in range(SECRETS) for place in places_in(home, f"Xanthippe{number} over")] == []
