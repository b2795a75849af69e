"""What the demo remembers: the commits of a repository, or a bundled sample where there is no git."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

COMMITS = 150
_GIT_SECONDS = 20
_FIELD, _RECORD = "\x1f", "\x1e"
_FORMAT = f"%h{_FIELD}%ad{_FIELD}%B{_RECORD}"

_TYPE_PREFIX = re.compile(r"^\w+(\([^)]*\))?!?:\s+")
_TRAILER = re.compile(r"^[A-Z][A-Za-z-]+(-by|-on|-id): |^(Fixes|Closes|Refs):? #?\w+", re.IGNORECASE)
# What a subject says when something was chosen over something else, or when a rule was laid down.
_DECISION = re.compile(
    r"\b(instead of|rather than|in favou?r of|no longer|by default|so that|always|never|only|must)\b"
    r"|^(switch|migrate|move) (\S+ ){0,4}(to|from|over)\b"
    r"|^(drop|default|prefer|require|forbid|disallow|stop|deprecate|adopt|choose|pin|limit|standardi[sz]e)\b"
    r"|^(let|allow|keep|hold|refuse|reject|treat)\b"
    r"|^(replace|swap) .+ (with|by)\b"
    r"|^use \S+",
    re.IGNORECASE,
)
_CLAUSE_END = re.compile(r"[,;:(]| and | so that | instead of | rather than | because | since | when | where ")
_QUESTION_WORDS = 7
_FEWEST_WORDS = 3
_QUESTIONS_OF_EACH_KIND = 2


@dataclass(frozen=True, slots=True)
class Item:
    """One thing to save: the day it was said or done (ISO), its kind, its text, where it comes from, who says so."""

    on: str
    kind: str
    text: str
    source: str | None = None
    said_by: str = "tool"


@dataclass(frozen=True, slots=True)
class Material:
    """What a demo works with: a name for people, what to save in the order it happened, what to ask."""

    name: str
    items: tuple[Item, ...]
    questions: tuple[str, ...]


def repository_of(folder: Path) -> Path | None:
    """The root of the repository that a folder lies in, or None where there is no git or no repository."""
    found = _git(folder, "rev-parse", "--show-toplevel")
    return Path(found.strip()) if found and found.strip() else None


def from_repository(folder: Path) -> Material | None:
    """The newest commits of a repository, oldest first; None where git shows none."""
    log = _git(folder, "log", f"--max-count={COMMITS}", "--no-merges", "--date=short", f"--format={_FORMAT}")
    commits = [commit for record in (log or "").split(_RECORD) if (commit := _commit(record)) is not None]
    if not commits:
        return None
    items = tuple(reversed(commits))
    return Material(f"the history of {folder}", items, tuple(_questions(items)))


def from_sample() -> Material:
    """The bundled sample: three months of an invented project."""
    lines = resources.files(__package__ or "").joinpath("sample.jsonl").read_text(encoding="utf-8").splitlines()
    records = [json.loads(line) for line in lines]
    items = tuple(Item(**record, source="project diary") for record in records if "text" in record)
    questions = tuple(record["question"] for record in records if "question" in record)
    return Material("the bundled sample of an invented project", items, questions)


def is_decision(message: str) -> bool:
    """Whether a commit's subject shows that something was chosen, or a rule laid down."""
    return _DECISION.search(_TYPE_PREFIX.sub("", message.partition("\n")[0])) is not None


def question_about(item: Item) -> str:
    """A question that an item answers, from the first words of its subject."""
    words = _clause(item)[:_QUESTION_WORDS]
    asked = " ".join([words[0][:1].lower() + words[0][1:], *words[1:]]) if words else "do this"
    return f"Why did we {asked}?" if item.kind == "decision" else f"When did we {asked}?"


def _clause(item: Item) -> list[str]:
    """The words of a subject up to its first pause."""
    subject = _TYPE_PREFIX.sub("", item.text.partition("\n")[0]).rstrip(".")
    return _CLAUSE_END.split(subject)[0].split()


def _commit(record: str) -> Item | None:
    parts = record.strip("\n").split(_FIELD)
    if len(parts) != 3 or not parts[2].strip():  # noqa: PLR2004 - the fields of _FORMAT
        return None
    identifier, on, message = parts
    kind = "decision" if is_decision(message) else "episode"
    return Item(on, kind, _told(message), f"commit {identifier}")


def _told(message: str) -> str:
    """A commit's subject and the first paragraph of its body, without trailers."""
    subject, _, body = message.strip().partition("\n")
    lines = [line for line in body.strip().split("\n\n")[0].splitlines() if not _TRAILER.search(line)]
    reason = " ".join(" ".join(lines).split())
    return f"{subject.rstrip('.')}.\n{reason}" if reason else subject


def _questions(items: Sequence[Item]) -> Iterable[str]:
    for kind in ("decision", "episode"):
        # Short clauses make readable questions; they are spread over the whole history.
        some = [item for item in items if item.kind == kind and _FEWEST_WORDS <= len(_clause(item)) <= _QUESTION_WORDS]
        step = max(1, len(some) // _QUESTIONS_OF_EACH_KIND)
        yield from (question_about(item) for item in some[step // 2 :: step][:_QUESTIONS_OF_EACH_KIND])


def _git(folder: Path, *arguments: str) -> str | None:
    """What git says, or None when it is missing, refuses or takes too long."""
    try:
        done = subprocess.run(  # noqa: S603 - the arguments are ours
            ["git", "-C", str(folder), *arguments],  # noqa: S607 - git is wherever PATH has it
            capture_output=True,
            check=True,
            timeout=_GIT_SECONDS,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.decode("utf-8", "replace")
