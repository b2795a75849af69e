"""Fades random memories and re-quantizes without pause until its standard input ends, then says what it did.

Arguments: the folder of the store, and after how many changes to say that it is enough.
"""

import json
import random
import sys
import threading
from pathlib import Path

from fading_store import FadingStore

from ebbing.lifecycle.precision import requantize
from ebbing.schemas.memory import State

SOME = 40


def fade(world: FadingStore, luck: random.Random) -> int:
    """Move some memories one state down, as decay does; returns how many were still where they had been seen."""
    columns = world.store.catalog.columns()
    chosen = luck.sample(range(1, len(columns.alive)), SOME)
    moves = [(seq, int(columns.state[seq]), int(columns.state[seq]) + 1) for seq in chosen]
    with world.store.atomic(durable=False):
        return len(world.store.memories.move_states([move for move in moves if move[2] <= State.ARCHIVE]))


def say(line: str) -> None:
    """Tell the test."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> None:
    ended = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
    luck = random.Random(7)
    total = {"demoted": 0, "promoted": 0, "lost": 0, "faded": 0}
    with FadingStore(Path(sys.argv[1])) as world:
        say("ready")
        announced = False
        while not ended.is_set():
            total["faded"] += fade(world, luck)
            counts = requantize(world.store, world.embedder, world.now)
            total["demoted"] += counts.demoted
            total["promoted"] += counts.promoted
            total["lost"] += counts.lost
            if not announced and sum(total.values()) - total["lost"] >= int(sys.argv[2]):
                announced = True
                say("enough")
    json.dump(total, sys.stdout)


if __name__ == "__main__":
    main()
