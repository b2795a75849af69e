"""Reading and writing a descriptor from the event loop.

Where the loop can poll pipes nothing blocks and no thread is left behind: a reading thread would keep the process
alive until its client sends another byte. Windows can't poll a pipe, so there a worker thread does the call.
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
_WRITE_BYTES = getattr(select, "PIPE_BUF", 512)


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
    """Write all of `data`. Raises OSError when the peer is gone."""
    rest = memoryview(data)
    while rest:
        await _ready(anyio.wait_writable, descriptor)
        try:
            rest = rest[os.write(descriptor, rest[:_WRITE_BYTES]) :]
        except BlockingIOError:
            continue


async def read_threaded(descriptor: int) -> bytes:
    """Like `read_polled`, for platforms whose loop can't poll a pipe."""
    try:
        return await anyio.to_thread.run_sync(
            os.read, descriptor, CHUNK_BYTES, abandon_on_cancel=True, limiter=anyio.CapacityLimiter(1)
        )
    except OSError:
        return b""


async def write_threaded(descriptor: int, data: bytes) -> None:
    """Like `write_polled`, for platforms whose loop can't poll a pipe."""
    rest = memoryview(data)
    while rest:
        written = await anyio.to_thread.run_sync(os.write, descriptor, rest, limiter=anyio.CapacityLimiter(1))
        rest = rest[written:]


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
