"""What happens in the demo, in order. Every figure and text it shows comes back from the server or the hook."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...schemas.errors import EbbingError
from ...schemas.ids import new_id
from ...schemas.instants import MICROSECONDS_PER_DAY
from ...schemas.memory import State
from .history import Item, Material
from .talk import Place, Talk, append_sessions, server, session_start
from .view import View, resolution

PREFERENCES: tuple[tuple[str, bool], ...] = (
    ("Run the whole test suite before pushing, never only the tests that changed.", False),
    ("Prefer the standard library to a new dependency when it takes less than fifty lines.", False),
    ("Write commit messages as one short sentence in the imperative, with the reason in the body.", False),
    ("Never log personal data, not even at debug level.", True),
)
"""What a user might have said: the text, and whether it is pinned."""

_PREFERENCE_QUESTIONS = ("should I run all tests before a push?", "can I add a dependency?")
_UNANSWERABLE = "which wine goes well with grilled trout?"
_STRIDES = 3
_GROUP = 3
_EXAMPLES = 2
_QUESTION_WORDS = 6
_FADED_STATES = ("archive", "forgotten", "cold")


@dataclass(slots=True)
class Saved:
    """A memory of the demo: its id, what it was made of."""

    id: str
    item: Item


@dataclass(slots=True)
class Story:
    """One demo; `told` collects what it found for --json."""

    place: Place
    scope: str
    material: Material
    days: int
    view: View
    saved: list[Saved] = field(default_factory=list[Saved])
    kept_in_use: list[str] = field(default_factory=list[str])
    used_for_a_while: list[str] = field(default_factory=list[str])
    used_once: list[str] = field(default_factory=list[str])
    told: dict[str, Any] = field(default_factory=dict[str, Any])
    started: int = 0

    async def tell(self) -> dict[str, Any]:
        """Run the whole demo.

        Raises:
            EbbingError: if the server refuses something or what must hold does not.
        """
        self.started = time.time_ns() // 1000
        async with server(self.place) as talk:
            await self._meet(talk)
            await self._save(talk)
            await self._ask(talk)
            await self._use_first(talk)
        self.view.heading(f"{self.days} days of work pass; the server is stopped and started again on later days")
        for stride in range(1, _STRIDES + 1):
            await self._stride(stride)
        self._inject()
        return self.told

    async def _meet(self, talk: Talk) -> None:
        tools = [tool.name for tool in (await talk.client.list_tools()).tools]
        info = talk.client.server_info
        about = f"{info.name} {info.version}" if info else "unnamed"
        self.told["tools"] = tools
        self.view.heading("A client starts the server and connects over standard input and output")
        self.view.line(f"server {about}, protocol {talk.client.protocol_version}")
        self.view.line(f"tools: {', '.join(tools)}")

    async def _save(self, talk: Talk) -> None:
        self.view.heading(f"It saves {self.material.name}, and what the user likes")
        wanted = [(item, False) for item in self.material.items]
        today = time.strftime("%Y-%m-%d", time.gmtime())
        wanted += [(Item(today, "preference", text, None, "user"), pinned) for text, pinned in PREFERENCES]
        operations: dict[str, int] = {}
        with self.view.progress("saving") as progress:
            for number, (item, pinned) in enumerate(wanted):
                progress(number, len(wanted), item.kind)
                reply = await talk.call("save", **_save_arguments(item, pinned=pinned))
                operations[reply["operation"]] = operations.get(reply["operation"], 0) + 1
                self.saved.append(Saved(reply["id"], item))
        kinds = [item.kind for item, _ in wanted]
        counts = {kind: kinds.count(kind) for kind in dict.fromkeys(kinds)}
        self.told |= {"saved": counts, "operations": operations}
        self.view.line(", ".join(f"{count} {kind}s" for kind, count in counts.items()))
        for kind in counts:
            example = next(saved.item for saved in self.saved if saved.item.kind == kind)
            self.view.line(f"{kind}: {example.text}", mark="+")

    async def _ask(self, talk: Talk) -> None:
        self.view.heading("It asks")
        answers: list[dict[str, Any]] = []
        for question in (*self.material.questions, *_PREFERENCE_QUESTIONS, _UNANSWERABLE):
            reply = await talk.call("recall", query=question, limit=3)
            found = reply["memories"]
            answers.append({"question": question, "answers": [memory["text"] for memory in found]})
            self.view.line(question, mark="?")
            if not found:
                self.view.line("nothing relevant is remembered", mark="-")
                continue
            best = found[0]
            origin = f" ({best['source']})" if best.get("source") else ""
            self.view.line(f"{best['kind']}{origin}: {best['text']}", mark=">", whole=True)
            if question != _UNANSWERABLE and best["id"] not in self.kept_in_use:
                self.kept_in_use.append(best["id"])
        self.told["questions"] = answers

    async def _use_first(self, talk: Talk) -> None:
        self.view.heading("It says which memories it acted on: used memories stay sharp")
        rest = [one.id for one in self._by_durability() if one.id not in self.kept_in_use]
        spread = rest[:: max(1, len(rest) // (3 * _GROUP))]
        self.used_for_a_while, self.used_once = spread[:_GROUP], spread[_GROUP : 2 * _GROUP]
        first = [*self.kept_in_use, *self.used_for_a_while, *self.used_once]
        reply = await talk.call("learn", signal="used", memory_ids=first)
        self.told["used"] = len(reply["changed"])
        self.view.line(reply["text"])

    def _by_durability(self) -> list[Saved]:
        """What may be used for a while: decisions first, since episodes are made to fade."""
        unique = {saved.id: saved for saved in self.saved if saved.item.kind != "preference"}
        return sorted(unique.values(), key=lambda saved: saved.item.kind != "decision")

    async def _stride(self, stride: int) -> None:
        before, day = (self.days * step // _STRIDES for step in (stride - 1, stride))
        marks = [self.started + number * MICROSECONDS_PER_DAY for number in range(before + 1, day + 1)]
        append_sessions(self.place, self.scope, [(new_id(at), at) for at in marks])
        async with server(self.place, day) as talk:
            with self.view.progress(f"day {day}") as progress:
                reply = await talk.call("consolidate", progress)
            changed = ", ".join(f"{step['name']} {step['changed']}" for step in reply["steps"] if step["changed"])
            self.view.line(f"day {day:>3}: the daily run changed {changed or 'nothing'}")
            if stride < _STRIDES:
                await self._use_again(talk, stride)
            else:
                self.told["daily_run"] = {step["name"]: step["changed"] for step in reply["steps"]}
                await self._show_states(talk)
                await self._bring_back(talk)

    async def _use_again(self, talk: Talk, stride: int) -> None:
        used = [*self.kept_in_use, *(self.used_for_a_while if stride == 1 else [])]
        if used:
            reply = await talk.call("learn", signal="used", memory_ids=used)
            self.view.line(f"{' ' * 7} {len(reply['changed'])} of them are used again")

    async def _show_states(self, talk: Talk) -> None:
        self.view.heading(f"What {self.days} active days left of them")
        memories = [await talk.memory(one.id) for one in {one.id: one for one in self.saved}.values()]
        states = Counter(memory["strength"]["state"] for memory in memories)
        counts = {state.label: states[state.label] for state in State}
        self.told["by_state"] = counts
        for state in State:
            some = [memory for memory in memories if memory["strength"]["state"] == state.label]
            self.view.plain(f"     {state.label:<10} {len(some):>4}  {_MEANING[state]}{_bits(some)}")
            for memory in sorted(some, key=lambda one: -one["strength"]["uses"])[:_EXAMPLES]:
                uses = memory["strength"]["uses"]
                self.view.line(f"{memory['kind']}, {_times(uses)}: {resolution(memory)}", mark="         ·")

    async def _bring_back(self, talk: Talk) -> None:
        faded = await self._faded(talk)
        if faded is None:
            self.view.line("nothing has faded that far yet: try more --days")
            return
        identifier, question = faded
        self.view.heading("A faded memory comes back when it is used")
        self.view.line(question, mark="?")
        before = await self._found(talk, question, identifier)
        self._show_found("before", before)
        await talk.call("learn", signal="used", memory_ids=[identifier])
        after = await self._found(talk, question, identifier)
        self._show_found("after the use", after)
        if after is None or after["state"] != State.ACTIVE.label:
            raise EbbingError("the faded memory did not come back with its use")
        self.told["brought_back"] = {"question": question, "before": before, "after": after}

    def _show_found(self, when: str, memory: dict[str, Any] | None) -> None:
        text = "not found" if memory is None else f"{memory['state']}: {memory['text']}"
        self.view.line(f"{when}, {text}", mark=">", whole=True)

    async def _faded(self, talk: Talk) -> tuple[str, str] | None:
        """A faded memory with more to it than its cue, and the words to find it by: the most telling case."""
        for state in _FADED_STATES:
            for one in self._by_durability():
                memory = await talk.memory(one.id)
                if memory["strength"]["state"] == state and len(memory["content"]) > len(resolution(memory)):
                    question = " ".join(str(memory["cue"]).split()[:_QUESTION_WORDS]).rstrip(".,;:")
                    if await self._found(talk, question, one.id) is not None:
                        return one.id, question
        return None

    async def _found(self, talk: Talk, question: str, identifier: str) -> dict[str, Any] | None:
        reply = await talk.call("recall", query=question, include_faded=True, limit=10, max_tokens=4000)
        return next((memory for memory in reply["memories"] if memory["id"] == identifier), None)

    def _inject(self) -> None:
        self.view.heading("What the SessionStart hook gives the next session to read")
        text = session_start(self.place)
        if not text:
            raise EbbingError("the session-start hook injected nothing")
        self.told["soft_prompt"] = text
        self.view.block(text)


_MEANING = {
    State.ACTIVE: "whole text",
    State.WARM: "whole text",
    State.COLD: "only the gist is shown",
    State.ARCHIVE: "only a cue is shown, the whole text on request",
    State.FORGOTTEN: "found only when faded memories are asked for",
}


def _save_arguments(item: Item, *, pinned: bool) -> dict[str, Any]:
    given = {"content": item.text, "kind": item.kind, "valid_from": item.on, "said_by": item.said_by, "pinned": pinned}
    return {**given, "source": item.source} if item.source else given


def _bits(memories: Sequence[Mapping[str, Any]]) -> str:
    widths = sorted({memory["strength"]["bit_width"] for memory in memories}, reverse=True)
    return f"; embeddings of {' or '.join(map(str, widths))} bits a number" if widths else ""


def _times(uses: int) -> str:
    return "never used" if not uses else "used once" if uses == 1 else f"used {uses} times"
