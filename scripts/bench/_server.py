"""Real ebbing servers for benchmarks: started as a client starts them, spoken to by the real MCP client."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters

EBBING: tuple[str, ...] = (sys.executable, "-m", "ebbing")


def server_environment(home: Path, **more: str) -> dict[str, str]:
    """What a server needs to know: its home, a scope that does not depend on where the benchmark runs."""
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    return {**kept, "EBBING_HOME": str(home), "EBBING_SCOPE": "/bench/project", **more}


@asynccontextmanager
async def connected(home: Path, **more: str) -> AsyncGenerator[Client]:
    """A client of a fresh server over stdio."""
    command, *arguments = EBBING
    parameters = StdioServerParameters(command=command, args=arguments, env=server_environment(home, **more))
    async with Client(parameters) as client:
        yield client


async def call(client: Client, tool: str, **arguments: Any) -> Mapping[str, Any]:
    """A tool's structured reply.

    Raises:
        RuntimeError: with the tool's error text.
    """
    result = await client.call_tool(tool, arguments)
    if result.is_error:
        raise RuntimeError(f"{tool}: {result.content}")
    return json.loads(json.dumps(result.structured_content))
