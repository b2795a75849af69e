"""What clients write to their hooks' standard input: whatever it is, one event is noted and nothing breaks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from fuzz_values import as_json, damaged, deep_values, objects, spoiled, telling_texts, texts
from fuzzing import Check, Target
from hypothesis import strategies as st

from ebbing.hooks.clients import client_of, our_fields
from ebbing.hooks.events import EVENTS, FIELD_LIMIT, event_name, line, understood
from ebbing.lifecycle.event_text import actor_of, describe
from ebbing.store.spool_event import read_line

_NOW: Final = 1_772_442_000_000_000_000
_NOISE: Final = bytes(range(10))
_PRIVATE: Final = "pinkelephant"
_HOOK: Final = (sys.executable, "-I", "-c", "import sys; from ebbing.hooks.main import main; sys.exit(main())")
_PATIENCE: Final = 30
_EVERY: Final = 40
"""One in so many inputs also goes to a real hook."""

_said = st.one_of(telling_texts(), st.just(f"see <private>{_PRIVATE}</private> there"))
_given = spoiled(
    {
        "session_id": texts(12),
        "hook_event_name": st.one_of(st.sampled_from(["SessionStart", "PostToolUse", "BeforeAgent", "Stop"]), texts(8)),
        "cwd": st.one_of(st.just("/"), texts(12)),
        "prompt": _said,
        "prompt_id": texts(8),
        "source": st.sampled_from(["startup", "compact", "system"]),
        "tool_name": st.one_of(st.sampled_from(["Bash", "mcp__ebbing__recall"]), texts(8)),
        "tool_input": st.one_of(objects, _said),
        "tool_response": st.one_of(objects, _said, st.text(min_size=1, max_size=3).map(lambda text: text * 20_000)),
        "tool_use_id": texts(8),
        "error": _said,
        "last_assistant_message": _said,
        "custom_instructions": _said,
        "workspace_roots": st.lists(texts(6), max_size=2),
        "conversation_id": texts(6),
        "agent_action_name": texts(6),
        "tool_info": objects,
        "agent_id": texts(4),
    },
    needed=3,
)
_bodies = st.one_of(_given, _given, _given, deep_values).map(lambda value: as_json(value).encode())
_inputs = st.tuples(
    st.one_of(st.sampled_from(sorted(EVENTS)), st.sampled_from(["PostToolUse", "afterAgentResponse"]), texts(8)),
    st.one_of(_bodies, damaged(_bodies), st.binary(max_size=40)),
)


class _Hooks:
    def __init__(self, home: Path) -> None:
        self._home = home
        self._count = 0

    def judge(self, given: tuple[str, bytes]) -> None:
        """One line for the spool comes of it, which the spool's reader and the words of an observation understand."""
        named, body = given
        fields = our_fields(understood(body.decode("utf-8", "replace")))
        event = event_name(named or str(fields.get("hook_event_name", "")))
        client_of("", fields, {})
        if event:
            # Damage may have hit the mark that makes it private.
            marked = body.count(_PRIVATE.encode()) == body.count(f"<private>{_PRIVATE}</private>".encode())
            self._judge_line(event, fields, marked=marked)
        self._count += 1
        if self._count % _EVERY == 1:
            self._run(named, body, known=bool(event))

    def _judge_line(self, event: str, fields: dict[str, object], *, marked: bool) -> None:
        text = line(event, fields, scope="/p", now=_NOW, noise=_NOISE, limit=FIELD_LIMIT, lost=0)
        assert text.endswith("\n")
        assert text.count("\n") == 1
        assert not marked or _PRIVATE not in text
        read = read_line(text.encode("ascii"))
        assert read is not None, "the spool's reader does not know it for an event"
        tool = read.payload.get("tool_name")
        actor_of(read.event, tool if isinstance(tool, str) else None)
        told = describe(read.event, read.payload)
        assert told is None or isinstance(told, str)

    def _run(self, named: str, body: bytes, *, known: bool) -> None:
        kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        before = self._lines()
        done = subprocess.run(
            [*_HOOK, named.replace("\0", "").encode("utf-8", "replace")],
            input=body,
            capture_output=True,
            timeout=_PATIENCE,
            check=False,
            env={**kept, "EBBING_HOME": str(self._home)},
        )
        assert (done.returncode, done.stderr) == (0, b""), done.stderr[-2_000:]
        assert not done.stdout or json.loads(done.stdout)
        if known and named:
            assert self._lines() == before + 1, "the event was lost"

    def _lines(self) -> int:
        files: list[Path] = sorted(self._home.glob("spool/*.jsonl"))
        lines: list[Any] = [raw for path in files for raw in path.read_bytes().splitlines()]
        return len(lines)


@contextmanager
def _opened(folder: Path) -> Generator[Check]:
    yield _Hooks(folder / "home").judge


HOOKS = Target(
    "hooks",
    "events and payloads as clients write them, right and damaged, to the hook's functions and now and then to a hook",
    _inputs,
    _opened,
    examples=400,
    suite=40,
)
