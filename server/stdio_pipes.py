"""Reading and writing a descriptor from the event loop.

Where the loop can poll pipes no thread waits for input: it would keep the process alive until the client sends another
byte. Windows can't poll a pipe, so there a worker thread reads.
"""

import os
import select
import sys
from collections.abc import Awaitable, Callable

import anyio
import anyio.lowlevel
import anyio.to_thread

CHUNK_BYTES = 64 * 1024
# A descriptor that polls as writable takes this many bytes without blocking, even when the peer reads nothing more.
_UNBLOCKED_BYTES = getattr(select, "PIPE_BUF", 512)


async def read_polled(descriptor: int) -> bytes:
    """Return the next bytes, or none at the end of the stream or after its peer was lost."""
    while True:
        await _ready(anyio.wait_readable, descriptor)
        try:
            return os.read(descriptor, CHUNK_BYTES)
        except BlockingIOError:
            continue
        except OSError:
            return b""


async def write_polled(descriptor: int, data: bytes) -> None:
    """Write all of `data`. Raises OSError when the peer is gone.

    A reply is longer than what a pipe takes for sure, and handing it to a thread takes longer than to ask the pipe
    again after each piece. Only a peer that is slow to read is left to a thread.
    """
    if not _takes_more(descriptor):
        await _ready(anyio.wait_writable, descriptor)
    rest = memoryview(data)
    while rest and _takes_more(descriptor):
        piece = rest[:_UNBLOCKED_BYTES]
        rest = rest[len(piece) :]
        _write(descriptor, piece)
    if rest:
        await write_threaded(descriptor, rest)


async def read_threaded(descriptor: int) -> bytes:
    """Like `read_polled`, for platforms whose loop can't poll a pipe."""
    try:
        return await anyio.to_thread.run_sync(
            os.read, descriptor, CHUNK_BYTES, abandon_on_cancel=True, limiter=anyio.CapacityLimiter(1)
        )
    except OSError:
        return b""


async def write_threaded(descriptor: int, data: bytes | memoryview) -> None:
    """Like `write_polled`, for platforms whose loop can't poll a pipe, and for more than it takes at once."""
    await anyio.to_thread.run_sync(_write, descriptor, data, limiter=anyio.CapacityLimiter(1))


def _takes_more(descriptor: int) -> bool:
    return bool(select.select([], [descriptor], [], 0)[1])


def _write(descriptor: int, data: bytes | memoryview) -> None:
    rest = memoryview(data)
    while rest:
        try:
            rest = rest[os.write(descriptor, rest) :]
        except BlockingIOError:
            # Whoever gave us the descriptor made it non-blocking.
            select.select([], [descriptor], [])


async def _ready(wait: Callable[[int], Awaitable[None]], descriptor: int) -> None:
    try:
        await wait(descriptor)
    except OSError:
        # Regular files and the null device can't be polled; they are always ready.
        await anyio.lowlevel.checkpoint()


if sys.platform == "win32":
    read_chunk, write_all = read_threaded, write_threaded
else:
    read_chunk, write_all = read_polled, write_polled
