"""The same questions put to other memories: plain BM25, plain cosine, txtai, mcp-memory-service, MemPalace, and ebbing.

    python scripts/bench/peers.py --data FILE.json.gz [--peers a,b,…] [--environments FOLDER] [--json]

Every peer gets the same items, the same questions, the same k and the same model weights. Installable peers run in a
virtual environment of their own below FOLDER (kept between runs, made by this script); one that can't be installed or
run is skipped with the reason. ebbing answers with the weights of its package; recall.py has it leave one store out.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from _embeddings import cached
from _memory import SCOPE, Loaded, load
from _report import Report, Table, argument_parser, publish
from numpy.typing import NDArray

from ebbing.encoding.embedder import Embedder
from ebbing.encoding.loader import load_embedder
from ebbing.encoding.model import locate
from ebbing.encoding.words import match_expression, query_terms
from ebbing.retrieval.recaller import Recaller, RecallRequest
from ebbing.retrieval.settings import RecallSettings

K: Final = 10
NOW: Final = 2 * 10**15
INSTALL_SECONDS: Final = 1200
RUN_SECONDS: Final = 3600
INSTALLABLE: Final = {"txtai": "_peer_txtai.py", "mcp-memory-service": "_peer_mcp_memory_service.py"} | {
    "mempalace": "_peer_mempalace.py"
}
BUILT_IN: Final = ("bm25", "cosine", "ebbing")

# What a peer needs besides its own package. mcp-memory-service loads an SQLite extension, which the sqlite3 module of
# many Pythons is built without; pysqlite3-binary is the same module with a current SQLite that can.
BESIDES: Final = {"mcp-memory-service": ("onnxruntime", "tokenizers", "pysqlite3-binary")}

Answers = list[list[str]]


class SkippedError(Exception):
    """A peer that can't be measured here, and why."""


@dataclass(frozen=True, slots=True)
class Data:
    """A data set with its embeddings: the stores as they are in the file, and one vector for each distinct text."""

    path: Path
    stores: list[dict[str, Any]]
    vectors: dict[str, NDArray[np.float32]]

    def questions(self) -> list[tuple[dict[str, Any], dict[str, Any]]]:
        """Every question that has an answer, with its store."""
        return [(store, query) for store in self.stores for query in store["queries"] if query["relevant"]]


def main() -> None:
    """Ask every peer, report."""
    arguments = _arguments()
    embedder = load_embedder()
    data = _read(arguments.data, embedder)
    rows: list[tuple[str | float, ...]] = []
    figures: dict[str, float] = {}
    for name in arguments.peers.split(","):
        try:
            answers, version = _asked(name, data, embedder, arguments.environments)
        except SkippedError as reason:
            rows.append((name, f"skipped: {reason}", "", "", ""))
            continue
        everything, plain, mrr = _scored(data, answers)
        rows.append((name, version, everything, plain, mrr))
        figures[f"r10_{name.replace('-', '_')}"] = everything
        figures[f"r10_without_adversarial_{name.replace('-', '_')}"] = plain
    table = Table("Recall at 10", ("memory", "version", "R@10", "without adversarial", "MRR"), rows)
    settings = {"data": arguments.data.name, "questions": len(data.questions()), "k": K, "model": embedder.spec.id}
    publish(Report("peers", figures, settings, ("numpy", "apsw"), (table,)), as_json=arguments.json)


def _asked(name: str, data: Data, embedder: Embedder, environments: Path) -> tuple[Answers, str]:
    if name in INSTALLABLE:
        return _run_peer(name, data, environments)
    with tempfile.TemporaryDirectory() as folder:
        if name == "cosine":
            return _cosine(data), embedder.spec.id
        loaded = load(data.path, embedder, Path(folder))
        return (_bm25(data, loaded), "SQLite FTS5") if name == "bm25" else (_ebbing(data, loaded, embedder), "0.1.0")


def _cosine(data: Data) -> Answers:
    answers: Answers = []
    for store in data.stores:
        matrix = np.stack([data.vectors[item["text"]] for item in store["items"]])
        for query in store["queries"]:
            if query["relevant"]:
                best = np.argsort(-(matrix @ data.vectors[query["text"]]), kind="stable")[:K]
                answers.append([store["items"][place]["id"] for place in best])
    return answers


def _bm25(data: Data, loaded: Sequence[Loaded]) -> Answers:
    answers: Answers = []
    for store, one in zip(data.stores, loaded, strict=True):
        scope = one.store.scopes.find(SCOPE)
        for query in store["queries"]:
            if query["relevant"]:
                expression = match_expression(query_terms(query["text"]).words)
                found = one.store.lexical.search(expression, [] if scope is None else [scope], K)
                answers.append([store["items"][seq - 1]["id"] for seq, _ in found])
    return answers


def _ebbing(data: Data, loaded: Sequence[Loaded], embedder: Embedder) -> Answers:
    answers: Answers = []
    for store, one in zip(data.stores, loaded, strict=True):
        recaller = Recaller(
            one.store, lambda: embedder, lambda _columns, seqs, _now: np.ones(len(seqs)), RecallSettings(floors=None)
        )
        for query in store["queries"]:
            if query["relevant"]:
                result = recaller.recall(RecallRequest(query=query["text"], scopes=(SCOPE,), now=NOW, limit=K))
                answers.append([store["items"][hit.memory.seq - 1]["id"] for hit in result.hits])
    return answers


def _run_peer(name: str, data: Data, environments: Path) -> tuple[Answers, str]:
    """Install a peer where it is missing, hand it the job, read its answers."""
    python = _environment(name, environments)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        _write_job(data, home)
        _lay_out_model(home)
        command = [str(python), str(Path(__file__).with_name(INSTALLABLE[name])), folder]
        environment = {**os.environ, "HOME": folder, "MCP_MEMORY_USE_ONNX": "1", "MCP_MEMORY_BASE_DIR": folder}
        done = _call(command, RUN_SECONDS, environment)
        answered = home / "answers.json"
        if done.returncode or not answered.exists():
            raise SkippedError(f"it failed: {_last_line(done.stderr)}")
        return json.loads(answered.read_text(encoding="utf-8")), _version(python, name)


def _environment(name: str, environments: Path) -> Path:
    folder = environments / name
    python = folder / "bin" / "python"
    if not python.exists():
        _call([sys.executable, "-m", "venv", str(folder)], INSTALL_SECONDS)
    if not _version(python, name):
        packages = [name, *BESIDES.get(name, ())]
        done = _call([str(python), "-m", "pip", "install", "-q", "--only-binary=:all:", *packages], INSTALL_SECONDS)
        if done.returncode:
            raise SkippedError(f"it can't be installed: {_last_line(done.stderr)}")
    return python


def _version(python: Path, name: str) -> str:
    code = "import sys; from importlib.metadata import version; print(version(sys.argv[1]))"
    return _call([str(python), "-c", code, name], 60).stdout.strip()


def _call(
    command: list[str], seconds: int, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=seconds,
            env=environment,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SkippedError(f"{Path(command[0]).name}: {type(error).__name__}") from error


def _write_job(data: Data, folder: Path) -> None:
    stores = [
        {
            "items": [{"id": item["id"], "text": item["text"]} for item in store["items"]],
            "queries": [query["text"] for query in store["queries"] if query["relevant"]],
        }
        for store in data.stores
    ]
    texts = list(data.vectors)
    (folder / "job.json").write_text(json.dumps({"stores": stores, "texts": texts, "k": K}), encoding="utf-8")
    np.save(folder / "vectors.npy", np.stack([data.vectors[text] for text in texts]))


def _lay_out_model(home: Path) -> None:
    """Put our model's files where Chroma and mcp-memory-service look for theirs: the same weights, no download."""
    files = locate()
    for place in (".cache/chroma/onnx_models", ".cache/mcp_memory/onnx_models"):
        target = home / place / "all-MiniLM-L6-v2" / "onnx"
        target.mkdir(parents=True)
        graph = files.path("graph")
        for path in graph.parent.glob(f"{graph.name}*"):
            shutil.copy(path, target / path.name)
        shutil.copy(files.path("tokenizer"), target / "tokenizer.json")
        for name in ("config.json", "special_tokens_map.json", "tokenizer_config.json", "vocab.txt"):
            (target / name).write_text("{}", encoding="utf-8")


def _read(path: Path, embedder: Embedder) -> Data:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        stores: list[dict[str, Any]] = json.load(file)["stores"]
    vectors: dict[str, NDArray[np.float32]] = {}
    for store in stores:
        for key, query in (("items", False), ("queries", True)):
            texts = [entry["text"] for entry in store[key]]
            found = cached(embedder, texts, query=query)
            vectors |= {text: one.vector for text, one in zip(texts, found, strict=True)}
    return Data(path, stores, vectors)


def _scored(data: Data, answers: Answers) -> tuple[float, float, float]:
    """R@10 over all questions and without adversarial ones, and MRR within ten."""
    recalls: list[float] = []
    ranks: list[float] = []
    plain: list[float] = []
    for (_, query), found in zip(data.questions(), answers, strict=True):
        right = [identifier in query["relevant"] for identifier in found[:K]]
        recalls.append(sum(right) / len(query["relevant"]))
        ranks.append(1 / (1 + right.index(True)) if any(right) else 0.0)
        if query.get("category") != "adversarial":
            plain.append(recalls[-1])
    return float(np.mean(recalls)), float(np.mean(plain)), float(np.mean(ranks))


def _last_line(text: str) -> str:
    lines = [line for line in text.strip().splitlines() if line.strip()]
    telling = [line for line in lines if "Error" in line] or lines
    return telling[-1].strip()[:160] if telling else "no message"


def _arguments() -> argparse.Namespace:
    parser = argument_parser("The same questions put to other memories.")
    parser.add_argument("--data", type=Path, required=True, help="a data set of the common format")
    parser.add_argument("--peers", default=",".join((*BUILT_IN, *INSTALLABLE)), help="which memories to ask")
    folder = Path(tempfile.gettempdir(), "ebbing-bench-peers")
    parser.add_argument("--environments", type=Path, default=folder, help="where the peers' environments are kept")
    return parser.parse_args()


if __name__ == "__main__":
    main()
