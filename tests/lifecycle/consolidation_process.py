"""Takes the spool in and consolidates, and kills itself in the middle of a transaction.

Arguments: the folder of the store, the number of the turn it dies in (0 for none), and whether "before" or "after" the
turn's observations are marked as done with.
"""

import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from plain_store import NOW, open_store

from ebbing.lifecycle.consolidation import Consolidator
from ebbing.lifecycle.ledger import Ledger
from ebbing.lifecycle.observing import Observer
from ebbing.schemas.memory import Memory


class Mortal(Ledger):
    """A ledger that is killed while it records a turn."""

    turns = 0

    def consolidated(self, scope: str, observations: Sequence[Memory], became: Sequence[str], at: int) -> None:
        self.turns += 1
        is_last = self.turns == int(sys.argv[2])
        if is_last and sys.argv[3] == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        super().consolidated(scope, observations, became, at)
        if is_last:
            os.kill(os.getpid(), signal.SIGKILL)


def main() -> None:
    with open_store(Path(sys.argv[1])) as store:
        ledger = Mortal(store)
        Observer(store, ledger).ingest(NOW)
        done = Consolidator(store, ledger).run(NOW, None, whole=True)
        sys.stdout.write(f"{done.observations}\n")


if __name__ == "__main__":
    main()
