"""Everything that the server offers, over real stdio, in both eras of the protocol."""

import json
import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.types import ElicitRequestParams, ElicitResult, TextContent, TextResourceContents

Era = Literal["legacy", "2026-07-28"]
HANDSHAKE = "2025-11-25"


@asynccontextmanager
async def connected(era: Era, folder: Path, **options: Any) -> AsyncGenerator[Client]:
    env = {**os.environ, "EBBING_BACKGROUND": "0", "EBBING_MODEL_DIR": str(folder / "none"), "EBBING_SCOPE": "/p"}
    parameters = StdioServerParameters(command=sys.executable, args=["-m", "ebbing", "serve"], env=env)
    async with Client(parameters, mode=era, **options) as client:
        yield client


async def call(client: Client, tool: str, **arguments: Any) -> Any:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    assert [part.text for part in result.content if isinstance(part, TextContent)] == [
        result.structured_content["text"]
    ]
    return result.structured_content


async def read(client: Client, address: str) -> str:
    [content] = (await client.read_resource(address)).contents
    assert isinstance(content, TextResourceContents)
    return content.text


@pytest.mark.anyio
@pytest.mark.parametrize("era", ["legacy", "2026-07-28"])
async def test_all_tools_resources_and_prompts_answer(era: Era, tmp_path: Path) -> None:
    asked: list[str] = []

    async def answer(_context: Any, parameters: ElicitRequestParams) -> ElicitResult:
        asked.append(parameters.message)
        return ElicitResult(action="accept", content={"erase": True})

    async with connected(era, tmp_path, elicitation_callback=answer) as client:
        assert client.protocol_version == (HANDSHAKE if era == "legacy" else era)
        saved = await tools_answer(client)
        await resources_answer(client, saved)
        await prompts_answer(client)
        await wrong_calls_are_answered(client)
        assert (await call(client, "forget", memory_ids=[saved], mode="erase"))["text"]
        assert len(asked) == 1, "a client that can ask its user is asked before erasing"
        assert (await call(client, "recall", query="harbour fees"))["memories"] == []


async def tools_answer(client: Client) -> str:
    """Uses all tools but forget; returns the id of a memory."""
    steps: list[float] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        steps.append(progress)

    names = [tool.name for tool in (await client.list_tools()).tools]
    assert names == ["recall", "save", "observe", "learn", "consolidate", "forget"]
    saved = await call(client, "save", content="Harbour fees are due in March.", kind="decision", said_by="user")
    found = await call(client, "recall", query="when are harbour fees due?")
    assert [memory["id"] for memory in found["memories"]] == [saved["id"]]
    learned = await call(client, "learn", signal="used", memory_ids=[saved["id"]], recall_id=found["recall_id"])
    assert saved["id"] in json.dumps(learned)
    assert (await call(client, "observe", events=[{"text": "ran the tests", "event": "post-tool-use"}]))["text"]
    assert not (await client.call_tool("consolidate", {}, progress_callback=note)).is_error
    assert steps == sorted(steps)
    assert steps != []
    return saved["id"]


async def resources_answer(client: Client, saved: str) -> None:
    templates = {item.uri_template for item in (await client.list_resource_templates()).resource_templates}
    assert templates == {"ebbing://memory/{id}", "ebbing://soft-prompt/{scope}", "ebbing://status/{scope}"}
    assert "Harbour fees" in await read(client, f"ebbing://memory/{saved}")
    assert "Harbour fees" in await read(client, f"ebbing://soft-prompt/{quote('/p', safe='')}")
    assert json.loads(await read(client, f"ebbing://status/{quote('/p', safe='')}"))
    with pytest.raises(MCPError):
        await client.read_resource("ebbing://memory/nothing")


async def prompts_answer(client: Client) -> None:
    assert {prompt.name for prompt in (await client.list_prompts()).prompts} == {"remember", "brief"}
    for name, arguments in (("remember", {"what": "the fees"}), ("brief", {"topic": "the fees"})):
        [message] = (await client.get_prompt(name, arguments)).messages
        assert isinstance(message.content, TextContent)
        assert "the fees" in message.content.text


async def wrong_calls_are_answered(client: Client) -> None:
    assert (await client.call_tool("save", {"content": ""})).is_error
    assert (await client.call_tool("nothing", {})).is_error
