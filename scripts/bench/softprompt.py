"""Does the soft prompt hold what will be asked about? Preferences, instructions and decisions of long coding chats.

Every message goes the product's way: observed with its time and speaker, consolidated, then the prompt of the scope is
composed. A fact is a statement in a user's message that a later question needs: from "prefer", "always" and the like
to the eighth word after it. It is covered when one line of the prompt has at least 60 % of its telling words.
Questions whose categories need no statement (abstention, ordering, summaries) are left out.

Figures: `coverage` share of facts in the prompt at --tokens tokens; `coverage_recent` and `coverage_important` the same
for prompts filled with the newest or most insistent messages and knowledge of the user, each by the same rendering of
a line; `known_recent` and `known_important` the same with nothing but consolidated knowledge; `tokens_max` tokens of
the largest prompt. One store is one scope; shares are over all facts.
"""

from __future__ import annotations

import gzip
import json
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from _memory import instant
from _report import Report, Table, argument_parser, publish

from ebbing.encoding.words import query_terms
from ebbing.lifecycle.consolidation import Consolidator
from ebbing.lifecycle.prompt_sections import Section
from ebbing.lifecycle.prompt_source import KNOWLEDGE, scored
from ebbing.lifecycle.soft_prompt import HEADER, MAX_TOKENS, compose, line_of
from ebbing.schemas.instants import MICROSECONDS_PER_DAY, iso
from ebbing.schemas.memory import Memory
from ebbing.server.engine import Engine
from ebbing.server.settings import Settings

_SKIPPED: Final = ("abstention", "event_ordering", "summarization")
_STATED: Final = re.compile(
    r"\b(?:prefer(?:ence for|red|s)?|decided (?:on|to)|chose|chosen|going with)\b|(?:^|[.!?:]\s+)(?:always|never)\b",
    re.IGNORECASE,
)
_ROLE: Final = re.compile(r"(user|assistant): ")
_WORDS_AFTER: Final = 8
_COVERED: Final = 0.6
_FEWEST_WORDS: Final = 3
_BATCH: Final = 100


@dataclass(frozen=True, slots=True)
class Outcome:
    """One store: its facts (sets of words), the lines of each kind of prompt, the tokens of ours."""

    facts: Sequence[frozenset[str]]
    lines: Mapping[str, Sequence[str]]
    tokens: int
    knowledge: int


def facts_of(data: Mapping[str, Any]) -> list[frozenset[str]]:
    """What users state in the messages that questions need, once each."""
    texts = {item["id"]: item["text"] for item in data["items"]}
    needed = {one for query in data["queries"] if query["category"] not in _SKIPPED for one in query["relevant"]}
    said = (texts[one] for one in sorted(needed) if texts[one].startswith("user: "))
    found = (words for text in said for words in _stated(text.removeprefix("user: ")))
    return list(dict.fromkeys(words for words in found if len(words) >= _FEWEST_WORDS))


def _stated(text: str) -> Iterator[frozenset[str]]:
    for match in _STATED.finditer(text):
        after = re.split(r"[.!?;\n]", text[match.end() :], maxsplit=1)[0].split()
        yield frozenset(query_terms(" ".join(after[:_WORDS_AFTER])).words)


def run(data: Mapping[str, Any], home: Path, tokens: int, *, with_model: bool) -> Outcome:
    """Observe a store's messages, consolidate them, and fill the prompts."""
    scope = f"/bench/{data['id']}"
    times = [instant(item["time"]) or 0 for item in data["items"]]
    now = max(times) + MICROSECONDS_PER_DAY
    settings = Settings(home=home, scope=scope, background=False)
    with Engine(settings, clock=lambda: now) as engine:
        services = engine.services()
        for start in range(0, len(times), _BATCH):
            some = slice(start, start + _BATCH)
            _observe(services.observer.take, data["items"][some], times[some], scope)
        embedder = engine.embedder(120.0) if with_model else None
        consolidator = Consolidator(services.store, services.ledger, services.decay)
        done = consolidator.run(now, embedder, whole=True)
        candidates = scored(services.store, scope, services.decay)
        prompt = compose(candidates, engine.count_exactly, now=now, max_tokens=tokens)
        own = [one for one in services.store.memories.in_scope(scope) if one.provenance.actor == "user"]
        recent = sorted(own, key=lambda one: (-one.recorded_at, -one.seq))
        important = sorted(own, key=lambda one: (-one.importance, -one.recorded_at, -one.seq))
        lines = {
            "coverage": prompt.text.splitlines(),
            "coverage_recent": _filled(recent, tokens, engine.count_exactly),
            "coverage_important": _filled(important, tokens, engine.count_exactly),
            "known_recent": _filled([one for one in recent if one.kind in KNOWLEDGE], tokens, engine.count_exactly),
            "known_important": _filled(
                [one for one in important if one.kind in KNOWLEDGE], tokens, engine.count_exactly
            ),
        }
        return Outcome(facts_of(data), lines, prompt.tokens, done.added)


def _observe(take: Callable[..., object], items: Sequence[Mapping[str, Any]], times: Sequence[int], scope: str) -> None:
    events: list[dict[str, Any]] = []
    for item, at in zip(items, times, strict=True):
        role = _ROLE.match(item["text"])
        event = "prompt" if role and role.group(1) == "user" else "stop"
        text = item["text"][role.end() if role else 0 :]
        events.append({"text": text[:20_000], "event": event, "at": iso(at), "session": str(item["session"])})
    take(events, scope, None, "bench", max(times) + MICROSECONDS_PER_DAY)


def _filled(memories: Sequence[Memory], tokens: int, count: Callable[[str], int]) -> list[str]:
    """Lines of the memories in their order while they fit."""
    lines: list[str] = []
    used = count(HEADER)
    for memory in memories:
        line = line_of(memory, Section.PREFERENCES)
        if used + count(line) <= tokens and line not in lines:
            lines.append(line)
            used += count(line)
    return lines


def covered(facts: Sequence[frozenset[str]], lines: Sequence[str]) -> int:
    """How many facts stand in some line."""
    words = [frozenset(query_terms(line).words) for line in lines]
    return sum(any(len(fact & line) >= _COVERED * len(fact) for line in words) for fact in facts)


def main() -> None:
    """Run and report."""
    parser = argument_parser(__doc__)
    parser.add_argument("--data", type=Path, required=True, help="a data set of coding chats (.json.gz)")
    parser.add_argument("--tokens", type=int, default=MAX_TOKENS, help="size of every prompt")
    parser.add_argument("--no-model", action="store_true", help="reconcile by words alone, without embeddings")
    options = parser.parse_args()
    with gzip.open(options.data, "rt", encoding="utf-8") as file:
        stores = json.load(file)["stores"]
    outcomes: list[Outcome] = []
    with tempfile.TemporaryDirectory() as folder:
        for number, data in enumerate(stores):
            home = Path(folder, str(number))
            outcomes.append(run(data, home, options.tokens, with_model=not options.no_model))
    total = sum(len(outcome.facts) for outcome in outcomes)
    names = list(outcomes[0].lines)
    counts = {name: [covered(one.facts, one.lines[name]) for one in outcomes] for name in names}
    figures = {name: sum(counts[name]) / total for name in names}
    figures["tokens_max"] = max(outcome.tokens for outcome in outcomes)
    rows = [
        (data["id"], len(one.facts), *(counts[name][at] for name in names), one.knowledge, one.tokens)
        for at, (data, one) in enumerate(zip(stores, outcomes, strict=True))
    ]
    table = Table("facts in each prompt", ("store", "facts", *names, "knowledge", "tokens"), rows)
    settings = {"data": options.data.name, "facts": total, "tokens": options.tokens, "model": not options.no_model}
    publish(Report("softprompt", figures, settings, ("tokenizers",), (table,)), as_json=options.json)


if __name__ == "__main__":
    main()
