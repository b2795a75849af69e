"""The server as a process, and when it loads what."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from ebbing.schemas.errors import StoreError
from ebbing.server.serving import Serving
from ebbing.server.settings import Settings

SERVER = (sys.executable, "-m", "ebbing")
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


def settings(home: Path) -> Settings:
    return Settings(home=home, scope="/projects/ebb", model_dir=home / "no-model", background=False)


def test_nothing_is_opened_before_a_request(tmp_path: Path) -> None:
    Serving(settings(tmp_path / "home")).close()
    assert not (tmp_path / "home").exists()


def test_a_call_opens_the_store_and_names_the_client(tmp_path: Path) -> None:
    serving = Serving(settings(tmp_path / "home"))
    try:
        assert serving.services("a client").client == "a client"
        assert serving.services(None).store is serving.services("another").store
    finally:
        serving.close()


def test_after_it_closed_nothing_is_opened_again(tmp_path: Path) -> None:
    serving = Serving(settings(tmp_path / "home"))
    serving.close()
    serving.after_request()
    with pytest.raises(StoreError):
        serving.services(None)
    assert not (tmp_path / "home").exists()


def test_closing_twice_is_fine(tmp_path: Path) -> None:
    serving = Serving(settings(tmp_path / "home"))
    serving.services(None)
    serving.after_request()
    serving.close()
    serving.close()


def test_unusable_settings_end_the_server_with_code_2_before_it_reads_anything() -> None:
    env = {**os.environ, "EBBING_LOG_LEVEL": "LOUD"}
    done = subprocess.run(SERVER, input=b"", env=env, capture_output=True, check=False, timeout=60)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode().splitlines() == [
        "ebbing: EBBING_LOG_LEVEL must be one of DEBUG, INFO, WARNING, ERROR, not 'LOUD'"
    ]


def test_the_handshake_is_answered_without_numpy_the_database_or_the_model() -> None:
    code = (
        "import atexit, json, sys\n"
        "atexit.register(lambda: sys.stderr.write(json.dumps(sorted(sys.modules))))\n"
        "from ebbing.server.cli import main\n"
        "sys.exit(main([]))"
    )
    # Without a first request nothing is loaded in the background, so what is there is what the handshake needs.
    done = subprocess.run([sys.executable, "-c", code], input=b"", capture_output=True, check=False, timeout=60)
    loaded = set(json.loads(done.stderr))
    assert done.returncode == 0
    assert "mcp.server" in loaded
    assert {"numpy", "apsw", "onnxruntime", "tokenizers", "networkx", "apscheduler", "ebbing.server.engine"}.isdisjoint(
        loaded
    )


def test_global_options_without_a_command_serve_too(tmp_path: Path) -> None:
    command = [*SERVER, "--home", str(tmp_path / "home"), "--scope", "global"]
    line = json.dumps(INITIALIZE).encode() + b"\n"
    done = subprocess.run(command, input=line, capture_output=True, check=False, timeout=60)
    assert (done.returncode, json.loads(done.stdout)["result"]["serverInfo"]["name"]) == (0, "ebbing")


def test_a_person_at_a_terminal_gets_a_hint() -> None:
    terminal, other_end = pty.openpty()
    process = subprocess.Popen(SERVER, stdin=other_end, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    os.close(other_end)
    assert process.stderr is not None
    assert b"waiting for an MCP client" in process.stderr.readline()
    os.close(terminal)
    out, _ = process.communicate(timeout=60)
    assert out == b""


@pytest.mark.anyio
async def test_a_client_saves_and_recalls_over_stdio(tmp_path: Path) -> None:
    env = {**os.environ, "EBBING_HOME": str(tmp_path / "home")}
    parameters = StdioServerParameters(command=SERVER[0], args=list(SERVER[1:]), env=env)

    async def call(client: Client, tool: str, **arguments: Any) -> Any:
        result = await client.call_tool(tool, arguments)
        assert not result.is_error, result.content
        return result.structured_content

    async with Client(parameters) as client:
        assert len((await client.list_tools()).tools) == 6
        saved = await call(client, "save", content="Releases are cut on Thursdays.", kind="fact")
        found = await call(client, "recall", query="when are releases cut?")
    assert [memory["id"] for memory in found["memories"]] == [saved["id"]]
    async with Client(parameters) as client:
        again = await call(client, "recall", query="when are releases cut?")
    assert [memory["id"] for memory in again["memories"]] == [saved["id"]]
