from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from world import World

from ebbing.hooks.own import MARKS, before_quote, ids_in, is_own_tool, is_quoted
from ebbing.hooks.places import soft_prompt_file
from ebbing.schemas.ids import new_id
from ebbing.tools.recall import RecallArguments, recall
from ebbing.tools.remind import remind


@pytest.mark.parametrize(
    "name",
    [
        "mcp__ebbing__recall",
        "mcp__plugin_ebbing_ebbing__save",
        "mcp_ebbing_recall",
        "ebbing-recall",
        "ebbing_save",
        "MCP:recall",
        "mcp: save",
    ],
)
def test_our_tools_are_known_by_every_clients_name_for_them(name: str) -> None:
    assert is_own_tool(name)


@pytest.mark.parametrize(
    "name", ["Bash", "mcp__webbing__recall", "MCP:search", "recall", "ebbing", "", "mcp__github__save"]
)
def test_other_tools_are_not_ours(name: str) -> None:
    assert not is_own_tool(name)


def test_everything_that_is_shown_to_agents_carries_a_mark(tmp_path: Path) -> None:
    with World(tmp_path / "home") as world:
        world.save("We use ruff for formatting.", "decision", said_by="user")
        world.run_daily()
        shown = recall(world.services, RecallArguments(query="formatting ruff")).text
        reminder = remind(world.services, "formatting with ruff", world.services.scope, ())
        prepared = Path(soft_prompt_file(str(world.home), world.services.scope)).read_text("utf-8")
    assert reminder is not None
    assert [is_quoted(text) for text in (shown, reminder.text, prepared)] == [True, True, True]


def test_a_quotation_is_cut_off_with_what_follows_it() -> None:
    assert before_quote(f"See:\n{MARKS[0]}\nmore") == "See:\n"
    assert before_quote("nothing quoted") == "nothing quoted"


@given(st.lists(st.integers(0, 2**47), max_size=8), st.text(max_size=30))
def test_ids_are_found_in_any_text_and_keep_their_order(instants: list[int], between: str) -> None:
    ids = [new_id(instant * 1000) for instant in instants]
    found = ids_in(between.join(f"[{each}]" for each in ids))
    assert found == list(dict.fromkeys(ids))


@given(st.text("0123456789abcdef-7 [", max_size=120))
def test_only_whole_ids_of_version_7_count(text: str) -> None:
    for each in ids_in(text):
        assert len(each) == 36
        assert each[14] == "7"
        assert each in text


def test_ids_in_upper_case_are_the_same() -> None:
    identifier = new_id(1_790_000_000_000_000)
    assert ids_in(f"{identifier.upper()} {identifier}") == [identifier]
