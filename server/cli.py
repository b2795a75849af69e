"""The `ebbing` command: without arguments it serves MCP over stdio, otherwise it is a tool for people."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Serve, or run the command that the arguments name; returns the exit code.

    0: done. 1: it can't be done, or `doctor` found something. 2: the arguments or settings are unusable. 130: stopped.
    """
    # Read when numpy loads. The products here are small: a second thread costs more than it helps on a busy machine.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    arguments = sys.argv[1:] if argv is None else list(argv)
    if not arguments:
        # The server must answer within the time an empty one takes, so it loads nothing of the command line.
        from .serving import serve_stdio

        return serve_stdio()
    from .commands.root import run

    return run(arguments)
