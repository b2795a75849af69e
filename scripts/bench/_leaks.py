"""Secrets on the whole path: observed through the tool and the spool, consolidated, put into soft prompts, on disk."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from _secrets import Planted

from ebbing.encoding.embedder import Embedder
from ebbing.schemas.errors import ModelMissingError
from ebbing.server.engine import Engine
from ebbing.server.settings import Settings
from ebbing.store.spool import SpoolEvent
from ebbing.tools.consolidate import consolidate
from ebbing.tools.observe import observe

_BATCH = 200
_SECOND = 1_000_000


def leaked(plantings: Sequence[Planted]) -> tuple[int, int]:
    """How many of the planted secrets stand in a file of the store afterwards, and how many memories were made.

    Each is told by a user as a rule, printed by a tool, repeated by an agent, and observed as a note.
    """
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder, "home")
        with Engine(Settings(home=home, scope="/bench", background=False), load=_no_model) as engine:
            services = engine.services()
            services.store.spool.append(_events(plantings))
            for start in range(0, len(plantings), _BATCH):
                some = plantings[start : start + _BATCH]
                observe(services, [{"text": _told(planting), "event": "note"} for planting in some])
            consolidate(services)
            made = services.store.memories.count()
        content = b"\n".join(path.read_bytes() for path in sorted(home.rglob("*")) if path.is_file())
    return sum(planting.secret.encode() in content for planting in plantings), made


def _told(planting: Planted) -> str:
    return f"Always remember this line of the settings:\n{planting.line}"


def _events(plantings: Sequence[Planted]) -> Iterator[SpoolEvent]:
    at = time.time_ns() // 1000 - len(plantings) * 4 * _SECOND
    for number, planting in enumerate(plantings):
        told = (
            ("user-prompt-submit", {"prompt": f"We decided to use this from now on: {planting.line}"}),
            ("post-tool-use", {"tool_name": "Bash", "tool_input": {"command": "env"}, "tool_response": planting.line}),
            ("stop", {"last_assistant_message": f"It is in place now, as you asked.\n{planting.line}"}),
        )
        for place, (event, payload) in enumerate(told):
            identifier = f"0198c2f0-0000-7000-8000-{number * len(told) + place:012d}"
            yield SpoolEvent(identifier, at + (number * 4 + place) * _SECOND, "/bench", "s", event, payload)


def _no_model() -> Embedder:
    raise ModelMissingError("none is needed here")
