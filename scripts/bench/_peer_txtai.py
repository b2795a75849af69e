"""Runs in txtai's own environment: hybrid search (its BM25 and the given vectors) over one store at a time."""
# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from txtai.embeddings import Embeddings


def main() -> None:
    """Answer the job in the folder that is named."""
    folder = Path(sys.argv[1])
    job = json.loads((folder / "job.json").read_text(encoding="utf-8"))
    vectors = np.load(folder / "vectors.npy")
    place = {text: number for number, text in enumerate(job["texts"])}

    def transform(texts: list[str]) -> Any:
        return vectors[[place[text] for text in texts]]

    answers: list[list[str]] = []
    for store in job["stores"]:
        index = Embeddings({"method": "external", "transform": transform, "hybrid": True})
        index.index([(item["id"], item["text"], None) for item in store["items"]])
        answers += [[str(found[0]) for found in index.search(query, job["k"])] for query in store["queries"]]
    (folder / "answers.json").write_text(json.dumps(answers), encoding="utf-8")


main()
