"""A server on a store in which another process erases: it saves, recalls, takes the spool in, consolidates, backs up.

Arguments: the folder of the store, its name, how many rounds. It writes a line when it is ready, waits for one, and
writes the texts that it has saved at its end.
"""

import json
import sys
from pathlib import Path

from world import World, hooked

from ebbing.lifecycle.daily import RunContext
from ebbing.tools.observe import observe


def work(world: World, name: str, number: int) -> str:
    """One round; the text that it saved."""
    said = world.save(f"Server {name} counted {number} gulls at the lighthouse number {number * 7919}.").content
    world.found("what closes in May over lunch")
    observe(world.services, [{"text": f"Server {name} watched ship {number} leave for island {number * 13}."}])
    world.services.store.spool.append(
        [hooked(number, name, f"Please paint boat {number} of server {name}.", world.now)]
    )
    context = RunContext(world.now, asked=True)
    for step in world.engine.steps().all():
        step.run(context)
    if number % 3 == 0:
        world.services.store.backups.make(f"{name}{number}", world.now + number)
    return said


def main() -> None:
    home, name, rounds = sys.argv[1:]
    with World(Path(home)) as world:
        world.services.store.memories.count()
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        sys.stdin.readline()
        said = [work(world, name, number) for number in range(int(rounds))]
    sys.stdout.write(json.dumps(said) + "\n")


if __name__ == "__main__":
    main()
