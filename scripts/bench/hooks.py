"""How long a client waits for its hooks, and how a hook best finds what bears on a prompt.

Times are multiples of starting Python and doing nothing; the commands take turns, so that a noisy machine slows all of
them alike; figures are medians. Three ways of looking a prompt up are measured over the same --items memories: asking
the running server over its socket, a full-text table read by the standard library's sqlite3, and a prepared file of
words. For each: its time, which share of ten prompts got the memory that bears on them, and which share of twenty
unrelated prompts got anything.
"""

from __future__ import annotations

import json
import os
import sqlite3
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from pathlib import Path

from _prompts import PAIRS, UNRELATED
from _report import Report, Table, argument_parser, publish
from _server import EBBING
from latency import fill

from ebbing.encoding.loader import load_embedder
from ebbing.encoding.words import index_text
from ebbing.encoding.writer import Draft, prepare
from ebbing.hooks import places
from ebbing.hooks.asking import notes
from ebbing.schemas.memory import Kind
from ebbing.server.engine import Engine
from ebbing.server.settings import Settings

SCOPE = "/bench/project"
_COMMAND = Path(sysconfig.get_path("scripts"), "ebbing-hook")
_PYTHON = "python -I -c pass"
_JSON = "python -c 'import json'"
_PROMPT_LINE = "- 2026-03-01 [0195a7c0] tests run with pytest in importlib mode, the build uses hatchling\n"
_SOCKET, _SQLITE, _FILE = "asking a server", "sqlite3 and FTS5", "a file of words"
_WORDS_FILE = "words.tsv"

# What a hook would have to do without a server, as small as it can be made; prints the best memory's number.
_BY_SQLITE = """\
import sys, sqlite3
words = [w for w in sys.argv[2].replace('"', ' ').split() if len(w) > 3][:32]
db = sqlite3.connect(f"file:{sys.argv[1]}/words.db?mode=ro", uri=True)
ask = " OR ".join(f'"{w}"' for w in words)
best = "SELECT rowid FROM lexical WHERE lexical MATCH ? ORDER BY bm25(lexical) LIMIT 1"
row = ask and db.execute(best, (ask,)).fetchone()
print(row[0] if row else "")
"""
_BY_FILE = f"""\
import sys
words = set(w for w in sys.argv[2].lower().split() if len(w) > 3)
best, most = "", 1
for line in open(sys.argv[1] + "/{_WORDS_FILE}", encoding="utf-8"):
    number, _, text = line.partition("\\t")
    shared = len(words.intersection(text.split()))
    if shared > most:
        best, most = number, shared
print(best)
"""


def main() -> None:
    """Measure and report."""
    parser = argument_parser(__doc__)
    parser.add_argument("--rounds", type=int, default=40, help="how often each command is started (default 40)")
    parser.add_argument("--items", type=int, default=2_000, help="memories beside the ten (default 2,000)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ebbing-bench-") as folder:
        home = Path(folder, "home")
        env = _environment(Path(folder))
        numbers = _filled(home, arguments.items)
        with _running_server(home, env):
            seconds = _taken(_commands(home, env), arguments.rounds)
            quality = _quality(home, env, numbers)
    publish(_report(seconds, quality, arguments.rounds, arguments.items), as_json=arguments.json)


def _environment(folder: Path) -> dict[str, str]:
    # Compiled modules are what an installed package has; a first round makes them.
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return env | {
        "EBBING_HOME": str(folder / "home"),
        "EBBING_SCOPE": SCOPE,
        "PYTHONPYCACHEPREFIX": str(folder / "compiled"),
    }


def _filled(home: Path, items: int) -> list[int]:
    """Store the ten memories among `items` others; their numbers. Also makes the soft prompt and the file of words."""
    embedder = load_embedder()
    fill(home, items, embedder)
    with Engine(Settings(home=home, scope=SCOPE, background=False), load=lambda: embedder) as engine:
        services = engine.services()
        numbers: list[int] = []
        for kind, text, _ in PAIRS:
            [made] = prepare([_draft(kind, text, engine.clock())], embedder)
            written = services.recorder.write(made, engine.clock())
            numbers += [memory.seq for memory in services.store.memories.by_ids([written.id])]
        everything = services.store.memories.by_seqs(list(range(1, numbers[-1] + 1)))
        lines = [f"{memory.seq}\t{index_text(memory.content).lower()}".replace("\n", " ") for memory in everything]
    (home / _WORDS_FILE).write_text("\n".join(lines), encoding="utf-8")
    _copy_words(home / "words.db", lines)
    places.write_private(places.soft_prompt_path(home, SCOPE), (_PROMPT_LINE * 100).encode())
    return numbers


def _copy_words(path: Path, lines: list[str]) -> None:
    """A full-text table that every Python's sqlite3 can read; the store's own needs SQLite 3.43."""
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE VIRTUAL TABLE lexical USING fts5 (body, tokenize = 'porter unicode61')")
        rows = [(int(number), text) for number, _, text in (line.partition("\t") for line in lines)]
        database.executemany("INSERT INTO lexical (rowid, body) VALUES (?, ?)", rows)


def _draft(kind: str, text: str, now: int) -> Draft:
    return Draft(content=text, scope=SCOPE, kind=Kind(kind), recorded_at=now, trust=0.8)


@contextmanager
def _running_server(home: Path, env: dict[str, str]) -> Generator[None]:
    """A real server on the store, with its model loaded, that hooks can ask."""
    process = subprocess.Popen(EBBING, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        for number in range(3):
            arguments = {"query": "which port does staging use?"}
            method = {"method": "tools/call", "params": {"name": "recall", "arguments": arguments}}
            first = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "b", "version": "1"}}
            request = {"method": "initialize", "params": first} if not number else method
            process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": number, **request}).encode() + b"\n")
            process.stdin.flush()
            process.stdout.readline()
        while not notes(str(home), SCOPE) or not _reminded(env, PAIRS[1][2], "warm"):
            time.sleep(0.2)
        yield
    finally:
        process.stdin.close()
        process.wait()
        process.stdout.close()


def _commands(home: Path, env: dict[str, str]) -> dict[str, Callable[[], float]]:
    """What is timed: each starts a process and gives its wall seconds."""
    python = [sys.executable, "-I", "-c"]
    prompt, nowhere = PAIRS[1][2], {**env, "EBBING_HOME": str(home.parent / "empty")}
    timed: dict[str, Callable[[], float]] = {
        _PYTHON: lambda: _wall([*python, "pass"], b"", env),
        _JSON: lambda: _wall([*python, "import json"], b"", env),
    }
    for event in ("session-start", "post-tool-use", "stop"):
        timed[event] = lambda event=event: _wall([str(_COMMAND), event], _given(event), env)
    asked = [str(_COMMAND), "user-prompt-submit"]
    timed["user-prompt-submit, no server"] = lambda: _wall(asked, _given("p", prompt=prompt), nowhere)
    timed[f"user-prompt-submit, {_SOCKET}"] = lambda: _wall(asked, _given("p", prompt=prompt, session_id=""), env)
    timed[f"user-prompt-submit, {_SOCKET}, nothing relevant"] = lambda: _wall(
        asked, _given("p", prompt=UNRELATED[4], session_id=""), env
    )
    timed[_SQLITE] = lambda: _wall([*python, _BY_SQLITE, str(home), prompt], b"", env)
    timed[_FILE] = lambda: _wall([*python, _BY_FILE, str(home), prompt], b"", env)
    return timed


def _given(event: str, **more: str) -> bytes:
    text = "word " * 400
    fields = {"prompt": text, "tool_name": "Bash", "tool_response": text, "source": "startup", "event": event}
    return json.dumps({"session_id": "s", "cwd": "/", **fields, **more}).encode()


def _wall(command: list[str], stdin: bytes, env: dict[str, str]) -> float:
    begin = time.perf_counter()
    subprocess.run(command, input=stdin, env=env, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - begin


def _taken(commands: dict[str, Callable[[], float]], rounds: int) -> dict[str, float]:
    taken: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(rounds + 1):
        for name, command in commands.items():
            taken[name].append(command())
    return {name: statistics.median(values[1:]) for name, values in taken.items()}


def _quality(home: Path, env: dict[str, str], numbers: list[int]) -> dict[str, tuple[float, float]]:
    """For each way the share of prompts that got their memory, and the share of unrelated ones that got anything."""
    texts = [text for _, text, _ in PAIRS]

    def by_server(prompt: str, place: int | None) -> bool:
        added = _reminded(env, prompt, "")
        return bool(added) if place is None else texts[place] in added

    def by_script(script: str) -> Callable[[str, int | None], bool]:
        def found(prompt: str, place: int | None) -> bool:
            command = [sys.executable, "-I", "-c", script, str(home), prompt]
            number = subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout.strip()
            return bool(number) if place is None else number == str(numbers[place])

        return found

    ways = {_SOCKET: by_server, _SQLITE: by_script(_BY_SQLITE), _FILE: by_script(_BY_FILE)}
    return {
        name: (
            statistics.fmean(way(prompt, place) for place, (_, _, prompt) in enumerate(PAIRS)),
            statistics.fmean(way(prompt, None) for prompt in UNRELATED),
        )
        for name, way in ways.items()
    }


def _reminded(env: dict[str, str], prompt: str, session: str) -> str:
    given = _given("p", prompt=prompt, session_id=session)
    done = subprocess.run([str(_COMMAND), "user-prompt-submit"], input=given, env=env, capture_output=True, check=True)
    return json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"] if done.stdout else ""


def _report(seconds: dict[str, float], quality: dict[str, tuple[float, float]], rounds: int, items: int) -> Report:
    empty = seconds[_PYTHON]
    rows = [(name, round(value * 1000, 1), value / empty) for name, value in seconds.items()]
    asked = seconds[f"user-prompt-submit, {_SOCKET}"]
    return Report(
        bench="hooks",
        figures={
            "hook_over_python": seconds["session-start"] / empty,
            "prompt_over_python": asked / empty,
            "sqlite_over_python": seconds[_SQLITE] / empty,
            "file_over_python": seconds[_FILE] / empty,
            "slowest_hook_seconds": max(
                value for name, value in seconds.items() if "-" in name and "python" not in name
            ),
            "reminded": quality[_SOCKET][0],
            "disturbed": quality[_SOCKET][1],
        },
        settings={"rounds": rounds, "items": items},
        tables=[
            Table("wall time", ("command", "ms", f"over {_PYTHON}"), rows),
            Table(
                "what a prompt gets",
                ("way", "its memory", "anything, unrelated"),
                [(name, *shares) for name, shares in quality.items()],
            ),
        ],
    )


if __name__ == "__main__":
    main()
