"""The server over HTTP as a process, with real clients."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import httpx2
import pytest
from command_line import ebbing
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client

Era = Literal["legacy", "auto"]


@dataclass(frozen=True, slots=True)
class Server:
    """A server that listens: its address, its token, its process."""

    url: str
    token: str
    home: Path
    process: subprocess.Popen[str]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("http")
    home = folder / "home"
    command = [sys.executable, "-m", "ebbing", "serve", "--http", "--port", "0", "--json"]
    env = {**os.environ, "EBBING_HOME": str(home), "EBBING_BACKGROUND": "0", "EBBING_MODEL_DIR": str(folder / "none")}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env, cwd=folder) as process:
        assert process.stdout is not None
        said = json.loads(process.stdout.readline())
        yield Server(said["url"], Path(said["token_file"]).read_text("ascii").strip(), home, process)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0


@asynccontextmanager
async def connected(server: Server, era: Era, token: str | None = None) -> AsyncGenerator[Client]:
    headers = {"Authorization": f"Bearer {server.token if token is None else token}"}
    async with (
        httpx2.AsyncClient(headers=headers, trust_env=False, timeout=60) as http,
        Client(streamable_http_client(server.url, http_client=http), mode=era) as client,
    ):
        yield client


async def call(client: Client, tool: str, **arguments: Any) -> Any:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    return result.structured_content


@pytest.mark.anyio
@pytest.mark.parametrize("era", ["legacy", "auto"])
async def test_a_client_with_the_token_saves_and_recalls(server: Server, era: Era) -> None:
    async with connected(server, era) as client:
        assert len((await client.list_tools()).tools) == 6
        saved = await call(client, "save", content=f"The {era} port of the harbour is 7374.", kind="fact")
        found = await call(client, "recall", query=f"{era} port of the harbour")
    assert saved["id"] in [memory["id"] for memory in found["memories"]]


@pytest.mark.anyio
async def test_two_clients_at_once_see_one_memory(server: Server) -> None:
    async with connected(server, "auto") as one, connected(server, "legacy") as other:
        saved = await call(one, "save", content="Lighthouse keepers log at dusk.")
        found = await call(other, "recall", query="when do lighthouse keepers log?")
    assert saved["id"] in [memory["id"] for memory in found["memories"]]


@pytest.mark.anyio
async def test_what_is_saved_over_http_is_on_the_command_line_too(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EBBING_MODEL_DIR", str(server.home / "none"))
    async with connected(server, "auto") as client:
        saved = await call(client, "save", content="Buoys are painted in May.", scope="global")
    found = ebbing("recall", "buoys painted", "--home", str(server.home), "--scope", "global", "--json")
    assert saved["id"] in [memory["id"] for memory in found.json["memories"]]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({"Authorization": "Bearer wrong"}, 401),
        ({"Origin": "https://ebbing.example"}, 403),
        ({"Host": "ebbing.example"}, 421),
    ],
)
def test_requests_that_may_not_pass_are_refused(server: Server, headers: dict[str, str], status: int) -> None:
    full = (
        headers if "Authorization" in headers or not headers else {**headers, "Authorization": f"Bearer {server.token}"}
    )
    message = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    with httpx2.Client(trust_env=False, timeout=60) as http:
        answer = http.post(server.url, json=message, headers=full)
    assert answer.status_code == status
    assert "server" not in answer.headers


@pytest.mark.anyio
async def test_a_client_with_a_wrong_token_gets_no_session(server: Server) -> None:
    with pytest.raises(ExceptionGroup) as refused:
        async with connected(server, "auto", token="wrong"):
            pass
    assert refused.group_contains(MCPError)


def test_another_host_than_this_machine_is_refused_with_code_2() -> None:
    done = ebbing("serve", "--http", "--host", "0.0.0.0")  # noqa: S104
    assert (done.code, len(done.err.splitlines())) == (2, 1)


def test_a_taken_port_ends_with_code_1(server: Server) -> None:
    port = server.url.rpartition(":")[2].partition("/")[0]
    done = ebbing("serve", "--http", "--port", port)
    assert (done.code, "can't be listened on" in done.err) == (1, True)
