"""What an erase would touch, and what it has done, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from ..lifecycle.erased_rows import along
from ..lifecycle.erasure import Erased, holding
from ..schemas.memory import Memory
from ..store.store import Store

_NAMED: Final = 10


def touched_text(store: Store, memories: Sequence[Memory]) -> str:
    """What else an erase of some memories would change, as lines to follow their list; "" if nothing."""
    texts = [memory.content for memory in memories]
    found = along(store, memories, texts, {memory.scope for memory in memories})
    ids = {memory.id for memory in (*memories, *found.gists, *found.removed)}
    prompts, backups = holding(store, ids, [*texts, *(memory.content for memory in found.removed)])
    lines = (
        _listed("merged into them, erased too", [_named(copy) for copy in found.copies]),
        _listed("say nothing else, erased too", [_named(memory) for memory in found.same]),
        _listed("gists that quote them, erased too", [_named(gist) for gist in found.gists]),
        _listed("go on without their words", list(found.cut_ids)),
        _listed("soft prompts that lose lines", [path.name for path in prompts]),
        _listed("backups that are rewritten", [path.name for path in backups]),
    )
    return "".join(f"\n{line}" for line in lines if line)


def erased_text(count: int, done: Erased) -> str:
    """What an erase of `count` memories has done."""
    return " ".join([f"{count} erased.", *_along(done), *_backups(done), *_checked(done)])


def _along(done: Erased) -> Iterator[str]:
    parts = (
        (len(done.removed), "memories that said the same"),
        (done.gists, "gists that quoted them"),
        (done.lines, "lines of the spool"),
        (done.prompts, "soft prompts' lines"),
    )
    went = ", ".join(f"{number} {what}" for number, what in parts if number)
    if went:
        yield f"With them went: {went}."
    if done.cut:
        yield f"Their words were cut out of {len(done.cut)} other memories: {_few(done.cut)}."


def _backups(done: Erased) -> Iterator[str]:
    rewritten = [name for name, outcome in done.backups.items() if outcome == "rewritten"]
    removed = [name for name, outcome in done.backups.items() if outcome == "removed"]
    if rewritten:
        yield f"Backups rewritten without them: {', '.join(rewritten)}."
    if removed:
        yield f"Backups removed, since they could not be rewritten: {', '.join(removed)}."


def _checked(done: Erased) -> Iterator[str]:
    if done.elsewhere:
        yield f"{done.elsewhere} other memories hold the same words and were left alone."
    if done.left:
        yield f"A copy may remain: {'; '.join(done.left)}."
    elif not done.recognisable:
        yield "So short a text can't be searched for in files."
    else:
        yield "No trace is left in any file." if not done.elsewhere else "No other trace is left in any file."


def _named(memory: Memory) -> str:
    return f"{memory.id} ({memory.kind}) {memory.cue}"


def _listed(what: str, names: Sequence[str | Path]) -> str:
    return f"{len(names)} {what}: {_few([str(name) for name in names])}" if names else ""


def _few(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more
