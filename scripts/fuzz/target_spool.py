"""Lines of the spool, to whoever takes them in."""

from __future__ import annotations

import shutil
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from fuzz_store import Logged, logged, world_in
from fuzz_values import DATES, as_json, damaged, deep_values, objects, spoiled, telling_texts, texts
from fuzzing import Check, Target
from hypothesis import strategies as st
from world import World

from ebbing.hooks.events import EVENTS
from ebbing.hooks.places import spool_path
from ebbing.store.spool_event import SpoolEvent, write_line

_SENTINEL: Final = "The {} tide was noted."

_cut = spoiled({"head": texts(), "tail": texts(), "cut": st.integers(0, 10**6)}, needed=3)
_payload = spoiled(
    {
        "prompt": st.one_of(telling_texts(), _cut),
        "tool_name": st.one_of(st.sampled_from(["Bash", "WebFetch"]), texts(10)),
        "tool_input": st.one_of(st.fixed_dictionaries({"command": texts()}), objects, _cut),
        "tool_response": st.one_of(telling_texts(), objects, _cut),
        "error": st.one_of(texts(), _cut),
        "last_assistant_message": st.one_of(telling_texts(), _cut),
        "own_tool": st.booleans(),
        "agent_id": texts(5),
        "unreadable": texts(),
    }
)
_record = spoiled(
    {
        "id": st.one_of(st.sampled_from(["e1", "e2"]), texts(10)),
        "at": st.one_of(st.sampled_from(DATES), texts(10)),
        "scope": st.one_of(st.sampled_from(["/projects/ebb", "global"]), texts(10)),
        "session": texts(10),
        "event": st.one_of(st.sampled_from(sorted(EVENTS)), texts(10)),
        "payload": _payload,
        "v": st.integers(),
    },
    needed=6,
)
_line = st.one_of(_record, _record, deep_values).map(lambda value: as_json(value).encode())
_bytes = st.lists(st.one_of(_line, damaged(_line), st.binary(max_size=60), st.just(b"y" * 300_000)), max_size=6).map(
    b"\n".join
)


class _Spool:
    def __init__(self, world: World, log: Logged) -> None:
        self._world = world
        self._log = log
        self._count = 0

    def judge(self, given: bytes) -> None:
        """Whatever lies in the spool, all of it is taken in or set aside, and what comes behind it is remembered."""
        self._world.now += 60_000_000
        self._count += 1
        path = spool_path(self._world.home)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with path.open("ab") as file:
            file.write(given + b"\n" + self._sentinel())
        services = self._world.services
        try:
            services.observer.ingest(self._world.now)
        except Exception:
            # The next input is not to fail for this one's sake.
            shutil.rmtree(path.parent)
            raise
        assert services.store.spool.pending_bytes() == 0
        found = services.store.memories.by_event(f"sentinel-{self._count}")
        assert found is not None
        assert found.content == _SENTINEL.format(self._count)
        self._log.judge()

    def _sentinel(self) -> bytes:
        payload: dict[str, Any] = {"prompt": _SENTINEL.format(self._count)}
        return write_line(
            SpoolEvent(f"sentinel-{self._count}", self._world.now, "/projects/ebb", "s", "user-prompt-submit", payload)
        )


@contextmanager
def _opened(folder: Path) -> Generator[Check]:
    with world_in(folder) as world, logged() as log:
        yield _Spool(world, log).judge
        world.pass_days(3)
        world.run_daily()
        log.judge()


SPOOL = Target(
    "spool",
    "a file of damaged, cut, concatenated, huge and ill-typed lines, to the server that takes the spool in",
    _bytes,
    _opened,
    examples=200,
    suite=15,
)
