"""How fast and how large: ratios within one run, so that a noisy machine does not decide.

Figures: `initialize_ratio` over an empty server of the same SDK; `recall_p50_over_embedding` and
`save_p50_over_embedding` with --items memories in the store, over embedding the same texts in the same server's
process; `hook_over_python` session-start over `python -I -c pass`; `rss_over_empty_server` before the model loads;
`rss_mb` with the model and the store; `tools_list_tokens` by the model's own tokenizer.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import anyio
from _report import Report, argument_parser, publish
from _server import EBBING, call, connected, server_environment
from mcp import Client

from ebbing.encoding.embedder import Embedder
from ebbing.encoding.loader import load_embedder
from ebbing.encoding.writer import Draft, prepare
from ebbing.schemas.memory import Kind
from ebbing.server.engine import Engine
from ebbing.server.settings import Settings

EMPTY_SERVER = "from mcp.server import MCPServer\nMCPServer('empty').run()"
HANDSHAKE = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "bench", "version": "1"},
}
ROUNDS = 15
CALLS = 60


def handshake(command: Sequence[str], home: Path) -> tuple[float, float]:
    """Seconds from the spawn of a server to its answer to `initialize`, and its resident MiB then."""
    started = time.perf_counter()
    process = subprocess.Popen(
        command,
        env=server_environment(home),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    request = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HANDSHAKE}
    process.stdin.write(json.dumps(request).encode() + b"\n")
    process.stdin.flush()
    process.stdout.readline()
    seconds = time.perf_counter() - started
    resident = rss_mb(process.pid)
    process.stdin.close()
    process.wait()
    return seconds, resident


def rss_mb(pid: int) -> float:
    """Resident MiB of a process."""
    fields = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()
    return int(fields[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def wall(command: Sequence[str], home: Path, stdin: bytes = b"") -> float:
    """Seconds that a command takes as a whole process."""
    started = time.perf_counter()
    subprocess.run(command, env=server_environment(home), input=stdin, capture_output=True, check=False)
    return time.perf_counter() - started


def paired(first: Callable[[], float], second: Callable[[], float], rounds: int = ROUNDS) -> float:
    """The ratio of the medians of two measurements taken in turn."""
    pairs = [(first(), second()) for _ in range(rounds)]
    return statistics.median(one for one, _ in pairs) / statistics.median(other for _, other in pairs)


def texts(count: int, seed: int) -> list[str]:
    """Made-up sentences of an engineering kind, all different, of about 20 words."""
    chosen = random.Random(seed)  # noqa: S311 - reproducible, not secret
    subjects = ("parser", "scheduler", "gateway", "cache", "importer", "renderer", "indexer", "mailer", "billing job")
    verbs = ("drops", "retries", "logs", "rejects", "batches", "delays", "duplicates", "signs", "compresses")
    things = ("requests", "rows", "uploads", "tokens", "invoices", "frames", "webhooks", "messages", "snapshots")
    reasons = ("the queue is full", "the lock is held", "the header is missing", "the clock drifts", "a limit is hit")
    return [
        f"The {chosen.choice(subjects)} number {chosen.randrange(10_000)} {chosen.choice(verbs)} "
        f"{chosen.choice(things)} on host node-{chosen.randrange(500)} because {chosen.choice(reasons)}; "
        f"ticket OPS-{number} asks for a {chosen.choice(('timeout', 'flag', 'metric'))} in module m{number % 97}."
        for number in range(count)
    ]


def fill(home: Path, items: int, embedder: Embedder) -> None:
    """Write `items` memories through the product's own path."""
    settings = Settings(home=home, scope="/bench/project", background=False)
    with Engine(settings, load=lambda: embedder) as engine:
        services = engine.services()
        drafts = [
            Draft(content=text, scope=settings.scope, kind=Kind.EPISODE, recorded_at=engine.clock(), trust=0.8)
            for text in texts(items, seed=1)
        ]
        for start in range(0, items, 200):
            with services.store.atomic(durable=False):
                for prepared in prepare(drafts[start : start + 200], embedder):
                    services.recorder.write(prepared, engine.clock())


async def tool_times(home: Path, questions: Sequence[str], saves: Sequence[str]) -> dict[str, float]:
    """Median seconds of recall and save over stdio, the server's resident MiB, and the tokens of tools/list."""
    async with connected(home, EBBING_BACKGROUND="0") as client:
        await call(client, "save", content="Wait for the model to load.", kind="episode")
        for question in questions[:5]:
            await call(client, "recall", query=question)
        recall = [await timed(client, "recall", query=question) for question in questions]
        save = [await timed(client, "save", content=text, kind="fact") for text in saves]
        listed = await client.list_tools()
        pid = server_pid(home)
        return {
            "recall": statistics.median(recall),
            "save": statistics.median(save),
            "rss_mb": rss_mb(pid),
            "listed": listed.model_dump_json(by_alias=True, exclude_none=True),  # type: ignore[dict-item]
        }


async def timed(client: Client, tool: str, **arguments: str) -> float:
    """Seconds of one call."""
    started = time.perf_counter()
    await call(client, tool, **arguments)
    return time.perf_counter() - started


def server_pid(home: Path) -> int:
    """The process that serves a home."""
    wanted = f"EBBING_HOME={home}".encode()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                if wanted in (entry / "environ").read_bytes().split(b"\0"):
                    return int(entry.name)
            except OSError:
                continue
    raise RuntimeError("the server is not running")


def embedding_seconds(embedder: Embedder, some: Sequence[str], *, query: bool) -> float:
    """Median seconds of embedding one text alone."""
    seconds: list[float] = []
    for text in some:
        started = time.perf_counter()
        _ = embedder.embed_query(text) if query else embedder.embed_documents([text])
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds)


def measure(items: int, home: Path) -> dict[str, float]:
    """All figures."""
    embedder = load_embedder()
    fill(home, items, embedder)
    questions = [
        f"why does the {text.split()[1]} on {text.split(' on ')[1].split()[1]} fail?" for text in texts(CALLS, 2)
    ]
    saves = texts(CALLS, seed=3)
    query_before = embedding_seconds(embedder, questions, query=True)
    text_before = embedding_seconds(embedder, saves, query=False)
    tools = anyio.run(tool_times, home, questions, saves)
    query_seconds = (query_before + embedding_seconds(embedder, questions, query=True)) / 2
    text_seconds = (text_before + embedding_seconds(embedder, saves, query=False)) / 2
    empty = [sys.executable, "-c", EMPTY_SERVER]
    pairs = [(handshake(EBBING, home), handshake(empty, home)) for _ in range(ROUNDS)]
    hook = str(Path(sys.executable).with_name("ebbing-hook"))
    event = json.dumps({"session_id": "s", "hook_event_name": "SessionStart", "source": "startup", "cwd": "/"}).encode()
    plain = [sys.executable, "-I", "-c", "pass"]
    return {
        "initialize_ratio": statistics.median(a[0] for a, _ in pairs) / statistics.median(b[0] for _, b in pairs),
        "recall_p50_over_embedding": tools["recall"] / query_seconds,
        "save_p50_over_embedding": tools["save"] / text_seconds,
        "hook_over_python": paired(lambda: wall([hook, "session-start"], home, event), lambda: wall(plain, home), 40),
        "rss_over_empty_server": statistics.median(a[1] for a, _ in pairs) / statistics.median(b[1] for _, b in pairs),
        "rss_mb": tools["rss_mb"],
        "tools_list_tokens": embedder.count_pieces(str(tools["listed"])),
        "recall_p50_ms": tools["recall"] * 1000,
        "save_p50_ms": tools["save"] * 1000,
        "query_embedding_ms": query_seconds * 1000,
        "text_embedding_ms": text_seconds * 1000,
    }


def main() -> None:
    """Run and report."""
    parser = argument_parser(__doc__)
    parser.add_argument("--items", type=int, default=10_000, help="memories in the store")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures = measure(options.items, Path(folder, "home"))
    publish(Report("latency", figures, {"items": options.items}, ("mcp", "apsw", "onnxruntime")), as_json=options.json)


if __name__ == "__main__":
    main()
