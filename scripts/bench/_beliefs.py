"""Supersession and drift over a folder of beliefs and cases in the format of PrecisionMemBench."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ebbing.schemas.instants import parse
from ebbing.server.engine import Engine
from ebbing.tools.observe import observe
from ebbing.tools.recall import RecallArguments, recall
from ebbing.tools.save import SaveArguments, save

_TOP = 5
_KNOWLEDGE = ("fact", "procedure", "decision", "preference")
_KINDS = {"preference": "preference", "decision": "decision"}


def figures(folder: Path, engine: Engine) -> dict[str, float]:
    """Load the beliefs through `save` and ask every case.

    - superseded_shown: answers that show a belief which its set calls superseded (there must be none);
    - chains_found: share of the set's supersessions that saving in order of time finds without being told;
    - chains_wrong: beliefs that were ended although the set calls them active;
    - drift_before, drift_after: share of the turns of long sessions about something remembered whose belief is among
      the first five pieces of knowledge (no events: the turn itself would come first), before and after the sessions
      themselves were observed and consolidated.
    """
    beliefs: list[dict[str, Any]] = json.loads((folder / "beliefs.seed.json").read_text("utf-8"))
    beliefs = [belief for belief in beliefs if "other-user" not in belief["_id"]]
    ids, found, wrong = _saved_untold(beliefs, engine, "/untold")
    told = _saved(beliefs, engine)
    active = {told[belief["_id"]] for belief in beliefs if belief["superseded_by"] is None}
    names = {identifier: name for name, identifier in told.items()}
    queries = [query for query in _queries(folder) if query.strip()]
    shown = [memory for query in queries for memory in _recalled(engine, query)]
    turns = list(_turns(folder))
    before = _drift(engine, turns, names)
    _observe(engine, folder)
    return {
        "beliefs": len(ids),
        "superseded_shown": sum(memory in names and memory not in active for memory in shown),
        "chains_found": found,
        "chains_wrong": wrong,
        "drift_before": before,
        "drift_after": _drift(engine, turns, names),
        "drift_turns": len(turns),
    }


def _saved(beliefs: list[dict[str, Any]], engine: Engine) -> dict[str, str]:
    """Save every belief, the replacing one naming what it replaces; our id by theirs."""
    ids: dict[str, str] = {}
    for belief in sorted(beliefs, key=lambda one: one["superseded_by"] is None):
        replaced = [ids[one["_id"]] for one in beliefs if one["superseded_by"] == belief["_id"] and one["_id"] in ids]
        ids[belief["_id"]] = save(engine.services(), _arguments(belief, None, replaced)).id
    # A chain's middle is saved after its beginning and before its end.
    return ids


def _saved_untold(beliefs: list[dict[str, Any]], engine: Engine, scope: str) -> tuple[list[str], float, int]:
    """Save every belief in order of time without a word of what it replaces."""
    ids: dict[str, str] = {}
    ended: set[str] = set()
    for belief in sorted(beliefs, key=lambda one: (one["superseded_by"] is None, parse(one["created_at"]))):
        reply = save(engine.services(), _arguments(belief, scope, []))
        ids[belief["_id"]] = reply.id
        ended.update(reply.superseded)
    old = {belief["_id"] for belief in beliefs if belief["superseded_by"] is not None}
    right = sum(ids[name] in ended for name in old)
    return list(ids.values()), right / max(1, len(old)), len(ended - {ids[name] for name in old})


def _arguments(belief: dict[str, Any], scope: str | None, replaced: list[str]) -> SaveArguments:
    kind = _KINDS.get(belief["type"], "fact")
    return SaveArguments(
        content=belief["content"], kind=kind, scope=scope, said_by="user", supersedes=replaced, tags=belief["aliases"]
    )


def _queries(folder: Path) -> Iterator[str]:
    for case in json.loads((folder / "retrieval.cases.json").read_text("utf-8")):
        yield case["query"]
    for turn in _session_turns(folder):
        yield turn["userMessage"]


def _turns(folder: Path) -> Iterator[tuple[str, frozenset[str]]]:
    for turn in _session_turns(folder):
        expected = turn.get("expect", {}).get("relevantBeliefs", {}).get("shouldOnlyInclude", [])
        if expected and turn["userMessage"].strip():
            yield turn["userMessage"], frozenset(expected)


def _session_turns(folder: Path) -> Iterator[dict[str, Any]]:
    for case in json.loads((folder / "session-retrieval.cases.json").read_text("utf-8")):
        yield from case["turns"]


def _recalled(engine: Engine, query: str) -> list[str]:
    reply = recall(engine.services(), RecallArguments(query=query, kinds=_KNOWLEDGE, limit=_TOP, max_tokens=5_000))
    return [memory.id for memory in reply.memories]


def _drift(engine: Engine, turns: list[tuple[str, frozenset[str]]], names: dict[str, str]) -> float:
    hits = [any(names.get(memory) in expected for memory in _recalled(engine, query)) for query, expected in turns]
    return sum(hits) / max(1, len(hits))


def _observe(engine: Engine, folder: Path) -> None:
    events: list[dict[str, str]] = []
    for turn in _session_turns(folder):
        events.append({"event": "prompt", "text": turn["userMessage"]})
        if turn.get("assistantMessage"):
            events.append({"event": "stop", "text": turn["assistantMessage"]})
    services = engine.services()
    for start in range(0, len(events), 100):
        observe(services, events[start : start + 100])
    services.daily.run(services.clock(), asked=True)
