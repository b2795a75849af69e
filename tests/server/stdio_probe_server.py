"""A real server process for the stdio tests: tools that misbehave in the ways the wire must survive.

PROBE_REPORT is a descriptor to which closing and held tools write; PROBE_GATE one that held tools wait on.
"""

from ebbing.server.wire import claim_wire

claim_wire()
print("printed before serving")  # noqa: T201

import functools  # noqa: E402
import os  # noqa: E402
import signal  # noqa: E402
import subprocess  # noqa: E402
import sys  # noqa: E402
import threading  # noqa: E402

from ebbing.server.startup import without_collecting  # noqa: E402

with without_collecting():
    from mcp.server import MCPServer
    from mcp.server.mcpserver import Context
    from pydantic import BaseModel

    from ebbing.server.stdio import serve

REPORT = int(os.environ["PROBE_REPORT"])
GATE = int(os.environ["PROBE_GATE"])


class Answer(BaseModel):
    text: str


def echo(text: str) -> str:
    return text


def big(size: int, filler: str = "x") -> str:
    return filler * size


def lone_surrogate() -> str:
    return "\ud800"


def make_noise() -> str:
    print("from print")  # noqa: T201
    os.write(1, b"from os.write\n")
    subprocess.run(["sh", "-c", "echo from a child; cat"], check=True)
    sys.stdout.write("never flushed")
    return "quiet"


def hold() -> str:
    os.write(REPORT, b"held\n")
    os.read(GATE, 1)
    return "released"


async def hold_the_loop() -> str:
    os.write(REPORT, b"held\n")
    os.read(GATE, 1)
    return "released"


async def ask(ctx: Context) -> str:
    answer = await ctx.elicit("?", Answer)
    return answer.action


def close() -> None:
    os.write(REPORT, b"closed\n")
    if os.environ.get("PROBE_CLOSE") == "fails":
        raise OSError("the disk is gone")
    if os.environ.get("PROBE_CLOSE") == "hangs":
        threading.Event().wait()


class LastWord:
    """Signals its own process when Python takes modules apart: the latest moment at which code of ours can run."""

    def __init__(self) -> None:
        # Whatever is looked up in a module may be gone by then.
        self._say = [functools.partial(os.kill, os.getpid(), number) for number in (signal.SIGTERM, signal.SIGINT)]

    def __del__(self) -> None:
        for say in self._say:
            say()


last_word = LastWord() if os.environ.get("PROBE_LAST_WORD") else None


def main() -> int:
    mcp = MCPServer("probe")
    for tool in (echo, big, lone_surrogate, make_noise, hold, hold_the_loop, ask):
        mcp.add_tool(tool)
    return serve(mcp, close=close, drain_seconds=float(os.environ.get("PROBE_DRAIN", "5")))


if __name__ == "__main__":
    sys.exit(main())
