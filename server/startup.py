"""Makes start-up and exit cheaper. Standard library only, so that it can wrap the first heavy import."""

import gc
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def without_collecting() -> Generator[None]:
    """Load modules and build what lives as long as the process without looking for garbage among them.

    Hundreds of thousands of objects come into being and none of them dies, so each collection on the way is for
    nothing, and so is each later one, above all the last at exit: what exists at the end is never looked at again.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if was_enabled:
            gc.enable()
