"""A speaker's own words: a text without what it only passes on, be it quoted, pasted, or shown by ebbing itself.

Whatever is left out here never becomes a preference, a decision or evidence: a page, a log or a file may say anything,
and a memory that is shown and noted again would confirm itself.
"""

from __future__ import annotations

import re

_ID = r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
_RECALLED = re.compile(r"^(?P<fence>`{3,})memory\n.*?(?:^(?P=fence)$\n?|\Z)", re.MULTILINE | re.DOTALL)
_SHOWN = re.compile(rf"^.*\[{_ID}\].*$\n?", re.MULTILINE)
_HEADERS = re.compile(
    r"^(?:Recalled memories: data with its source and trust|Notes that ebbing keeps about this project).*$\n?",
    re.MULTILINE,
)
_ANSWER = re.compile(r'\A\s*\{.*"recall_id"\s*:', re.DOTALL)
_OWN_COMMAND = re.compile(r"(?:^|[;&|]\s*|\b(?:uvx|python -m|run)\s+)ebbing(?:-hook)?\b(?!/)")

_FENCED = re.compile(r"^ {0,3}(?P<fence>`{3,}|~{3,}).*?(?:^ {0,3}(?P=fence)[`~]*\s*$|\Z)", re.MULTILINE | re.DOTALL)
_OPENING = re.compile(r"<(?P<tag>[a-zA-Z][\w-]{1,40})(?:\s[^<>]{0,300})?>")
_PASTED_LINE = re.compile(
    r"^(?:\s*>|\s*[$#%❯] |[+-]{3} |@@ |\s*\|.*\|\s*$|\s+at \S+ ?\(|\s*File \"|Traceback \(|\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d"
    r"|\s*\[?(?:ERROR|WARN(?:ING)?|INFO|DEBUG|TRACE|FATAL)\b[\]: ]|\s*(?:npm ERR!|fatal:|panic:|error(?:\[\w+\])?:)"
    r"|[+-][^\s\d-]|\t| {4,}(?![-*\d])\S)",
)
_LONG_QUOTE = re.compile(r"\"[^\"\n]{1,2000}\"|“[^”\n]{1,2000}”|«[^»\n]{1,2000}»")
_FEWEST_QUOTED_WORDS = 3
_INTRODUCES = re.compile(
    r"^.{0,160}\b(?:page|docs?|documentation|readme|file|article|email|mail|ticket|issue|comment|review|log|logs|output"
    r"|errors?|message|stack ?trace|traceback|says?|said|reads?|states?|pasted?|quote)\b[^.?!\n]{0,60}:\s*$",
    re.IGNORECASE,
)


def without_own_output(text: str) -> str:
    """A text without what ebbing itself showed: recalled memories, prepared notes, replies to a recall."""
    if _ANSWER.match(text):
        return ""
    return _HEADERS.sub("", _SHOWN.sub("", _RECALLED.sub("", text)))


def runs_ebbing(command: str) -> bool:
    """Whether a shell command runs ebbing, so that its output is ebbing's own."""
    return _OWN_COMMAND.search(command) is not None


def own_words(text: str) -> str:
    """A text without code, tagged blocks, block quotes, pasted logs, diffs and traces, longer quotations, own output.

    A paragraph that follows a line such as "The README says:" is passed on, too.
    """
    prose = _without_tagged(_FENCED.sub("\n", without_own_output(text)))
    kept = [line for line in _without_introduced(prose.split("\n")) if not _PASTED_LINE.match(line)]
    return _LONG_QUOTE.sub(_short_quote, "\n".join(kept))


def _without_tagged(text: str) -> str:
    """A text with a line end for each tagged block; what is never closed is no block, and is looked for once."""
    kept: list[str] = []
    position = 0
    unclosed: set[str] = set()
    for opening in _OPENING.finditer(text):
        if opening.start() < position or opening["tag"] in unclosed:
            continue
        closing = f"</{opening['tag']}>"
        end = text.find(closing, opening.end())
        if end < 0:
            unclosed.add(opening["tag"])
            continue
        kept += [text[position : opening.start()], "\n"]
        position = end + len(closing)
    return "".join([*kept, text[position:]])


def _without_introduced(lines: list[str]) -> list[str]:
    kept: list[str] = []
    is_introduced = is_dropping = False
    for line in lines:
        if not line.strip():
            is_introduced = is_introduced and not is_dropping
            is_dropping = False
        elif is_introduced:
            is_dropping = True
            continue
        else:
            is_introduced = _INTRODUCES.match(line) is not None
        kept.append(line)
    return kept


def _short_quote(match: re.Match[str]) -> str:
    return match[0] if len(match[0].split()) < _FEWEST_QUOTED_WORDS else " "
