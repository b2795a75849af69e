"""Edits of JSON with comments: whatever the document looks like, what goes in comes out again and the rest stays."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbing.schemas.errors import InvalidInputError
from ebbing.server.clients.jsonc import parse
from ebbing.server.clients.jsonc_edit import find, put, strip, take
from ebbing.server.clients.placement import Placement, Undo

few = settings(max_examples=40)
SERVER = Placement(("servers", "ebbing"), {"command": "/opt/ebbing", "args": ["a"]})
HOOK = Placement(("hooks", "stop"), {"hooks": [{"command": "/opt/ebbing-hook", "args": ["stop"]}]}, listed=True)
FLAT_HOOK = Placement(("hooks", "start"), {"command": "/opt/ebbing-hook start"}, listed=True)
VERSION = Placement(("version",), 1, needed=True)
PLACEMENTS = [SERVER, VERSION, HOOK, FLAT_HOOK]

spaces = st.sampled_from(["", " ", "\n", "\n  ", "\t", "\r\n  ", " /* c, { */ ", '\n  // c "x" ]\n  ', "//\n", "\n\n"])
names = st.sampled_from(["a", "b", "x y", "é\\n", "servers", "hooks", "stop", "other", "version"])
scalars = st.sampled_from(["1", "-2.5e3", "true", "null", '"text, { // \\" "', '"ebbing-hook2"', '""'])


def containers(children: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(objects(children), lists(children))


@st.composite
def objects(draw: st.DrawFn, children: st.SearchStrategy[str]) -> str:
    keys = draw(st.lists(names, max_size=4, unique=True))
    parts = [f'{draw(spaces)}"{key}"{draw(spaces)}:{draw(spaces)}{draw(children)}{draw(spaces)}' for key in keys]
    return "{" + ",".join(parts) + ("," if parts and draw(st.booleans()) else "") + draw(spaces) + "}"


@st.composite
def lists(draw: st.DrawFn, children: st.SearchStrategy[str]) -> str:
    parts = [f"{draw(spaces)}{value}{draw(spaces)}" for value in draw(st.lists(children, max_size=3))]
    return "[" + ",".join(parts) + ("," if parts and draw(st.booleans()) else "") + draw(spaces) + "]"


values = st.recursive(scalars, containers, max_leaves=8)
inner = st.one_of(objects(values), lists(values))
roots = st.builds(lambda *parts: "".join(parts), st.sampled_from(["", "\ufeff"]), spaces, objects(inner), spaces)
documents = st.one_of(roots, spaces)


def value_of(text: str) -> Any:
    node = parse(text)
    return None if node is None else node.value


def put_all(text: str, placements: list[Placement]) -> tuple[str, list[Undo]]:
    """Placements that the document has room for, and how to take them back."""
    undos: list[Undo] = []
    for placement in placements:
        try:
            text, done = put(text, placement)
        except InvalidInputError:
            continue
        undos += done
    return text, undos


@few
@given(documents, st.permutations(PLACEMENTS))
def test_putting_in_and_taking_out_gives_the_same_bytes(text: str, placements: list[Placement]) -> None:
    changed, undos = put_all(text, placements)
    for undo in reversed(undos):
        changed = take(changed, undo)
    assert changed == text


@few
@given(documents, st.permutations(PLACEMENTS))
def test_putting_in_twice_changes_nothing(text: str, placements: list[Placement]) -> None:
    once, _ = put_all(text, placements)
    assert put_all(once, placements) == (once, [])


@few
@given(documents)
def test_nothing_but_the_new_entry_is_different(text: str) -> None:
    try:
        changed, _ = put(text, SERVER)
    except InvalidInputError:
        return
    before: dict[str, Any] = value_of(text) or {}
    assert value_of(changed) == {**before, "servers": {**before.get("servers", {}), "ebbing": SERVER.value}}
    assert find(changed, SERVER) == SERVER.value


@few
@given(documents, st.sampled_from([("servers", "other2"), ("late",), ("hooks", "later")]), st.booleans())
def test_what_others_put_in_since_stays(text: str, path: tuple[str, ...], first: bool) -> None:
    """Their entry next to ours, before or after it in time, is what is left."""
    theirs = Placement(path, {"command": "theirs"})
    try:
        expected, _ = put(text, theirs)
        changed, undos = put_all(expected if first else text, PLACEMENTS)
        changed = changed if first else put(changed, theirs)[0]
    except InvalidInputError:
        return
    for undo in reversed(undos):
        changed = take(changed, undo)
    assert value_of(changed) == value_of(expected)


@few
@given(documents)
def test_a_document_is_understood_as_the_standard_module_understands_it(text: str) -> None:
    try:
        expected = json.loads(text)
    except ValueError:
        return
    assert value_of(text) == expected


@few
@given(st.text(alphabet='{}[],:"/*\\ \n1atrue', max_size=30))
def test_any_text_is_read_or_refused_and_never_changed_beyond_repair(text: str) -> None:
    try:
        changed, undos = put(text, SERVER)
    except InvalidInputError:
        return
    for undo in reversed(undos):
        changed = take(changed, undo)
    assert changed == text


def test_a_number_that_is_too_long_to_read_is_refused_with_its_place() -> None:
    with pytest.raises(InvalidInputError, match="line 2, column 6"):
        put('{// a comment\n"a": ' + "1" * 5_000 + "}", SERVER)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"servers": {"ebbing": {"command": "x"}, "a": 1}}', '{"servers": { "a": 1}}'),
        (
            '{"servers": {"a": 1, /* ours: */ "ebbing": 2 /* was it */}}',
            '{"servers": {"a": 1 /* ours: */ /* was it */}}',
        ),
        ('{"servers": {"a": 1, "ebbing": 2, "b": 3,}}', '{"servers": {"a": 1, "b": 3,}}'),
        ('{"servers": {"ebbing": 2}}', '{"servers": {}}'),
        ('{"other": 1}', '{"other": 1}'),
    ],
)
def test_an_entry_without_a_record_is_taken_out_alone(text: str, expected: str) -> None:
    assert strip(text, SERVER) == expected


def test_two_entries_of_ours_in_one_list_both_go() -> None:
    text = '{"hooks": {"stop": [{"command": "ebbing-hook stop"}, {"command": "x"}, {"command": "ebbing-hook stop"}]}}'
    assert strip(text, HOOK) == '{"hooks": {"stop": [ {"command": "x"}]}}'
