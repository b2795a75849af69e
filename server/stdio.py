"""Serves MCP over stdin and stdout so that no input and no way of dying loses a reply or leaves a process behind."""

import functools
from collections.abc import AsyncGenerator, Callable

import anyio
from anyio.abc import ObjectReceiveStream, ObjectSendStream
from mcp.server import MCPServer
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from mcp_types import (
    CONNECTION_CLOSED,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
)

from .stdio_lines import LineSplitter, Rejected, encode_message, parse_line
from .stdio_pipes import read_chunk, write_all
from .watchdog import ClosingOnce, Watchdog
from .wire import Wire, claim_wire

DRAIN_SECONDS = 5.0
# Its answer is a stream that lasts as long as the session, so waiting for it would be waiting for ourselves.
_ENDLESS_METHOD = "subscriptions/listen"


def serve(mcp: MCPServer, *, close: Callable[[], None], drain_seconds: float = DRAIN_SECONDS) -> int:
    """Serve `mcp` over this process's stdin and stdout until the session ends; return the exit code.

    When stdin ends, calls in flight are answered, `close` runs, and this returns. SIGTERM, SIGINT, SIGHUP, the death
    of the parent and a closed stdout end the process at once, through `close`. `close` runs exactly once, on any
    thread, possibly while a tool is still running.

    Owns the process from the call on, must be called on the main thread, once: whatever still runs `drain_seconds`
    after stdin ended is cut off, the rest of the caller's own shutdown included.
    """
    wire = claim_wire()
    closing = ClosingOnce(close)
    watchdog = Watchdog(closing, parent=wire.parent)
    watchdog.catch_signals()
    watchdog.start()
    exit_code = 1
    try:
        anyio.run(functools.partial(_Session(mcp, wire, watchdog, drain_seconds).run))
    finally:
        exit_code = closing()
        watchdog.retire(drain_seconds)
    return exit_code


class _Session:
    """One connection: pumps lines between the wire and the server, and knows which calls are unanswered."""

    def __init__(self, mcp: MCPServer, wire: Wire, watchdog: Watchdog, drain_seconds: float) -> None:
        self._mcp = mcp
        self._wire = wire
        self._watchdog = watchdog
        self._drain_seconds = drain_seconds
        self._unanswered: set[RequestId] = set()
        self._asked: set[RequestId] = set()
        self._drained: anyio.Event | None = None

    async def run(self) -> None:
        """Serve until stdin ends and everything that came before its end is answered."""
        inbound, to_read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        to_write, outbound = anyio.create_memory_object_stream[SessionMessage](0)
        # The one way to feed MCPServer other streams than the SDK's own stdio transport.
        server = self._mcp._lowlevel_server  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._receive, inbound, to_write.clone())
            tasks.start_soon(self._send, outbound)
            await server.run(to_read, to_write, server.create_initialization_options())

    async def _receive(
        self, inbound: ObjectSendStream[SessionMessage | Exception], replies: ObjectSendStream[SessionMessage]
    ) -> None:
        async with inbound, replies:
            async for message in self._messages():
                if isinstance(message, Rejected):
                    await replies.send(SessionMessage(message.reply))
                else:
                    await inbound.send(self._accepted(message))
            self._watchdog.leave_within(self._drain_seconds)
            await self._drain(inbound)

    async def _messages(self) -> AsyncGenerator[JSONRPCMessage | Rejected]:
        splitter = LineSplitter()
        ended = False
        while not ended:
            chunk = await read_chunk(self._wire.stdin)
            ended = not chunk
            for line in splitter.finish() if ended else splitter.feed(chunk):
                if (message := parse_line(line)) is not None:
                    yield message

    def _accepted(self, message: JSONRPCMessage) -> SessionMessage:
        if isinstance(message, JSONRPCResponse | JSONRPCError) and message.id is not None:
            self._asked.discard(message.id)
        if not isinstance(message, JSONRPCRequest) or message.method == _ENDLESS_METHOD:
            return SessionMessage(message)
        self._unanswered.add(message.id)
        settle = functools.partial(self._settle_cancelled, message.id)
        return SessionMessage(message, ServerMessageMetadata(on_request_unanswered=settle))

    async def _drain(self, inbound: ObjectSendStream[SessionMessage | Exception]) -> None:
        """Wait for the calls in flight: closing `inbound` would cancel them."""
        self._drained = anyio.Event()
        for request_id in tuple(self._asked):
            # Nobody is left to answer what a tool asked its client; the tool must not wait for it.
            gone = ErrorData(code=CONNECTION_CLOSED, message="Connection closed")
            await inbound.send(SessionMessage(JSONRPCError(jsonrpc="2.0", id=request_id, error=gone)))
        if self._unanswered:
            await self._drained.wait()

    async def _send(self, outbound: ObjectReceiveStream[SessionMessage]) -> None:
        async with outbound:
            async for item in outbound:
                try:
                    await write_all(self._wire.stdout, encode_message(item.message))
                except OSError:
                    self._watchdog.leave()
                    await anyio.sleep_forever()
                self._note_sent(item.message)

    def _note_sent(self, message: JSONRPCMessage) -> None:
        if isinstance(message, JSONRPCRequest):
            self._asked.add(message.id)
        elif isinstance(message, JSONRPCResponse | JSONRPCError) and message.id is not None:
            self._settle(message.id)

    async def _settle_cancelled(self, request_id: RequestId) -> None:
        self._settle(request_id)

    def _settle(self, request_id: RequestId) -> None:
        self._unanswered.discard(request_id)
        if self._drained is not None and not self._unanswered:
            self._drained.set()
