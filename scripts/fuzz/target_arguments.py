"""Arguments of the six tools, through the real app and the real client in memory."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from anyio.from_thread import BlockingPortal, start_blocking_portal
from fuzz_store import Logged, judge_error, judge_store, logged, world_in
from fuzz_values import DATES, MARK, SECRET, numbers, spoiled, telling_texts, texts, values
from fuzzing import Check, Target
from hypothesis import strategies as st
from mcp import Client, MCPError
from mcp.types import CallToolResult, TextContent
from world import World

from ebbing.schemas.memory import Kind
from ebbing.server.app import build_app

Call = tuple[str, dict[str, Any]]

_DAYS: Final = "days"
"""No tool: time passes."""

_kinds = st.sampled_from([str(kind) for kind in Kind])
_scopes = st.one_of(st.sampled_from(["global", "/projects/ebb", "/projects/other", "/", "x" * 5_000]), texts(12))
_dates = st.one_of(st.sampled_from(DATES), texts(10))
_ids = st.lists(st.one_of(st.integers(0, 30).map("@{}".format), texts(8)), max_size=4)
_flags = st.booleans()
_event = spoiled(
    {
        "text": telling_texts(),
        "event": st.one_of(st.sampled_from(["user-prompt-submit", "post-tool-use", "stop", "tool"]), texts(8)),
        "tool": st.one_of(st.sampled_from(["Bash", "WebFetch", "Edit"]), texts(8)),
        "at": _dates,
        "event_id": st.one_of(st.sampled_from(["e1", "e2"]), texts(8)),
        "session": texts(8),
        "ok": _flags,
    },
    needed=1,
)
_tools: dict[str, st.SearchStrategy[dict[str, Any]]] = {
    "recall": spoiled(
        {
            "query": st.one_of(texts(), st.just(f"what does {MARK} say")),
            "scope": _scopes,
            "kinds": st.lists(st.one_of(_kinds, texts(6)), max_size=3),
            "limit": st.one_of(st.integers(-1, 101), numbers),
            "max_tokens": st.one_of(st.integers(0, 3_000), numbers),
            "since": _dates,
            "until": _dates,
            "as_of": _dates,
            "include_faded": _flags,
            "ids": _ids,
            "explain": _flags,
        },
        needed=1,
    ),
    "save": spoiled(
        {
            "content": telling_texts(),
            "kind": _kinds,
            "scope": _scopes,
            "importance": st.one_of(st.floats(0, 1), numbers),
            "pinned": _flags,
            "tags": st.lists(st.one_of(texts(10), st.just(SECRET)), max_size=3),
            "supersedes": _ids,
            "valid_from": _dates,
            "valid_to": _dates,
            "expires_at": _dates,
            "source": st.one_of(texts(20), st.just(f"https://example.invalid/?token={SECRET}")),
            "said_by": st.sampled_from(["user", "tool", "agent", "outside", "nobody"]),
        },
        needed=1,
    ),
    "observe": spoiled({"events": st.lists(_event, max_size=6)}, needed=1),
    "learn": spoiled(
        {
            "signal": st.sampled_from(["useful", "used", "wrong", "outdated", "great"]),
            "memory_ids": _ids,
            "recall_id": st.one_of(st.just("@recall"), texts(8)),
            "note": st.one_of(texts(), st.just(f"the token was {SECRET} then")),
            "scope": _scopes,
        },
        needed=2,
    ),
    "consolidate": spoiled({"scope": _scopes, "dry_run": _flags}),
    "forget": spoiled(
        {
            "memory_ids": _ids,
            "mode": st.sampled_from(["fade", "erase", "restore", "burn"]),
            "query": texts(),
            "scope": _scopes,
            "dry_run": _flags,
            "confirm": _flags,
        },
        needed=2,
    ),
}
tool_calls: st.SearchStrategy[Call] = st.one_of(
    st.tuples(st.just("save"), _tools["save"]),
    *(st.tuples(st.just(name), arguments) for name, arguments in _tools.items()),
)
_calls = st.one_of(
    tool_calls,
    tool_calls,
    tool_calls,
    st.tuples(st.just(_DAYS), st.fixed_dictionaries({"days": st.sampled_from([0.01, 1.0, 3.0, 40.0])})),
    st.tuples(texts(8), st.dictionaries(texts(5), values, max_size=2)),
)


def repaired(text: str) -> str:
    """A text as the wire brings it: half a character has become a mark by then."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


class _Session:
    """A client in a portal's loop, and what was acknowledged to it."""

    def __init__(self, world: World, portal: BlockingPortal, client: Client, log: Logged) -> None:
        self.kept: set[str] = set()
        self._ids: list[str] = []
        self._recall = ""
        self._world = world
        self._portal = portal
        self._client = client
        self._log = log

    def judge(self, calls: list[Call]) -> None:
        """Every call is answered: with a result, or with an error that may be read."""
        for tool, arguments in calls:
            if tool == _DAYS:
                self._world.pass_days(arguments["days"])
                continue
            self._world.now += 1_000_000
            given = self._filled(arguments)
            try:
                result = self._portal.call(self._client.call_tool, repaired(tool), given)
            except MCPError as error:
                judge_error(error.error.message)
            else:
                self._judge(tool, given, result)
            self._log.judge()

    def _judge(self, tool: str, given: dict[str, Any], result: CallToolResult) -> None:
        assert SECRET not in result.model_dump_json(), f"{tool} showed the secret"
        if result.is_error:
            [content] = result.content
            assert isinstance(content, TextContent)
            told_back = content.text.count(MARK) if MARK in str(given) and "content" not in given else 0
            assert told_back or MARK not in content.text, content.text
            assert ": " in content.text, f"no reason given: {content.text}"
            return
        reply: Any = result.structured_content
        assert reply is not None
        assert isinstance(reply["text"], str)
        self._learn(tool, given, reply)

    def _learn(self, tool: str, given: dict[str, Any], reply: dict[str, Any]) -> None:
        if tool == "save":
            self._ids.append(reply["id"])
            if not given.get("expires_at"):
                self.kept.add(reply["id"])
        elif tool == "recall":
            self._recall = reply["recall_id"]
            self._ids += [memory["id"] for memory in reply["memories"][:3]]
        elif tool == "forget" and reply["mode"] == "erase" and not reply["dry_run"]:
            self.kept -= set(reply["ids"])

    def _filled(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Arguments with the ids that the session has come to know."""
        return {repaired(name): self._known(value) for name, value in arguments.items()}

    def _known(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._known(item) for item in value]  # pyright: ignore[reportUnknownVariableType]
        if isinstance(value, dict):
            return self._filled(value)  # pyright: ignore[reportUnknownArgumentType]
        if value == "@recall":
            return self._recall
        if isinstance(value, str) and value.startswith("@") and value[1:].isdecimal() and self._ids:
            return self._ids[-1 - int(value[1:]) % len(self._ids)]
        return repaired(value) if isinstance(value, str) else value


@contextmanager
def _opened(folder: Path) -> Generator[Check]:
    with world_in(folder) as world, start_blocking_portal() as portal, logged() as log:
        client = Client(build_app(world.engine.for_client))
        with portal.wrap_async_context_manager(client):
            session = _Session(world, portal, client, log)
            yield session.judge
        judge_store(world.services.store, session.kept)


ARGUMENTS = Target(
    "arguments",
    "a few calls of the six tools, right, nearly right and wrong, to the app through a client in memory",
    st.lists(_calls, min_size=1, max_size=5),
    _opened,
    examples=150,
    suite=12,
)
