"""Keeps the protocol's two descriptors out of reach of everything else in the process.

Standard library only, so that the command line can call `claim_wire` before the first heavy import: from then on a
`print`, a write to descriptor 1 or a child process lands on stderr instead of corrupting the protocol.
"""

import functools
import os
import sys
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Wire:
    """Private descriptors of the protocol's byte streams, and the process that started this one."""

    stdin: int
    stdout: int
    parent: int


@functools.cache
def claim_wire() -> Wire:
    """Move stdin and stdout to private descriptors; the public ones become the null device and stderr.

    Idempotent: every call in a process returns the same `Wire`. Descriptors that were closed at start read as ended
    or are discarded. Neither private descriptor is inherited by child processes.
    """
    parent = os.getppid()
    _fill_missing_descriptors()
    wire = Wire(stdin=_private_copy(0), stdout=_private_copy(1), parent=parent)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    return wire


def _fill_missing_descriptors() -> None:
    # The kernel hands out the lowest free number: without this the database could become "stderr" and be written over.
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


def _private_copy(descriptor: int) -> int:
    copy = os.dup(descriptor)
    if sys.platform == "win32":
        import msvcrt

        msvcrt.setmode(copy, os.O_BINARY)
    return copy
