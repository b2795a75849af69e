"""The MCP app through the real client, in memory: tools, resources, prompts, errors, confirmation."""

from collections.abc import AsyncGenerator
from typing import Any
from urllib.parse import quote

import pytest
from mcp import Client, MCPError
from mcp.client.context import ClientRequestContext
from mcp.types import ElicitRequestParams, ElicitResult, TextContent
from world import PROJECT, World

from ebbing.encoding.model import locate
from ebbing.encoding.pieces import PieceCounter
from ebbing.server.app import build_app
from ebbing.tools import contract

pytestmark = pytest.mark.anyio


@pytest.fixture
async def client(world: World) -> AsyncGenerator[Client]:
    async with Client(build_app(world.engine.for_client)) as made:
        yield made


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    return result.structured_content


async def error_of(client: Client, tool: str, **arguments: Any) -> str:
    result = await client.call_tool(tool, arguments)
    assert result.is_error
    [content] = result.content
    assert isinstance(content, TextContent)
    return content.text


async def test_the_six_tools_are_listed_in_one_order_and_marked(client: Client) -> None:
    listed = (await client.list_tools()).tools
    assert [tool.name for tool in listed] == ["recall", "save", "observe", "learn", "consolidate", "forget"]
    assert all(tool.meta == {"anthropic/alwaysLoad": True} for tool in listed)
    hints = {tool.name: tool.annotations for tool in listed}
    assert hints["recall"] is not None
    assert hints["recall"].read_only_hint
    assert hints["forget"] is not None
    assert hints["forget"].destructive_hint
    assert hints["save"] is not None
    assert hints["save"].destructive_hint is False
    assert all(tool.output_schema for tool in listed)


async def test_the_texts_that_clients_see_fit_their_limits(client: Client) -> None:
    listed = (await client.list_tools()).tools
    assert len(contract.INSTRUCTIONS.encode()) < 2_000
    assert all(len((tool.description or "").encode()) < 2_000 for tool in listed)
    counter = PieceCounter(locate().path("tokenizer"))
    tokens = sum(counter.count_pieces(tool.model_dump_json(by_alias=True, exclude_none=True)) for tool in listed)
    assert tokens <= 2_500


async def test_saving_and_recalling_through_the_protocol(client: Client) -> None:
    saved = await call(client, "save", content="The staging database listens on port 5433.")
    found = await call(client, "recall", query="staging database port", explain=True)
    assert found["memories"][0]["id"] == saved["id"]
    assert found["explanation"]["class"]
    learned = await call(client, "learn", signal="used", recall_id=found["recall_id"])
    assert learned["changed"] == [saved["id"]]


async def test_the_client_is_part_of_the_provenance(world: World, client: Client) -> None:
    saved = await call(client, "save", content="Provenance is kept.")
    assert world.memory(saved["id"]).provenance.client


async def test_an_error_is_text_that_a_model_can_act_on(client: Client) -> None:
    assert "ISO 8601" in await error_of(client, "recall", query="x", since="someday")
    assert "nothing to remember" in await error_of(client, "save", content="  ")
    assert "limit must lie between 1 and 100" in await error_of(client, "recall", query="x", limit=0)
    assert "not a memory id" in await error_of(client, "learn", signal="used", memory_ids=["x"])


async def test_consolidating_reports_progress_by_step(client: Client) -> None:
    seen: list[tuple[float, float | None, str | None]] = []

    async def watch(progress: float, total: float | None, message: str | None) -> None:
        seen.append((progress, total, message))

    result = await client.call_tool("consolidate", {}, progress_callback=watch)
    assert result.structured_content["ran"]
    assert [message for _, _, message in seen][-1] == "done"
    assert "decay" in [message for _, _, message in seen]


async def test_erasing_without_a_client_that_can_ask_needs_confirm(client: Client) -> None:
    saved = await call(client, "save", content="Erase me, please, for good.")
    assert "confirm=true" in await error_of(client, "forget", memory_ids=[saved["id"]], mode="erase")
    done = await call(client, "forget", memory_ids=[saved["id"]], mode="erase", confirm=True)
    assert done["verified"] is True


@pytest.mark.parametrize(("mode", "yes"), [("legacy", True), ("legacy", False), ("auto", True), ("auto", False)])
async def test_a_client_that_can_ask_is_asked_before_erasing(world: World, mode: Any, *, yes: bool) -> None:
    memory = world.save("The user may want this gone for good.")
    asked: list[str] = []

    async def answer(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        asked.append(params.message)
        return ElicitResult(action="accept", content={"erase": yes})

    async with Client(build_app(world.engine.for_client), mode=mode, elicitation_callback=answer) as client:
        result = await client.call_tool("forget", {"memory_ids": [memory.id], "mode": "erase"})
    assert asked == ["Erase 1 memories for good? This can't be undone."]
    assert result.is_error is not yes
    assert world.services.store.memories.count() == (0 if yes else 1)


async def test_resources_show_a_memory_the_soft_prompt_and_the_status(world: World, client: Client) -> None:
    memory = world.save("Use SQLite instead of Postgres for the local cache.", "decision")
    world.run_daily()
    scope = quote(PROJECT, safe="")
    shown = await client.read_resource(f"ebbing://memory/{memory.id}")
    assert memory.content in shown.contents[0].text  # type: ignore[union-attr]
    prompt = await client.read_resource(f"ebbing://soft-prompt/{scope}")
    assert memory.id in prompt.contents[0].text  # type: ignore[union-attr]
    status = await client.read_resource(f"ebbing://status/{scope}")
    assert '"decision": 1' in status.contents[0].text  # type: ignore[union-attr]


async def test_an_unknown_memory_is_a_missing_resource(client: Client) -> None:
    with pytest.raises(MCPError):
        await client.read_resource("ebbing://memory/00000000-0000-7000-8000-000000000000")


async def test_prompts_remember_and_brief_name_the_tools(client: Client) -> None:
    assert {prompt.name for prompt in (await client.list_prompts()).prompts} == {"remember", "brief"}
    remember = await client.get_prompt("remember", {"what": "tabs in makefiles"})
    assert "save" in remember.messages[0].content.text  # type: ignore[union-attr]
    brief = await client.get_prompt("brief", {})
    assert "recall" in brief.messages[0].content.text  # type: ignore[union-attr]


async def test_memory_text_never_reaches_descriptions_or_instructions(world: World, client: Client) -> None:
    world.save("XYZZY-MARKER says the instructions.", "preference", said_by="user")
    world.run_daily()
    listed = (await client.list_tools()).model_dump_json()
    assert "XYZZY-MARKER" not in listed
    assert "XYZZY-MARKER" not in contract.INSTRUCTIONS
