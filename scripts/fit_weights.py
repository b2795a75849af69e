"""Fit the weights and floors that recall ships with, and write them to retrieval/weights.json and retrieval/floor.json.

    python scripts/fit_weights.py --dialogue LOCOMO.json.gz --plain BEAM.json.gz

The dialogue set is fitted on the first file. The plain set has no cues of dialogue and is fitted on both files, each
weighing the same. The data stays where it is; only the weights are written.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).with_name("bench")))

from bench._fitting import (
    DIALOGUE,
    DIALOGUE_FLOOR,
    PLAIN,
    PLAIN_FLOOR,
    WORDS_FLOOR,
    as_json,
    examples,
    fit_floor,
    fit_weights,
    floors_json,
)
from bench._memory import load

from ebbing.encoding.loader import load_embedder
from ebbing.retrieval.floor import Floors
from ebbing.retrieval.weights import Weights

_TARGET = Path(__file__).resolve().parent.parent / "retrieval"


def main() -> None:
    """Fit and write."""
    parser = argparse.ArgumentParser(description="Fit the weights and floors that recall ships with.")
    parser.add_argument("--dialogue", type=Path, required=True, help="conversations of named speakers")
    parser.add_argument("--plain", type=Path, required=True, help="other texts, such as coding chats")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        embedder = load_embedder()
        talks = load(arguments.dialogue, embedder, Path(folder, "dialogue"))
        others = load(arguments.plain, embedder, Path(folder, "plain"))
        talking, plain = examples(talks), examples(others)
        mixed = [*plain, *examples(talks, weight=len(plain) / len(talking))]
        weights = Weights(fit_weights(talking, DIALOGUE), fit_weights(mixed, PLAIN))
        floors = Floors(
            fit_floor(talks, weights, DIALOGUE_FLOOR),
            fit_floor(others, weights, PLAIN_FLOOR),
            fit_floor([*talks, *others], weights, WORDS_FLOOR),
        )
    _write("weights.json", as_json(weights))
    _write("floor.json", floors_json(floors))


def _write(name: str, data: Mapping[str, Any]) -> None:
    (_TARGET / name).write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
