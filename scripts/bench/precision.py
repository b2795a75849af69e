"""What must come back and what must not: scopes, users, superseded and resolved beliefs, aliases, typing errors.

    python scripts/bench/precision.py --data FOLDER [--json]

FOLDER holds beliefs.seed.json, retrieval.cases.json and session-retrieval.cases.json of PrecisionMemBench. Each belief
is saved by the product's own `save` as its user, in a scope of that user and domain (`global` for universal ones), its
aliases as tags; one that replaces another names it in `supersedes`, and one that is resolved is valid until then. Each
case asks the product's own `recall` in each of its scopes; the ten best of all count.

Isolation: nothing of another user, or of a scope that was not asked, comes back, and what the case wants does.
Supersession: nothing superseded comes back, and what replaced it does. The rest: the wanted beliefs come back before
any other; where none is wanted, nothing comes back. Beliefs that the data set delivers apart from relevance (pinned
and universal ones, open questions) count neither way. The data set's own rule, that nothing but the wanted beliefs
comes back, is `exact`: it is made for a memory of aliases that returns no more than it is sure of.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from _report import Report, Table, argument_parser, publish

from ebbing.encoding.loader import load_embedder
from ebbing.schemas.instants import parse
from ebbing.schemas.memory import GLOBAL_SCOPE
from ebbing.server.engine import Engine
from ebbing.server.settings import Settings
from ebbing.tools.recall import RecallArguments, recall
from ebbing.tools.save import SaveArguments, save
from ebbing.tools.services import Services

KINDS: Final = {"preference": "preference", "decision": "decision"}
USER: Final = "test-user"
UNIVERSAL: Final = "user:universal"
ASKED_AT: Final = parse("2026-10-20T12:00:00Z")
WARM_UP_SECONDS: Final = 60.0
K: Final = 10
ISOLATION: Final = ("Scope disambiguation", "Cross-user isolation", "Cold start behavior", "Persona prelude content")
SUPERSESSION: Final = ("Supersession chain exclusion",)

Belief = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Case:
    """One question and what is expected of its answer, as ids of beliefs; what its turn changes afterwards."""

    name: str
    category: str
    user: str
    scopes: tuple[str, ...]
    query: str
    wanted: frozenset[str]
    current: frozenset[str]
    unwanted: frozenset[str]
    creates: Belief | None = None
    updates: Belief | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came back for a case, best first, and what is wrong with it."""

    case: Case
    found: tuple[str, ...]
    faults: tuple[str, ...]
    exact: bool


class Beliefs:
    """The beliefs as saved, by the product's ids."""

    def __init__(self, services: Services, beliefs: Sequence[Belief]) -> None:
        """Save them, what was replaced before what replaced it."""
        self._services = services
        self._ids: dict[str, str] = {}
        self.by_name = {str(belief["_id"]): belief for belief in beliefs}
        for belief in sorted(beliefs, key=self._distance, reverse=True):
            self.save(belief)

    def save(self, belief: Belief, *, replaced: Sequence[str] = ()) -> None:
        """Save one; `replaced` names memories besides those that it supersedes."""
        name = str(belief["_id"])
        old = [self._ids[other] for other, one in self.by_name.items() if one["superseded_by"] == name]
        ended = belief["resolved_at"]
        arguments = SaveArguments(
            content=belief["content"],
            kind=KINDS.get(belief["type"], "fact"),
            scope=scope_of(belief["user_id"], belief["scope"][0]),
            tags=[belief["canonical_name"].replace("_", " "), *belief["aliases"]][: self._services.limits.tags],
            supersedes=[*old, *replaced],
            valid_to=ended,
            said_by="user",
        )
        self.by_name[name] = belief
        self._ids[name] = save(self._services, arguments).id

    def changed(self, name: str, aliases: Sequence[str]) -> None:
        """Give a belief more aliases: it is saved again and replaces what it was."""
        belief = self.by_name[name]
        self.save({**belief, "aliases": [*belief["aliases"], *aliases]}, replaced=[self._ids[name]])

    def found(self, case: Case) -> tuple[str, ...]:
        """The names of the beliefs that recall gives, best first."""
        hits: dict[str, float] = {}
        for scope in case.scopes if case.query.strip() else ():
            asked = RecallArguments(query=case.query, scope=scope_of(case.user, scope), limit=K, max_tokens=20_000)
            for memory in recall(self._services, asked).memories:
                hits[memory.id] = max(hits.get(memory.id, -1e9), memory.score)
        names = {identifier: name for name, identifier in self._ids.items()}
        ordered = sorted(hits, key=lambda identifier: (-hits[identifier], identifier))
        return tuple(names[identifier] for identifier in ordered if identifier in names)[:K]

    def _distance(self, belief: Belief) -> int:
        """How many replacements follow a belief."""
        following = belief["superseded_by"]
        return 0 if following is None else 1 + self._distance(self.by_name[following])


def main() -> None:
    """Save, ask, judge."""
    parser = argument_parser(__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, required=True, help="the folder of the data set")
    arguments = parser.parse_args()
    verdicts = list(_judged(arguments.data))
    groups = {
        "isolation": [one for one in verdicts if one.case.category in ISOLATION],
        "supersession": [one for one in verdicts if one.case.category in SUPERSESSION],
        "rest": [one for one in verdicts if one.case.category not in (*ISOLATION, *SUPERSESSION)],
    }
    figures: dict[str, float] = {}
    for name, group in groups.items():
        figures |= {f"{name}_cases": len(group), f"{name}_passed": sum(not one.faults for one in group)}
    figures["leaks"] = sum("leaked" in fault for one in verdicts for fault in one.faults)
    figures["superseded_shown"] = sum("superseded" in fault for one in verdicts for fault in one.faults)
    figures["exact"] = sum(one.exact for one in verdicts)
    publish(
        Report("precision", figures, {"cases": len(verdicts), "k": K}, ("apsw", "onnxruntime"), _tables(verdicts)),
        as_json=arguments.json,
    )


def _judged(folder: Path) -> Iterator[Verdict]:
    beliefs: list[Belief] = json.loads((folder / "beliefs.seed.json").read_text(encoding="utf-8"))
    for session in _sessions(folder):
        with tempfile.TemporaryDirectory() as home:
            settings = Settings(home=Path(home), scope="/bench", background=False)
            with Engine(settings, clock=lambda: ASKED_AT, load=load_embedder) as engine:
                engine.embedder(WARM_UP_SECONDS)
                saved = Beliefs(engine.services(), beliefs)
                for case in session:
                    yield judged(case, saved)
                    if case.creates is not None:
                        saved.save(case.creates)
                    if case.updates is not None:
                        saved.changed(case.updates["beliefId"], case.updates["addAliases"])


def judged(case: Case, saved: Beliefs) -> Verdict:
    """What comes back for a case and what is wrong with it."""
    found = saved.found(case)
    faults = [*_leaks(case, found, saved), *_wrong_order(case, found, saved)]
    counted = [name for name in found if _counts(saved.by_name[name])]
    return Verdict(case, found, tuple(faults), set(counted) == set(case.wanted))


def _leaks(case: Case, found: Sequence[str], saved: Beliefs) -> Iterator[str]:
    seen = {*case.scopes, UNIVERSAL}
    for name in found:
        belief = saved.by_name[name]
        if belief["user_id"] != case.user or belief["scope"][0] not in seen:
            yield f"{name} leaked"
        elif name in case.unwanted:
            yield f"{name} was not to come back"
        if belief["epistemic_status"] == "superseded" or belief["resolved_at"]:
            yield f"{name} is superseded"


def _wrong_order(case: Case, found: Sequence[str], saved: Beliefs) -> Iterator[str]:
    missing = sorted((case.wanted | (case.current if case.category in SUPERSESSION else frozenset[str]())) - set(found))
    if missing:
        yield f"{', '.join(missing)} did not come back"
    if case.category in (*ISOLATION, *SUPERSESSION):
        return
    counted = [name for name in found if _counts(saved.by_name[name])]
    if not case.wanted and counted:
        yield f"nothing was wanted, {len(counted)} came back, first {counted[0]}"
    ahead = [name for name in counted[: len(case.wanted)] if name not in case.wanted]
    if ahead and not missing:
        yield f"{', '.join(ahead)} came before"


def _counts(belief: Belief) -> bool:
    """Whether a belief is one that only relevance delivers."""
    return not belief["pinned"] and belief["scope"][0] != UNIVERSAL and belief["type"] != "open_question"


def _sessions(folder: Path) -> Iterator[list[Case]]:
    """The single questions share one memory; the sessions share another, which their turns change."""
    single = json.loads((folder / "retrieval.cases.json").read_text(encoding="utf-8"))
    yield [_case(one["caseId"], one["category"], one, one["query"]) for one in single]
    sessions = json.loads((folder / "session-retrieval.cases.json").read_text(encoding="utf-8"))
    yield [
        replace(
            _case(f"{session['caseId']} turn {turn['turnIndex']}", "Drift over a session", turn, turn["userMessage"]),
            creates=turn.get("createBeliefAtTurn"),
            updates=turn.get("updateBeliefAtTurn"),
        )
        for session in sessions
        for turn in session["turns"]
    ]


def _case(name: str, category: str, data: Mapping[str, Any], query: str) -> Case:
    relevant = data["expect"].get("relevantBeliefs", {})
    pinned = data["expect"].get("pinnedFacts", {})
    return Case(
        name=name,
        category=category,
        user=data.get("userId", USER),
        scopes=tuple(data["scope"]),
        query=query,
        wanted=frozenset(relevant.get("shouldOnlyInclude", ())),
        current=frozenset(pinned.get("mustInclude", ())),
        unwanted=frozenset(
            [*relevant.get("mustExclude", ()), *data["expect"].get("noiseCheck", {}).get("mustNotSurface", ())]
        ),
    )


def scope_of(user: str, scope: str) -> str:
    """The product's scope for a user's domain."""
    if scope == UNIVERSAL and user == USER:
        return GLOBAL_SCOPE
    return f"/{user}/{scope.removeprefix('domain:')}"


def _tables(verdicts: Sequence[Verdict]) -> list[Table]:
    categories: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        categories.setdefault(verdict.case.category, []).append(verdict)
    passed = [
        (name, len(group), sum(not one.faults for one in group), sum(one.exact for one in group))
        for name, group in categories.items()
    ]
    failures = [(one.case.name, "; ".join(one.faults)) for one in verdicts if one.faults]
    return [
        Table("Cases", ("category", "cases", "passed", "exact"), passed),
        Table("Failures", ("case", "what is wrong"), failures),
    ]


if __name__ == "__main__":
    main()
