"""What becomes of what is written: operations on pairs, supersession and drift, consolidation of streams of events.

    python scripts/bench/writing.py [--held-out] [--beliefs FOLDER] [--data FILE.json.gz …] [--limit N] [--json]

- operation_accuracy: share of the pairs of pairs.toml (with --held-out: of pairs_held_out.toml) whose second statement
  does to the first what the file says; wrong_supersede: pairs in which it ends a statement that stands, and, with all
  pairs in one scope, statements of other pairs that it ends (wrong_in_company).
- --beliefs: see `_beliefs.figures`.
- --data: each data set's items are observed as events ("user: …" as a prompt, "assistant: …" as an answer, others as
  notes), then the daily run consolidates them. events_per_second: observing; memories_per_second: memories that the
  knowledge step wrote in a second, embedding included; noise_dropped: share of events of which nothing came;
  duplicates_after: share of knowledge (no episodes) whose words another one in force repeats, episodes_repeated the
  same of episodes. --limit takes the first N items of each data set.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import _beliefs
from _memory import instant
from _pairs import Judged, judge, read_pairs, wrong_in_company
from _report import Report, Table, argument_parser, publish

from ebbing.encoding.associate import DERIVED
from ebbing.encoding.loader import load_embedder
from ebbing.schemas.instants import iso
from ebbing.schemas.memory import Kind
from ebbing.server.engine import Engine
from ebbing.server.settings import Settings
from ebbing.store.store import Store

_HERE = Path(__file__).parent
_ROLE = re.compile(r"(user|assistant): (.*)", re.DOTALL)
_EVENTS = {"user": "prompt", "assistant": "stop"}
_BATCH = 500
_LONGEST = 20_000


def main() -> None:
    """Run the parts that were asked for and report."""
    arguments = _arguments()
    embedder = load_embedder()
    pairs = read_pairs(_HERE / ("pairs_held_out.toml" if arguments.held_out else "pairs.toml"))
    with tempfile.TemporaryDirectory() as folder:
        spec = embedder.spec
        with Store(Path(folder), 0, model_name=spec.id, dimension=spec.dimension) as store:
            judged = judge(pairs, store, embedder)
            company = wrong_in_company(pairs, store, embedder)
    wrong = [one for one in judged if one.is_wrong_supersede]
    figures: dict[str, float] = {
        "pairs": len(pairs),
        "operation_accuracy": sum(one.is_right for one in judged) / len(judged),
        "wrong_supersede": len(wrong) + len(company),
        "wrong_in_company": len(company),
    }
    if arguments.beliefs:
        with _engine() as engine:
            figures |= _beliefs.figures(arguments.beliefs, engine)
    for path in arguments.data:
        prefix = f"{path.name.split('.')[0]}_" if len(arguments.data) > 1 else ""
        with _engine() as engine:
            figures |= {prefix + name: value for name, value in _stream(path, engine, arguments.limit).items()}
    settings = {"pairs": "held out" if arguments.held_out else "own", "limit": arguments.limit}
    tables = [_by_class(judged), _misses(judged), Table("ended in company", ("statement", "by"), company)]
    publish(Report("writing", figures, settings, tables=[one for one in tables if one.rows]), as_json=arguments.json)


def _arguments() -> argparse.Namespace:
    parser = argument_parser(__doc__)
    parser.add_argument("--held-out", action="store_true", help="the pairs that no rule was made for")
    parser.add_argument("--beliefs", type=Path, help="folder of beliefs and cases")
    parser.add_argument("--data", type=Path, nargs="*", default=[], help="data sets to observe")
    parser.add_argument("--limit", type=int, default=2_000, help="items of each data set")
    return parser.parse_args()


def _by_class(judged: list[Judged]) -> Table:
    counts = Counter(one.pair.group for one in judged)
    right = Counter(one.pair.group for one in judged if one.is_right)
    return Table("pairs", ("class", "right", "of"), [(name, right[name], count) for name, count in counts.items()])


def _misses(judged: list[Judged]) -> Table:
    rows = [
        (one.pair.old[:60], one.pair.new[:60], "/".join(one.pair.expect), one.operation)
        for one in judged
        if not one.is_right
    ]
    return Table("missed", ("old", "new", "expected", "was"), rows)


class _engine:  # noqa: N801 - used like a function
    """An engine over a folder of its own, gone afterwards."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory()
        settings = Settings(home=Path(self._folder.name), scope="/bench", background=False)
        self._engine = Engine(settings)

    def __enter__(self) -> Engine:
        self._engine.embedder(60.0)
        return self._engine

    def __exit__(self, *_: object) -> None:
        self._engine.close()
        self._folder.cleanup()


def _stream(path: Path, engine: Engine, limit: int) -> dict[str, float]:
    services = engine.services()
    events = list(_events(path, limit))
    start = time.perf_counter()
    for at in range(0, len(events), _BATCH):
        services.observer.take(events[at : at + _BATCH], "/bench", None, None, services.clock())
    observing = time.perf_counter() - start
    report = services.daily.run(services.clock(), asked=True)
    knowledge = next(step for step in report.steps if step.name == "knowledge")
    made = [memory for batch in services.store.memories.all() for memory in batch]
    derived = [memory for memory in made if memory.kind is not Kind.OBSERVATION]
    in_force = [memory for memory in derived if memory.superseded_by is None]
    links = services.store.graph.neighbours([memory.seq for memory in derived], 500)
    told = {link.other for link in links if link.relation == DERIVED}
    kinds = Counter(str(memory.kind) for memory in derived)
    return {
        "events": len(events),
        "events_per_second": len(events) / observing,
        "memories": len(derived),
        **{f"memories_{kind}": count for kind, count in sorted(kinds.items())},
        "memories_per_second": len(derived) / knowledge.seconds,
        "noise_dropped": 1 - len(told) / len(events),
        "duplicates_after": _repeated([m.content for m in in_force if not m.kind.is_event]),
        "episodes_repeated": _repeated([m.content for m in in_force if m.kind is Kind.EPISODE]),
        "waiting": services.store.pending.count(),
    }


def _events(path: Path, limit: int) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        stores = json.load(file)["stores"]
    items = [(f"{store['id']} {item['session']}", item) for store in stores for item in store["items"]]
    for place, (session, item) in enumerate(items[:limit]):
        role = _ROLE.match(item["text"])
        at = instant(item["time"])
        event = {"text": (role[2] if role else item["text"])[:_LONGEST], "event_id": f"{place}"}
        event |= {"event": _EVENTS[role[1]], "session": session} if role else {"event": "note"}
        # Times in words give days alone: the order of the items is the order of events.
        yield event if at is None else event | {"at": iso(at + place * 1_000_000)}


def _repeated(texts: list[str]) -> float:
    said = Counter(" ".join(re.findall(r"[\w.]+", text.lower())) for text in texts)
    return sum(count - 1 for count in said.values()) / max(1, len(texts))


if __name__ == "__main__":
    main()
