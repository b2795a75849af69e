"""How many planted secrets redaction finds, and how often it hides what is none.

    python scripts/bench/redaction.py [--data FILE.json.gz] [--json]

- found: share of planted secrets of which nothing that would serve an attacker is left (no piece of 8 characters of its
  random body). Every kind of `_secrets.py` is planted in log lines, code, shell and configuration.
- leaked: planted secrets that stand whole in a file of a store after they were observed through the tool and the
  spool, consolidated and put into soft prompts; path_memories: how many memories that store then holds. --path plants
  each kind that often on this path (0 leaves it out).
- kinds: number of different kinds planted; worst_kind: the lowest share of one kind.
- near_miss_false: share of lines with hashes, identifiers, pictures, examples and references that were changed.
- false_per_1000: changed lines per 1,000 lines of the data set's texts, which hold no secrets (commit messages).
- microseconds_per_line: on those lines; without --data on the near misses.
"""

from __future__ import annotations

import argparse
import gzip
import json
import time
from collections import defaultdict
from pathlib import Path
from random import Random

from _leaks import leaked
from _report import Report, Table, argument_parser, publish
from _secrets import Planted, near_misses, planted

from ebbing.encoding.redact import redact

PIECE = 8


def main() -> None:
    """Plant, redact, count and report."""
    arguments = _arguments()
    shares = _shares(list(planted(Random(arguments.seed), arguments.times)))  # noqa: S311 - repeatable, not secret
    misses = list(near_misses(Random(arguments.seed), arguments.times))  # noqa: S311
    clean = _lines(arguments.data) if arguments.data else misses
    start = time.perf_counter()
    changed = [line for line in clean if redact(line).found]
    seconds = time.perf_counter() - start
    hits, total = sum(sum(found) for found in shares.values()), sum(len(found) for found in shares.values())
    figures = {
        "found": hits / total,
        "kinds": len(shares),
        "worst_kind": min(sum(found) / len(found) for found in shares.values()),
        "near_miss_false": sum(bool(redact(line).found) for line in misses) / len(misses),
        "microseconds_per_line": 1e6 * seconds / len(clean),
    }
    if arguments.path:
        leaks, made = leaked(list(planted(Random(arguments.seed), arguments.path)))  # noqa: S311
        figures |= {"leaked": leaks, "path_memories": made}
    if arguments.data:
        figures |= {"false_per_1000": 1000 * len(changed) / len(clean), "clean_lines": len(clean)}
    settings = {"seed": arguments.seed, "planted": total, "data": arguments.data.name if arguments.data else None}
    weak = [(kind, sum(found), len(found)) for kind, found in sorted(shares.items()) if not all(found)]
    tables = [
        Table("kinds not always found", ("kind", "found", "planted"), weak),
        Table("clean lines changed", ("line",), [(line.strip()[:100],) for line in changed[:20]]),
    ]
    publish(
        Report("redaction", figures, settings, tables=[table for table in tables if table.rows]), as_json=arguments.json
    )


def _arguments() -> argparse.Namespace:
    parser = argument_parser(__doc__)
    parser.add_argument("--data", type=Path, help="data set whose texts hold no secrets")
    parser.add_argument("--times", type=int, default=25, help="how often each kind is planted")
    parser.add_argument("--path", type=int, default=1, help="how often on the whole path")
    parser.add_argument("--seed", type=int, default=20)
    return parser.parse_args()


def _shares(secrets: list[Planted]) -> dict[str, list[bool]]:
    shares: dict[str, list[bool]] = defaultdict(list)
    for planting in secrets:
        shares[planting.kind].append(_hidden(planting.secret, redact(planting.line).text))
    return shares


def _hidden(secret: str, text: str) -> bool:
    body = secret[-min(len(secret), 24) :]
    return not any(body[at : at + PIECE] in text for at in range(len(body) - PIECE + 1))


def _lines(path: Path) -> list[str]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        stores = json.load(file)["stores"]
    texts = (item["text"] for store in stores for item in store["items"])
    return [line for text in texts for line in text.splitlines() if line.strip()]


if __name__ == "__main__":
    main()
