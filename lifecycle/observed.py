"""Observations read again: who spoke, which tool was called with what, and whether it failed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from ..encoding.extract import clipped
from ..encoding.own_words import runs_ebbing, without_own_output
from ..schemas.memory import Memory

_EVENTS = frozenset({"user-prompt-submit", "prompt", "stop", "subagent-stop", "post-tool-use", "post-tool-use-failure"})
_CALL = re.compile(r"(?P<tool>[\w.-]{1,100}): ?(?P<called>.*)")
_FAILED = "failed: "
_EDITS = re.compile(
    r"^(?:multi|notebook|str_replace_based_)?edit|^write|^create|^apply_patch|^str_replace|^insert", re.IGNORECASE
)
_RUNS = re.compile(r"^(?:bash|shell|sh|exec|terminal|run|powershell|command)", re.IGNORECASE)
_FAILURE = re.compile(
    r"^(?:.*\b(?:exit(?:ed)?(?: with)?(?: code| status)?|returned(?: non-zero exit status)?):? [1-9]\d*\b"
    r"|Traceback \(most recent call last\)|npm ERR!|.*command not found|fatal: |panic: |FAIL(?:ED)?\b"
    r"|.*\b[1-9]\d* (?:tests? )?failed\b|(?:[\w.]+\.)?[A-Z]\w*(?:Error|Exception)\b|error(?:\[\w+\])?: )",
    re.MULTILINE,
)
_PREFIX = re.compile(r"^(?:failed: |E (?=\S)|> )+")
_NAMED_ERROR = re.compile(
    r"\w*(?:Error|Exception)\b|\bnot found|no such|cannot|can['’]t|denied|missing|undefined|refused|panic",
    re.IGNORECASE,
)
_ERROR_LINE = re.compile(
    r"\b(?:error|failed|fatal|unexpected|timed? ?out|invalid|unknown|exit code [1-9]\d*)\b", re.IGNORECASE
)
# What an error says is kept as evidence; a line that tells its reader what to do may have been planted.
_TELLS = re.compile(
    r"\b(?:ignore|instructions?|you (?:must|should|are)|always|never|assistant|system prompt|please|disregard|do not"
    r"|don['’]t)\b",
    re.IGNORECASE,
)
_LONGEST_ERROR = 160
# What is handed over names no command by itself; what reads like prose is what a tool printed.
_LONGEST_COMMAND = 120
_PROSE = re.compile(r"[.!?] +[A-Z]|[.!?]$")


class Act(StrEnum):
    """What an observation is of."""

    ASKED = "asked"
    SAID = "said"
    RAN = "ran"
    EDITED = "edited"
    LOOKED = "looked"
    NOTED = "noted"


@dataclass(frozen=True, slots=True)
class Observed:
    """One observation: `called` is a tool's input, `text` what came back or was said, without ebbing's own output."""

    memory: Memory
    act: Act
    tool: str
    called: str
    text: str
    failed: bool

    @property
    def error(self) -> str:
        """The line that says what went wrong, at most 160 characters; empty where none does."""
        lines = [_PREFIX.sub("", " ".join(line.split())) for line in self.text.splitlines()]
        harmless = [line for line in lines if not _TELLS.search(line)]
        named = [line for line in harmless if _NAMED_ERROR.search(line)]
        telling = named or [line for line in harmless if _ERROR_LINE.search(line)]
        if not telling:
            return ""
        # A traceback says at its end what went wrong, a compiler at its beginning.
        return clipped(telling[-1] if "Traceback" in self.text else telling[0], _LONGEST_ERROR)


def read(memory: Memory) -> Observed:
    """An observation as it was made."""
    event = memory.provenance.tool or ""
    actor = memory.provenance.actor
    own = without_own_output(memory.content).strip()
    if actor == "user":
        return Observed(memory, Act.ASKED, "", "", own, failed=False)
    if event in ("stop", "subagent-stop"):
        return Observed(memory, Act.SAID, "", "", own, failed=False)
    if event in ("post-tool-use", "post-tool-use-failure"):
        return _hooked(memory, own, failed=event == "post-tool-use-failure")
    if actor in ("tool", "outside") and event not in _EVENTS:
        return _handed_over(memory, event, own)
    return Observed(memory, Act.NOTED, "", "", own, failed=own.startswith(_FAILED))


def _hooked(memory: Memory, own: str, *, failed: bool) -> Observed:
    first, _, rest = own.partition("\n")
    call = _CALL.match(first)
    tool, called = (call["tool"], call["called"]) if call else ("", first)
    return _called(memory, tool, called, rest, failed=failed)


def _handed_over(memory: Memory, tool: str, own: str) -> Observed:
    failed = own.startswith(_FAILED)
    first, _, rest = own.removeprefix(_FAILED).partition("\n")
    called, colon, said = first.removeprefix("$ ").partition(": ")
    if len(called) > _LONGEST_COMMAND or _PROSE.search(called):
        return _called(memory, tool, "", own, failed=failed)
    return _called(memory, tool, called, f"{said}\n{rest}" if colon else rest, failed=failed)


def _called(memory: Memory, tool: str, called: str, text: str, *, failed: bool) -> Observed:
    act = Act.EDITED if _EDITS.search(tool) else Act.RAN if _RUNS.search(tool) else Act.LOOKED
    if act is Act.RAN and runs_ebbing(called):
        return Observed(memory, Act.LOOKED, tool, "", "", failed=False)
    is_failure = failed or (act is Act.RAN and _FAILURE.search(_printed(text)) is not None)
    return Observed(memory, act, tool, called.strip(), _printed(text), is_failure)


def _printed(text: str) -> str:
    """What a tool printed: its answer may be JSON, whose strings hold line ends as two characters."""
    return text.replace("\\n", "\n") if text.startswith("{") else text
