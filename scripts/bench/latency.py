"""How fast and how large: ratios within one run, so that a noisy machine does not decide.

Figures: `initialize_ratio` over an empty server of the same SDK; `recall_p50_over_embedding` and
`save_p50_over_embedding` with --items memories in the store, from writing the call to reading its reply on the
server's own pipes, over embedding the same texts alone; each call is taken in turn with an embedding, so that both see
the same machine. `recall_sdk_p50_over_embedding` is the same through the SDK's client, whose own work is then included.
`hook_over_python` is session-start over `python -I -c pass`; `rss_over_empty_server` before the model loads; `rss_mb`
with the model and the store; `tools_list_tokens` by the model's own tokenizer.

With --made-up the store holds facts of random words with random embeddings, as in daily.py, and is asked for the words
of some of them: embedding 200,000 texts would take an hour, and how long a call takes depends little on what they say.
"""

from __future__ import annotations

import json
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import anyio
import daily
from _report import Report, Table, argument_parser, publish
from _server import EBBING, call, connected, server_environment
from _wire import HANDSHAKE, Wired, rss_mb

from ebbing.encoding.embedder import Embedder
from ebbing.encoding.loader import load_embedder
from ebbing.encoding.writer import Draft, prepare
from ebbing.schemas.memory import Kind
from ebbing.server.engine import Engine
from ebbing.server.settings import Settings

EMPTY_SERVER = "from mcp.server import MCPServer\nMCPServer('empty').run()"
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


SCOPE = "/bench/project"


def make_up(home: Path, items: int, model: str) -> None:
    """Fill a store with facts of random words and random embeddings under a model's name."""
    with daily.opened(home, model) as store:
        daily.fill(store, items, 1, SCOPE)
        store.database.checkpoint()


def words_of_some(home: Path, model: str) -> list[str]:
    """Questions that made-up memories answer: four words of each of some."""
    rng = random.Random(2)  # noqa: S311 - reproducible, not secret
    with daily.opened(home, model) as store:
        found = store.memories.texts(rng.sample(range(1, store.memories.count()), CALLS))
    return [" ".join(rng.sample(text.split(), 4)) for text in found.values()]


def fill(home: Path, items: int, embedder: Embedder) -> None:
    """Write `items` memories through the product's own path."""
    settings = Settings(home=home, scope=SCOPE, background=False)
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


async def sdk_seconds(home: Path, questions: Sequence[str]) -> list[float]:
    """Seconds of recalls through the SDK's client."""
    seconds: list[float] = []
    async with connected(home, EBBING_BACKGROUND="0") as client:
        await call(client, "save", content="Wait for the model to load.", kind="episode")
        for question in questions:
            started = time.perf_counter()
            await call(client, "recall", query=question)
            seconds.append(time.perf_counter() - started)
    return seconds


def clocked(work: Callable[[], object]) -> float:
    """Seconds that something takes."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def questions_about_hosts() -> list[str]:
    """Questions that `texts` answer."""
    return [f"why does the {text.split()[1]} on {text.split(' on ')[1].split()[1]} fail?" for text in texts(CALLS, 2)]


def tool_figures(home: Path, embedder: Embedder, questions: Sequence[str]) -> dict[str, float]:
    """Recall, save, memory and the list of tools of one server, each call in turn with an embedding alone."""
    with Wired(home, EBBING_BACKGROUND="0") as server:
        server.tool("save", content="Wait for the model to load.", kind="episode")
        for question in questions[:5]:
            server.tool("recall", query=question)
        recalls = [
            (server.tool("recall", query=one), clocked(lambda one=one: embedder.embed_query(one))) for one in questions
        ]
        saves = [
            (server.tool("save", content=one, kind="fact"), clocked(lambda one=one: embedder.embed_documents([one])))
            for one in texts(CALLS, seed=3)
        ]
        listed = json.dumps(server.ask("tools/list", {}), ensure_ascii=False)
        resident = server.rss_mb
    recall, query, save, text = (
        statistics.median(part) for pairs in (recalls, saves) for part in zip(*pairs, strict=True)
    )
    through = statistics.median(anyio.run(sdk_seconds, home, [f"{one} Where?" for one in questions]))
    return {
        "recall_p50_over_embedding": recall / query,
        "save_p50_over_embedding": save / text,
        "recall_sdk_p50_over_embedding": through / query,
        "rss_mb": resident,
        "tools_list_tokens": embedder.count_pieces(listed),
        "recall_p50_ms": 1000 * recall,
        "recall_p95_ms": 1000 * statistics.quantiles([one for one, _ in recalls], n=20)[-1],
        "save_p50_ms": 1000 * save,
        "save_p95_ms": 1000 * statistics.quantiles([one for one, _ in saves], n=20)[-1],
        "query_embedding_ms": 1000 * query,
        "text_embedding_ms": 1000 * text,
    }


def measure(items: int, home: Path, *, made_up: bool) -> dict[str, float]:
    """All figures."""
    embedder = load_embedder()
    if not home.exists():
        make_up(home, items, embedder.spec.id) if made_up else fill(home, items, embedder)
    tools = tool_figures(home, embedder, words_of_some(home, embedder.spec.id) if made_up else questions_about_hosts())
    empty = [sys.executable, "-c", EMPTY_SERVER]
    pairs = [(handshake(EBBING, home), handshake(empty, home)) for _ in range(ROUNDS)]
    hook = str(Path(sys.executable).with_name("ebbing-hook"))
    event = json.dumps({"session_id": "s", "hook_event_name": "SessionStart", "source": "startup", "cwd": "/"}).encode()
    plain = [sys.executable, "-I", "-c", "pass"]
    return {
        "initialize_ratio": statistics.median(a[0] for a, _ in pairs) / statistics.median(b[0] for _, b in pairs),
        **tools,
        "hook_over_python": paired(lambda: wall([hook, "session-start"], home, event), lambda: wall(plain, home), 40),
        "rss_over_empty_server": statistics.median(a[1] for a, _ in pairs) / statistics.median(b[1] for _, b in pairs),
        "rss_before_model_mb": statistics.median(a[1] for a, _ in pairs),
    }


BUDGETS = (
    ("initialize over an empty server", "initialize_ratio", 1.25),
    ("recall p50 over the embedding", "recall_p50_over_embedding", 3.0),
    ("save p50 over the embedding", "save_p50_over_embedding", 2.0),
    ("resident before the model, over an empty server", "rss_over_empty_server", 1.3),
    ("resident MiB with the model", "rss_mb", 250.0),
    ("hook session-start over python", "hook_over_python", 2.0),
    ("tokens of tools/list", "tools_list_tokens", 2_500.0),
)
"""What each figure may be with 10,000 memories."""
RECALL_BUDGET_LARGE = 10.0
LARGE = 100_000


def budgets(figures: Mapping[str, float], items: int) -> Table:
    """Every figure that has a budget, with it; the memory of larger stores has none."""
    rows: list[tuple[str, float, str, str]] = []
    for name, key, most in BUDGETS:
        allowed = RECALL_BUDGET_LARGE if items >= LARGE and key == "recall_p50_over_embedding" else most
        free = key == "rss_mb" and items >= LARGE
        verdict = "–" if free else "within" if figures[key] <= allowed else "above"
        rows.append((name, float(figures[key]), "–" if free else f"{allowed:g}", verdict))
    return Table("budgets", ("what", "measured", "budget", ""), rows)


def main() -> None:
    """Run and report."""
    parser = argument_parser(__doc__)
    parser.add_argument("--items", type=int, default=10_000, help="memories in the store")
    parser.add_argument("--home", type=Path, help="a store that was filled before, of which a copy is used")
    parser.add_argument("--made-up", action="store_true", help="fill it with facts of random words and embeddings")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder, "home")
        if options.home is not None:
            shutil.copytree(options.home, home)
        figures = measure(options.items, home, made_up=options.made_up)
    packages = ("mcp", "apsw", "onnxruntime")
    report = Report("latency", figures, {"items": options.items}, packages, (budgets(figures, options.items),))
    publish(report, as_json=options.json)


if __name__ == "__main__":
    main()
