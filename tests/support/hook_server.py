"""A server of hooks that says what a test tells it to: the real protocol over a real socket."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from ebbing.hooks.asking import notes
from ebbing.server.listening import Listener

_PATIENCE = 30.0


class HookServer:
    """Answers every request with `reply`; `asked` holds the requests, `passed_on` how many answers were shown."""

    def __init__(self, home: Path, reply: Mapping[str, Any], *, scope: str = "/p", unix: bool = True) -> None:
        self.asked: list[Mapping[str, Any]] = []
        self.passed_on = 0
        self.token = ""
        self._home = home
        self._reply = reply
        # A slow machine must not fail a test that is not about time.
        self._listener = Listener(
            home, scope, self._answered, unix=unix, request_seconds=_PATIENCE, passed_on_seconds=_PATIENCE
        )

    def __enter__(self) -> Self:
        self._listener.start()
        [self.token] = [str(note["token"]) for note in notes(str(self._home), "")][:1]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._listener.close()

    def _answered(self, request: Mapping[str, Any]) -> _Said:
        self.asked.append(request)
        return _Said(self, json.loads(json.dumps(self._reply)))


class _Said:
    def __init__(self, server: HookServer, reply: Mapping[str, Any]) -> None:
        self._server = server
        self.reply = reply

    def passed_on(self) -> None:
        self._server.passed_on += 1
