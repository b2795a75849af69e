"""Runs in mcp-memory-service's own environment: its hybrid retrieval over one store at a time."""
# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pysqlite3

# Before anything of the peer is imported, so that it finds a module that can load extensions.
sys.modules["sqlite3"] = pysqlite3

from mcp_memory_service.models.memory import Memory  # noqa: E402
from mcp_memory_service.storage.sqlite_vec import SqliteVecMemoryStorage  # noqa: E402
from mcp_memory_service.utils.hashing import generate_content_hash  # noqa: E402


async def answer(store: dict[str, Any], path: Path, k: int) -> list[list[str]]:
    """Save the items, ask the questions; equal texts count as the first of them."""
    storage = SqliteVecMemoryStorage(str(path))
    await storage.initialize()
    by_hash: dict[str, str] = {}
    for item in store["items"]:
        digest = generate_content_hash(item["text"])
        if by_hash.setdefault(digest, item["id"]) == item["id"]:
            memory = Memory(content=item["text"], content_hash=digest, tags=["bench"])
            await storage.store(memory, skip_semantic_dedup=True)
    answers: list[list[str]] = []
    for query in store["queries"]:
        results = await storage.retrieve_hybrid(query, n_results=k)
        answers.append([by_hash[result.memory.content_hash] for result in results])
    return answers


def main() -> None:
    """Answer the job in the folder that is named."""
    folder = Path(sys.argv[1])
    job = json.loads((folder / "job.json").read_text(encoding="utf-8"))
    answers: list[list[str]] = []
    for number, store in enumerate(job["stores"]):
        answers += asyncio.run(answer(store, folder / f"memory-{number}.db", job["k"]))
    (folder / "answers.json").write_text(json.dumps(answers), encoding="utf-8")


main()
