"""Edits of TOML: whatever the document looks like, what goes in comes out again and the rest stays."""

import tomllib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbing.schemas.errors import InvalidInputError
from ebbing.server.clients.placement import Placement, Undo, as_list
from ebbing.server.clients.toml_edit import find, put, strip, take
from ebbing.server.clients.toml_lines import statements

few = settings(max_examples=40)
SERVER = Placement(("mcp_servers", "ebbing"), {"command": '/opt/"ebbing"\\é', "args": ["a"]})

trivia = st.sampled_from(["", "\n", "# [mcp_servers.ebbing]\n", "\n\n", '  # tail """\n', "\t\n"])
values = st.sampled_from(
    [
        "1",
        '"a # b"',
        "'[x]'",
        '"""\n[mcp_servers.ebbing]\ncommand = "no" """',
        "'''\nit's\n'''",
        "[\n  1, # one ]\n  2,\n]",
        '{ a = "}", b = [1] }',
        "1979-05-27T07:32:00Z",
        '"\\"#"',
        '""""quoted"""""',
    ]
)
ends = st.sampled_from(["\n", " # why\n", "\n\n"])
tables = st.sampled_from(
    [
        "[a]\n",
        "[mcp_servers.other]\n",
        '[projects."/a.b/[c]"] # x\n',
        "[ mcp_servers . 'ebbing2' ]\n",
        "[[lists]]\n",
        "[z.y]\n",
    ]
)


@st.composite
def documents(draw: st.DrawFn) -> str:
    text = draw(st.sampled_from(["", "\ufeff"])) + draw(trivia)
    heads = ["", *draw(st.lists(tables, max_size=4, unique=True))]
    for head in heads:
        text += head
        for key in draw(st.lists(st.sampled_from(["k", '"q.[k]"', "x.y", "'l'"]), max_size=3, unique=True)):
            text += f"{draw(trivia)}{key} = {draw(values)}{draw(ends)}"
    text += draw(trivia)
    text = text.removesuffix("\n") if draw(st.booleans()) else text
    return text.replace("\n", "\r\n") if draw(st.booleans()) else text


def loads(text: str) -> dict[str, Any]:
    return tomllib.loads(text.removeprefix("\ufeff"))


@few
@given(documents())
def test_putting_in_and_taking_out_gives_the_same_bytes(text: str) -> None:
    changed, undos = put(text, SERVER)
    assert put(changed, SERVER) == (changed, [])
    for undo in reversed(undos):
        changed = take(changed, undo)
    assert changed == text


@few
@given(documents())
def test_nothing_but_the_new_table_is_different(text: str) -> None:
    before, after = loads(text), loads(put(text, SERVER)[0])
    servers = {**before.get("mcp_servers", {}), "ebbing": SERVER.value}
    assert after == {**before, "mcp_servers": servers}


@few
@given(
    documents(), st.sampled_from(["[late]\nx = 1\n", "# note\n", "\n\n[mcp_servers.ebbing.env]\nA = '1'\n", "y = 2"])
)
def test_what_others_add_behind_ours_stays(text: str, more: str) -> None:
    changed, undos = put(text, SERVER)
    changed += more
    for undo in reversed(undos):
        changed = take(changed, undo)
    late = {"late": {"x": 1}} if "late" in more else {}
    assert loads(changed) == {**loads(text), **late}
    assert ("note" in changed) >= ("# note" in more)


@few
@given(documents())
def test_statements_cover_all_names_and_values(text: str) -> None:
    table: tuple[str, ...] = ()
    for statement in statements(text):
        if statement.is_header:
            table = statement.key
            continue
        value = text[statement.value_start : statement.value_end]
        parsed = tomllib.loads(f"v = {value}".replace("\r\n", "\n"))["v"]
        place: Any = loads(text)
        for key in (*table, *statement.key):
            place = (as_list(place) or [place])[-1][key]
        assert place == parsed


def test_values_in_our_table_change_in_place_and_come_back() -> None:
    text = (
        '[mcp_servers.ebbing]\ncommand = "old" # mine\nstartup_timeout_sec = 20\n\n[mcp_servers.ebbing.env]\nA = "1"\n'
    )
    changed, undos = put(text, SERVER)
    assert loads(changed)["mcp_servers"]["ebbing"] == {**SERVER.value, "startup_timeout_sec": 20, "env": {"A": "1"}}
    assert "# mine" in changed
    for undo in reversed(undos):
        changed = take(changed, undo)
    assert changed == text


@pytest.mark.parametrize(
    "text",
    [
        "mcp_servers = {}\n",
        'mcp_servers = { ebbing = { command = "x" } }\n',
        "[[mcp_servers]]\n",
        "mcp_servers = 1\n",
        '[mcp_servers]\nebbing = { command = "x" }\n',
        '[mcp_servers]\nebbing = "x"\n',
        "x =",
        f"x = {'1' * 5_000}",
        "[a]\n[a]\n",
    ],
)
def test_forms_that_cannot_be_added_to_are_refused(text: str) -> None:
    with pytest.raises(InvalidInputError):
        put(text, SERVER)


def test_an_inline_entry_that_is_right_needs_no_change() -> None:
    text = 'mcp_servers.ebbing = { command = \'/opt/"ebbing"\\é\', args = ["a"] }\n'
    assert put(text, SERVER) == (text, [])


def test_a_table_without_a_record_is_taken_out_with_its_sub_tables_and_no_comment_of_others() -> None:
    text = 'a = 1\n\n[mcp_servers.ebbing]\ncommand = "x"\n\n[mcp_servers.ebbing.env]\nA = "1"\n\n# next\n[b]\n'
    assert strip(text, SERVER) == "a = 1\n\n# next\n[b]\n"
    assert find(strip(text, SERVER), SERVER) is None


@pytest.mark.parametrize(
    "text", ['mcp_servers.ebbing.command = "x"\n', 'mcp_servers = { ebbing = { command = "x" } }\n']
)
def test_a_form_that_cannot_be_taken_out_is_refused_and_not_passed_over(text: str) -> None:
    with pytest.raises(InvalidInputError, match="can't be taken out"):
        strip(text, SERVER)


def test_taking_out_what_is_gone_changes_nothing() -> None:
    assert take("a = 1\n", Undo(("mcp_servers", "ebbing", "command"), was='"x"')) == "a = 1\n"
