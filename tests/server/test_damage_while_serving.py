"""Damage that is met in the middle of serving: an answer that can be acted on, and service again once that is done."""

import signal
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.types import TextContent
from plain_store import open_store
from store_processes import start_process
from world import World

from ebbing.lifecycle.mending import mend
from ebbing.server.app import build_app

pytestmark = pytest.mark.anyio


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with World(tmp_path / "home") as made:
        for number in range(12):
            made.save(f"The port of server {number} is {8000 + number}.")
        yield made


@pytest.fixture
async def client(world: World) -> AsyncGenerator[Client]:
    async with Client(build_app(world.engine.for_client)) as made:
        yield made


async def answer(client: Client, tool: str, **arguments: Any) -> tuple[bool, str]:
    """Whether a call succeeded, and what it said."""
    result = await client.call_tool(tool, arguments)
    [content] = result.content
    assert isinstance(content, TextContent)
    return not result.is_error, content.text


def damage(world: World, statement: str) -> None:
    with world.services.store.atomic():
        world.services.store.database.execute(statement)


@pytest.mark.parametrize(
    ("statement", "parts"),
    [
        ("DELETE FROM lexical_data", {"words"}),
        ("DELETE FROM coarse_1_vector_chunks00", {"embeddings"}),
        ("UPDATE memory SET kind = 'fbct', entities = '['", {"columns"}),
        ("UPDATE strength SET state = 77", {"figures"}),
    ],
)
async def test_a_call_that_meets_damage_says_what_to_do_and_calls_work_again_once_it_is_done(
    client: Client, world: World, statement: str, parts: set[str]
) -> None:
    damage(world, statement)
    calls: list[tuple[str, dict[str, Any]]] = [
        ("recall", {"query": "port of server 7"}),
        ("save", {"content": "Lions sleep at noon."}),
    ]
    answers = [await answer(client, tool, **arguments) for tool, arguments in calls]
    assert not all(done for done, _ in answers)
    for done, text in answers:
        assert done or "`ebbing doctor --fix`" in text
        assert "SELECT" not in text
    # Somebody follows the advice in another process, whose connections these are not.
    with World(world.home) as other:
        mend(other.services.store, parts, other.now)
    for tool, arguments in calls:
        done, text = await answer(client, tool, **arguments)
        assert done, text
    assert "8007" in (await answer(client, "recall", query="port of server 7"))[1]


def test_a_process_killed_in_the_middle_of_a_migration_has_done_none_of_it_and_the_next_does_all(
    tmp_path: Path,
) -> None:
    with start_process("migrate", tmp_path, "2") as process:
        process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL
    with start_process("migrate", tmp_path, "0") as process:
        said, _ = process.communicate(timeout=60)
    assert said.split() == ["3", "2", "1969"]
    assert len(list((tmp_path / "backups").glob("memory-*-before-000*.db"))) >= 2


def test_a_spool_line_that_is_damaged_is_set_aside_and_the_others_are_taken(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with World(home) as world:
        world.services.store.spool.append([])
        folder = home / "spool"
        folder.mkdir(mode=0o700, exist_ok=True)
        torn = b'{"id": "0198c2f0-0000-7000-8000-000000000001", "at": "2026-03-'
        (folder / "events.jsonl").write_bytes(torn + b"\n\xff\xfe\x00 not a line\n")
        assert world.services.observer.ingest(world.now) == 0
        assert torn in (folder / "bad.jsonl").read_bytes()
    with open_store(home) as store:
        assert store.integrity() == []
