import os
import tempfile
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass

import anyio
import pytest

from ebbing.server.stdio_pipes import read_polled, read_threaded, write_polled, write_threaded

PATIENCE = 10.0


@dataclass(frozen=True)
class Transport:
    read: Callable[[int], Coroutine[None, None, bytes]]
    write: Callable[[int, bytes], Coroutine[None, None, None]]


@pytest.fixture(
    params=[Transport(read_polled, write_polled), Transport(read_threaded, write_threaded)], ids=["polled", "threaded"]
)
def transport(request: pytest.FixtureRequest) -> Transport:
    return request.param


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    ends = os.pipe()
    yield ends
    for end in ends:
        try:
            os.close(end)
        except OSError:
            continue


@pytest.mark.anyio
async def test_what_was_written_is_read_and_then_the_end(transport: Transport, pipe: tuple[int, int]) -> None:
    reader, writer = pipe
    await transport.write(writer, b"hello\n")
    assert await transport.read(reader) == b"hello\n"
    os.close(writer)
    assert await transport.read(reader) == b""


@pytest.mark.anyio
async def test_more_than_a_pipe_holds_arrives_whole(transport: Transport, pipe: tuple[int, int]) -> None:
    reader, writer = pipe
    sent = bytes(range(256)) * 4096
    received = bytearray()
    with anyio.fail_after(PATIENCE):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(transport.write, writer, sent)
            while len(received) < len(sent):
                received += await transport.read(reader)
    assert received == sent


@pytest.mark.anyio
async def test_writing_to_nobody_is_an_error(transport: Transport, pipe: tuple[int, int]) -> None:
    reader, writer = pipe
    os.close(reader)
    with pytest.raises(BrokenPipeError):
        await transport.write(writer, b"x")


@pytest.mark.anyio
async def test_a_descriptor_that_fails_reads_as_ended(transport: Transport, pipe: tuple[int, int]) -> None:
    reader, _ = pipe
    os.close(reader)
    assert await transport.read(reader) == b""


@pytest.mark.anyio
async def test_a_file_which_no_loop_can_poll_is_read_and_written(transport: Transport) -> None:
    with tempfile.TemporaryFile() as file:
        await transport.write(file.fileno(), b"x" * 10_000)
        os.lseek(file.fileno(), 0, os.SEEK_SET)
        assert await transport.read(file.fileno()) == b"x" * 10_000
        assert await transport.read(file.fileno()) == b""


@pytest.mark.anyio
async def test_a_reader_that_waits_can_be_cancelled(transport: Transport, pipe: tuple[int, int]) -> None:
    reader, writer = pipe
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(transport.read, reader)
        await anyio.wait_all_tasks_blocked()
        tasks.cancel_scope.cancel()
    # Lets the abandoned thread go where there is one.
    os.write(writer, b"x")


@pytest.mark.anyio
async def test_a_non_blocking_pipe_is_read_and_written_by_polling(pipe: tuple[int, int]) -> None:
    reader, writer = pipe
    os.set_blocking(reader, False)
    os.set_blocking(writer, False)
    received = bytearray()
    with anyio.fail_after(PATIENCE):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(write_polled, writer, b"x" * 300_000)
            while len(received) < 300_000:
                received += await read_polled(reader)
    assert received == b"x" * 300_000
