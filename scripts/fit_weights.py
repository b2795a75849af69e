"""Fit the weights and floors that recall ships with, and write them to retrieval/weights.json and retrieval/floor.json.

    python scripts/fit_weights.py LOCOMO.json.gz BEAM.json.gz

The set for dialogue is fitted on the data sets of conversations between named speakers. The plain set has no cues of
dialogue and is fitted on all of them, each weighing the same. The data stays where it is; only the weights are written.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

sys.path.append(str(Path(__file__).with_name("bench")))

from bench._examples import Examples
from bench._fitting import as_json, floors_json
from bench._left_out import floors_of, weights_of
from bench._memory import load

from ebbing.encoding.loader import load_embedder

_TARGET: Final = Path(__file__).resolve().parent.parent / "retrieval"


def main() -> None:
    """Fit and write."""
    parser = argparse.ArgumentParser(description="Fit the weights and floors that recall ships with.")
    parser.add_argument("data", type=Path, nargs="+", help="data sets of the common format")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        embedder, read = load_embedder(), Examples()
        data = [load(path, embedder, Path(folder, path.name)) for path in arguments.data]
        weights = weights_of(data, read)
        floors = floors_of(data, read, weights)
    _write("weights.json", as_json(weights))
    _write("floor.json", floors_json(floors))


def _write(name: str, data: Mapping[str, Any]) -> None:
    (_TARGET / name).write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
