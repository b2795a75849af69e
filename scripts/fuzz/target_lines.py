"""Lines of the protocol: bytes cut into chunks anywhere, to the splitter and the parser."""

from __future__ import annotations

import json
from collections.abc import Generator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

from fuzz_values import as_json, damaged, deep_values, spoiled, texts
from fuzzing import Check, Target
from hypothesis import strategies as st
from mcp_types import JSONRPCMessage

from ebbing.server.stdio_lines import LineSplitter, OverlongLine, Rejected, encode_message, parse_line

_LIMIT = 1 << 14
_MOST_ERROR_BYTES = 400


def messages() -> st.SearchStrategy[bytes]:
    """One message, or nearly one."""
    parts = spoiled(
        {
            "jsonrpc": st.just("2.0"),
            "method": st.one_of(st.sampled_from(["ping", "tools/list", "notifications/cancelled"]), texts(10)),
            "id": st.one_of(st.integers(), texts(6)),
            "params": st.dictionaries(texts(6), deep_values, max_size=3),
            "result": st.dictionaries(texts(6), deep_values, max_size=2),
            "error": st.fixed_dictionaries({"code": st.integers(), "message": texts(10)}),
        },
        needed=2,
    )
    whole = st.one_of(parts, parts, st.lists(parts, max_size=3), deep_values)
    return whole.map(lambda value: as_json(value).encode("utf-8", "replace"))


streams = st.lists(st.one_of(damaged(messages()), messages(), st.binary(max_size=40)), max_size=6).map(b"\n".join)
_cuts = st.lists(st.integers(0, 3_000), max_size=6)


def _judge(given: tuple[bytes, list[int]]) -> None:
    stream, cuts = given
    splitter = LineSplitter(_LIMIT)
    places = [0, *sorted(cut for cut in cuts if cut < len(stream)), len(stream)]
    lines = [line for start, end in pairwise(places) for line in splitter.feed(stream[start:end])]
    lines += splitter.finish()
    whole = stream.removesuffix(b"\n") if stream.endswith(b"\n") else stream
    assert len(lines) == whole.count(b"\n") + bool(stream)
    for line in lines:
        _judge_line(line)


def _judge_line(line: bytes | OverlongLine) -> None:
    outcome = parse_line(line)
    if outcome is None:
        return
    sent = encode_message(outcome.reply if isinstance(outcome, Rejected) else outcome)
    assert sent.endswith(b"\n")
    assert sent.count(b"\n") == 1
    read: Any = json.loads(sent)
    if isinstance(outcome, Rejected):
        assert read["error"]["code"] in {-32700, -32600}
        assert len(sent) < _MOST_ERROR_BYTES + len(json.dumps(read["id"])), "a refusal that repeats what it refuses"
    else:
        assert isinstance(outcome, JSONRPCMessage)
        assert parse_line(sent) == outcome


@contextmanager
def _opened(_folder: Path) -> Generator[Check]:
    yield _judge


LINES = Target(
    "lines",
    "bytes, cut anywhere, to the splitter and parser of the protocol's lines",
    st.tuples(streams, _cuts),
    _opened,
    examples=1_000,
    suite=100,
)
