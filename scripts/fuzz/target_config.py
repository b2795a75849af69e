"""Clients' own files: what isn't ours never changes, and taking ours out gives the bytes that were there."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Final

from fuzz_store import judge_error
from fuzz_values import damaged
from fuzzing import Check, Target
from hypothesis import strategies as st

from ebbing.schemas.errors import InvalidInputError
from ebbing.server.clients.jsonc import parse
from ebbing.server.clients.placement import Placement, Undo, as_list, as_object
from ebbing.server.clients.plans import EDITORS, Editor
from ebbing.server.clients.table import Format

_GOLDEN: Final = Path(__file__).resolve().parents[2] / "tests" / "server" / "clients" / "golden"
_ENTRY: Final = {"command": '/opt/"ebbing"\\é', "args": ["a"]}
_PLACEMENTS: Final[dict[Format, list[Placement]]] = {
    "jsonc": [
        Placement(("mcpServers", "ebbing"), _ENTRY),
        Placement(("hooks", "Stop"), {"hooks": [{"command": "/opt/ebbing-hook", "args": ["stop"]}]}, listed=True),
        Placement(("hooks", "start"), {"command": "/opt/ebbing-hook start"}, listed=True),
        Placement(("version",), 1, needed=True),
    ],
    "toml": [Placement(("mcp_servers", "ebbing"), _ENTRY)],
}
_JSON_MARKS: Final = (*'{}[],:/*"\\ \n\t', "\r\n", "\ufeff", "1" * 5_000, "{" * 300, "[" * 300, "é")
_JSON_WORDS: Final = """//
/*
*/
"a"
"hooks"
"mcpServers"
"ebbing"
"Stop"
1
-0
1e5
true
null
"\\u12"
"\\ud800"
{"hooks":{"Stop":[
{"command":"ebbing-hook stop"}
}}
,}
,]"""
_TOML_MARKS: Final = (*"[]{}=.,#\"'\\ \n\r\0", "\r\n", "\ufeff", "1" * 5_000, "[" * 300, "'''", '"""', "\\u12")
_TOML_WORDS: Final = (
    "a|mcp_servers|ebbing|[mcp_servers]\n|[mcp_servers.ebbing]\n|[[a]]\n|a = 1\n|x.y = '''\n|1979-05-27T07:32:00Z|0x"
    "|inf|command = 'x'\n|[mcp_servers.ebbing.env]\n|mcp_servers.ebbing.command = 1\n"
)


@cache
def _samples(format_: Format) -> tuple[bytes, ...]:
    endings = {"jsonc": (".json", ".jsonc"), "toml": (".toml",)}[format_]
    files = sorted(path for path in _GOLDEN.rglob("*") if path.suffix in endings)
    return tuple(path.read_bytes() for path in files)


_json_soup = st.lists(st.sampled_from((*_JSON_MARKS, *_JSON_WORDS.split("\n"))), max_size=25).map("".join)
_toml_soup = st.lists(st.sampled_from((*_TOML_MARKS, *_TOML_WORDS.split("|"))), max_size=20).map("".join)
_soups: dict[Format, st.SearchStrategy[str]] = {"jsonc": _json_soup, "toml": _toml_soup}


def _documents(format_: Format) -> st.SearchStrategy[tuple[Format, bytes]]:
    samples = st.deferred(lambda: st.sampled_from(_samples(format_)))
    soup = _soups[format_].map(lambda text: text.encode("utf-8", "surrogatepass"))
    return st.tuples(st.just(format_), st.one_of(damaged(samples), soup, damaged(soup)))


def _judge(given: tuple[Format, bytes]) -> None:
    format_, content = given
    try:
        # As a plan reads it.
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return
    editor = EDITORS[format_]
    changed, undos = _put_all(editor, text, _PLACEMENTS[format_])
    assert _put_all(editor, changed, _PLACEMENTS[format_]) == (changed, []), "putting it in twice changes it twice"
    if undos:
        assert _others(format_, changed) == _others(format_, text), "something of somebody else's has changed"
    for undo in reversed(undos):
        changed = editor.take(changed, Undo.from_json(json.loads(json.dumps(undo.as_json()))))
    assert changed == text, "taking it out does not give what was there"
    _strip_all(editor, format_, text)


def _put_all(editor: Editor, text: str, placements: list[Placement]) -> tuple[str, list[Undo]]:
    undos: list[Undo] = []
    for placement in placements:
        try:
            text, done = editor.put(text, placement)
        except InvalidInputError as error:
            judge_error(error)
            continue
        undos += done
    return text, undos


def _strip_all(editor: Editor, format_: Format, text: str) -> None:
    for placement in _PLACEMENTS[format_]:
        try:
            stripped = editor.strip(text, placement)
            found = editor.find(stripped, placement)
        except InvalidInputError:
            continue
        assert found is None or placement.needed, "it is still there"


def _others(format_: Format, text: str) -> Any:
    """What a document says besides what is ours, with nothing left of containers that only held ours."""
    if format_ == "toml":
        document: Any = tomllib.loads(text.removeprefix("\ufeff"))
    else:
        node = parse(text)
        document = {} if node is None else node.value
    return _without(document, [placement.path for placement in _PLACEMENTS[format_]])


def _without(document: Any, paths: list[tuple[str, ...]]) -> Any:
    found = as_object(document)
    if found is None:
        return document
    kept: dict[str, Any] = {}
    for name, value in found.items():
        inner = [path[1:] for path in paths if path[0] == name]
        left: Any = value
        if () in inner:
            # An entry of ours, or a list that holds one beside others'.
            left = [entry for entry in as_list(value) or () if "ebbing" not in json.dumps(entry)]
        elif inner:
            left = _without(value, inner)
        if left or not inner:
            kept[name] = left
    return kept


@contextmanager
def _opened(_folder: Path) -> Generator[Check]:
    yield _judge


CONFIG = Target(
    "config",
    "JSON with comments and TOML, damaged or strung together, to the editors of clients' files",
    st.one_of(_documents("jsonc"), _documents("toml")),
    _opened,
    examples=1_000,
    suite=80,
)
