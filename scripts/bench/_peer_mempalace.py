"""Runs in MemPalace's own environment: its reranked search over vectors and words, one palace a store."""
# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

import json
import sys
from pathlib import Path

from mempalace.palace import get_collection
from mempalace.searcher import search_memories

_BATCH = 100


def main() -> None:
    """Answer the job in the folder that is named; each item is a drawer whose source file is its id."""
    folder = Path(sys.argv[1])
    job = json.loads((folder / "job.json").read_text(encoding="utf-8"))
    answers: list[list[str]] = []
    for number, store in enumerate(job["stores"]):
        palace = str(folder / f"palace-{number}")
        drawers = get_collection(palace, create=True)
        items = store["items"]
        for start in range(0, len(items), _BATCH):
            some = items[start : start + _BATCH]
            drawers.upsert(
                ids=[item["id"] for item in some],
                documents=[item["text"] for item in some],
                metadatas=[{"wing": "bench", "room": "bench", "source_file": item["id"]} for item in some],
            )
        for query in store["queries"]:
            found = search_memories(query, palace, n_results=job["k"], candidate_strategy="union")
            answers.append([hit["source_file"] for hit in found.get("results", [])])
    (folder / "answers.json").write_text(json.dumps(answers), encoding="utf-8")


main()
