"""Serving over HTTP, for clients that can't start a program: on the loopback address, to whoever has the token."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable
from types import FrameType

import uvicorn

from ..schemas.errors import EbbingError, InvalidInputError
from .app import build_app
from .http_guard import LOOPBACK, Guard
from .http_token import token_of
from .serving import Serving
from .settings import Settings

PATH = "/mcp"
_GRACE_SECONDS = 2
_BACKLOG = 128
_SIGNALS = ("SIGTERM", "SIGINT", "SIGHUP", "SIGBREAK")


def listen(host: str, port: int) -> socket.socket:
    """A socket on a loopback address; port 0 takes a free one.

    Raises:
        InvalidInputError: if the host is another one than this machine by itself.
        EbbingError: if the port can't be had.
    """
    if host not in LOOPBACK:
        raise InvalidInputError(
            f"--host must be one of {', '.join(LOOPBACK)}: memories are served to this machine only"
        )
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except OSError as error:
        raise EbbingError(f"port {port} can't be listened on: {error.strerror}") from error


def serve_http(settings: Settings, listening: socket.socket, ready: Callable[[], None]) -> int:
    """Serve MCP on a listening socket until a signal ends the process; returns the exit code.

    Args:
        settings: those of the store; the token lies in its home folder.
        listening: what `listen` gave.
        ready: called once, when everything is prepared and connections are about to be taken.

    Raises:
        EbbingError: if there is no token to be had.
    """
    token = token_of(settings.home)
    serving = Serving(settings)
    app = build_app(serving.services, after_request=serving.after_request)
    guard = Guard(app.streamable_http_app(streamable_http_path=PATH), token=token, port=listening.getsockname()[1])
    config = uvicorn.Config(
        guard,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        ws="none",
        timeout_graceful_shutdown=_GRACE_SECONDS,
    )
    server = uvicorn.Server(config)
    _catch_signals(server)
    ready()
    # No client waits for the first reply yet, so what a reply needs can be loaded at once.
    serving.after_request()
    try:
        server.run(sockets=[listening])
    finally:
        serving.close()
    return 0


def _catch_signals(server: uvicorn.Server) -> None:
    """Have signals end the serving and not the process: uvicorn raises again what it was ended by."""

    def leave(_number: int, _frame: FrameType | None) -> None:
        server.should_exit = True

    for name in _SIGNALS:
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), leave)
