"""Serving over stdio: claims the wire, answers the handshake, and only then loads what memory needs.

Standard library only at import time, since nothing may be loaded before the wire is claimed.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..tools.services import Services
    from .engine import Engine
    from .listening import Listener
    from .settings import Settings

# Long enough for the reply to the first request to be on the wire before loading competes with it for the interpreter.
_HEAD_START_SECONDS = 0.05

_log = logging.getLogger(__name__)

_HINT = """\
ebbing is waiting for an MCP client on standard input. Clients start it themselves; press Ctrl-C to leave.
See `ebbing --help` for what you can do here, and `ebbing demo` to watch it work.
"""


class Serving:
    """The engine of a server that loads it after the first request, or with the first call that needs it."""

    def __init__(self, settings: Settings) -> None:
        """Prepare; nothing is loaded."""
        self._settings = settings
        self._guard = threading.Lock()
        self._importing = threading.Lock()
        self._engine: Engine | None = None
        self._listener: Listener | None = None
        self._timer: threading.Timer | None = None
        self._closed = False

    def services(self, client: str | None) -> Services:
        """The services for a client of this name; called in worker threads.

        Raises:
            StoreError: if the store can't be opened, or the server is closing.
        """
        return self._opened().for_client(client)

    def after_request(self) -> None:
        """Begin to load in the background, once; later, have read there what the request has written."""
        engine = self._engine
        if engine is not None:
            engine.follow()
        with self._guard:
            if self._timer is not None or self._closed:
                return
            self._timer = threading.Timer(_HEAD_START_SECONDS, self._load)
            self._timer.daemon = True
        self._timer.start()

    def close(self) -> None:
        """Close what was opened; nothing is opened any more."""
        with self._guard:
            self._closed = True
            engine, self._engine = self._engine, None
            listener, self._listener = self._listener, None
            timer = self._timer
        if timer is not None:
            timer.cancel()
        if listener is not None:
            listener.close()
        if engine is not None:
            engine.close()

    def _load(self) -> None:
        from ..schemas.errors import StoreError

        try:
            self._opened()
        except StoreError:
            # Closed in the meantime.
            return

    def _opened(self) -> Engine:
        from ..schemas.errors import StoreError

        # One thread at a time: numpy's modules import each other, and two threads at it see them half made.
        with self._importing:
            from .engine import Engine
        with self._guard:
            if self._closed:
                raise StoreError("the memory store is closed: the server is shutting down")
            if self._engine is None:
                self._engine = Engine(self._settings)
                self._engine.start()
                self._listener = self._listening(self._engine)
            return self._engine

    def _listening(self, engine: Engine) -> Listener | None:
        """What answers hooks; without it they inject nothing at prompts, and everything else goes on."""
        from ..hooks.switches import INJECTED
        from .hook_answers import HookAnswers, remove_old_sessions
        from .listening import Listener

        if INJECTED[1] not in self._settings.inject:
            return None
        listener = Listener(
            self._settings.home, self._settings.scope, HookAnswers(lambda: engine.for_client(None), engine.flush)
        )
        try:
            listener.start()
            remove_old_sessions(self._settings.home)
        except OSError as error:
            _log.warning("hooks can't ask this server: %s", error.strerror)
        return listener


def serve_stdio(env: Mapping[str, str] | None = None) -> int:
    """Serve MCP over this process's stdin and stdout until the client leaves; returns the exit code.

    Args:
        env: the variables to read settings from, by default the process's own.
    """
    _hint_at_people()
    from .wire import claim_wire

    claim_wire()
    from .startup import without_collecting

    with without_collecting():
        from ..schemas.errors import EbbingError
        from .settings import configure_logging, read_settings

        try:
            settings = read_settings(env)
        except EbbingError as error:
            sys.stderr.write(f"ebbing: {error}\n")
            return 2
        configure_logging(settings.log_level)
        from .app import build_app
        from .stdio import serve

        serving = Serving(settings)
        app = build_app(serving.services, after_request=serving.after_request)
    return serve(app, close=serving.close)


def _hint_at_people() -> None:
    try:
        waiting = os.isatty(0)
    except OSError:
        return
    if waiting:
        sys.stderr.write(_HINT)
