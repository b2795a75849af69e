"""Files to import: our own format, and what other memories write."""

from __future__ import annotations

import json
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, cast

from fuzz_store import Logged, judge_error, logged, world_in
from fuzz_values import DATES, MARK, SECRET, as_json, damaged, deep_values, objects, spoiled, telling_texts, texts
from fuzzing import Check, Target
from hypothesis import strategies as st
from world import START, World

from ebbing.encoding.foreign.notes import Document
from ebbing.encoding.foreign.registry import FORMATS, recognised
from ebbing.schemas.errors import EbbingError
from ebbing.server.clients.placement import as_list, as_object
from ebbing.tools.foreign import import_notes
from ebbing.tools.recall import RecallArguments, recall
from ebbing.tools.transfer.export import export
from ebbing.tools.transfer.load import load

Record = dict[str, Any]

_MOST_NOTES: Final = 12


@cache
def sample_export() -> tuple[str, ...]:
    """The lines of an export with every type of record in it."""
    with TemporaryDirectory(prefix="ebbing-fuzz-") as folder, World(Path(folder, "home"), now=START) as world:
        for number in range(4):
            world.save(f"The {number}. harbour closes at {number + 4} pm.", "decision", tags=("harbour",))
            world.work_days(2)
        recall(world.services, RecallArguments(query="when does the harbour close"))
        world.pass_days(200)
        world.run_daily()
        written = BytesIO()
        export(world.services.store, written)
    return tuple(written.getvalue().decode().splitlines())


def _changed(record: Record, path: tuple[int, ...], value: Any) -> Record:
    """A record with one of its values, however deep, replaced."""
    names = list(record)
    name = names[path[0] % len(names)]
    old = record[name]
    inner, items = as_object(old), as_list(old)
    if len(path) > 1 and inner:
        return {**record, name: _changed(inner, path[1:], value)}
    return {**record, name: [value, *items[1:]] if len(path) > 1 and items else value}


_places = st.lists(st.integers(0, 40), min_size=1, max_size=3).map(tuple)


@st.composite
def exports(draw: st.DrawFn) -> bytes:
    """An export, some of whose records were tampered with."""
    lines = list(sample_export())
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(lines) - 1))
        action = draw(st.sampled_from(["change", "change", "change", "drop", "double", "member", "replace"]))
        found: Any = json.loads(lines[at])
        record = cast("Record", found) if isinstance(found, dict) and found else {"type": "memory"}
        if action == "change":
            lines[at] = as_json(_changed(record, draw(_places), draw(deep_values)))
        elif action == "member":
            lines[at] = as_json({**record, draw(texts(8)): draw(deep_values)})
        elif action == "replace":
            lines[at] = as_json(draw(deep_values))
        else:
            lines[at : at + 1] = [] if action == "drop" else [lines[at], lines[at]]
        lines = lines or [""]
    return "\n".join(lines).encode("utf-8", "surrogatepass")


_entity = spoiled(
    {
        "type": st.sampled_from(["entity", "relation"]),
        "name": telling_texts(),
        "entityType": texts(8),
        "observations": st.lists(st.one_of(telling_texts(), objects), max_size=3),
        "from": texts(8),
        "to": texts(8),
        "relationType": texts(8),
    },
    needed=4,
)
_mem0 = spoiled(
    {
        "memory": telling_texts(),
        "created_at": st.one_of(st.sampled_from(DATES), texts(10)),
        "metadata": objects,
        "categories": st.lists(st.one_of(st.just("preference"), texts(8)), max_size=3),
    },
    needed=1,
)
_lines_of_markdown = st.one_of(
    st.sampled_from(
        [
            "---",
            "title: Notes",
            "permalink: a/b",
            "tags: [a, b, '#c']",
            f"created: {DATES[3]}",
            "type: feedback",
            "# Title",
            "## Decisions",
            "- [decision] use apsw #db (because)",
            "- relates to [[Other]]",
            "- [x] done",
            "1. first",
            "   ```sh",
            "```",
            "<!-- comment",
            "-->",
            "***",
            "- [topic](topic.md)",
            "@import",
            f"The word is {MARK} {SECRET} here.",
        ]
    ),
    telling_texts(),
    texts(),
)
_foreign = st.one_of(
    st.lists(_entity, max_size=4).map(lambda items: "\n".join(map(as_json, items))),
    st.one_of(
        st.lists(_mem0, max_size=4),
        st.fixed_dictionaries({"results": st.lists(_mem0, max_size=3), "relations": deep_values}),
    ).map(as_json),
    st.lists(_lines_of_markdown, max_size=12).map("\n".join),
)
_file_names = st.sampled_from(["MEMORY.md", "topic.md", "CLAUDE.md", "memory.json", "notes.markdown"])
_documents = st.lists(
    st.tuples(
        _file_names,
        damaged(_foreign.map(lambda text: text.encode("utf-8", "surrogatepass"))).map(
            # As the files are read.
            lambda data: data.decode("utf-8-sig", "replace")
        ),
    ),
    min_size=1,
    max_size=2,
)
_inputs = st.one_of(
    st.tuples(st.just("export"), st.one_of(exports(), damaged(exports())), st.booleans()),
    st.tuples(st.sampled_from(sorted(FORMATS)), _documents, st.booleans()),
)


class _Import:
    def __init__(self, world: World, log: Logged) -> None:
        self._world = world
        self._log = log
        self.kept: set[str] = set()

    def judge(self, given: tuple[str, Any, bool]) -> None:
        """The file is taken in whole, in part or not at all, and what was there before still is."""
        name, content, flag = given
        self._world.now += 60_000_000
        try:
            if name == "export":
                load(self._world.services, BytesIO(content), skip_bad=flag, dry_run=content[-1:] == b"}")
            else:
                self._take(name, [Document(file, f"/notes/{file}", text) for file, text in content], trusted=flag)
        except EbbingError as error:
            judge_error(error)
        recall(self._world.services, RecallArguments(query="lamp of the lighthouse and harbour"))
        self._log.judge()

    def _take(self, name: str, documents: list[Document], *, trusted: bool) -> None:
        recognised(documents)
        reading = FORMATS[name].read(documents)
        done = import_notes(
            self._world.services, reading.notes[:_MOST_NOTES], scope=self._world.services.scope, trusted=trusted
        )
        for _, why in (*reading.problems, *done.refused):
            judge_error(why)
        again = import_notes(self._world.services, reading.notes[:_MOST_NOTES], scope=self._world.services.scope)
        assert again.added == 0, "importing twice adds something"


@contextmanager
def _opened(folder: Path) -> Generator[Check]:
    with world_in(folder) as world, logged() as log:
        yield _Import(world, log).judge
        world.run_daily()
        log.judge()
        export(world.services.store, BytesIO())


IMPORTS = Target(
    "imports",
    "exports whose records were tampered with, and foreign files that are nearly right, to the importers",
    _inputs,
    _opened,
    examples=150,
    suite=20,
)
