"""Markdown as notes: a note for each item and paragraph, led by its headings so that it can stand alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ...schemas.memory import Kind
from .notes import Document, Note, Reading

_HEADING = re.compile(r" {0,3}(#{1,6})\s+(.*)$")
_ITEM = re.compile(r"( {0,3})(?:[-*+]|\d{1,9}[.)])\s+(.*)$")
_FENCE = re.compile(r"\s*(```+|~~~+)")
_RULE = re.compile(r"\s*([-*_])(\s*\1){2,}\s*$")
_COMMENT = "<!--", "-->"
_FRONT = re.compile(r"\A\ufeff?---[ \t]*\r?\n(.*?)^---[ \t]*\r?$\n?", re.DOTALL | re.MULTILINE)
_FIELD = re.compile(r"[ \t]*([\w-]+):[ \t]*(.*)$")
_LISTED = re.compile(r"\s*-\s+(.*)$")
_CHECKBOX = re.compile(r"\[[ xX]\]\s+")

# Read in this order: what a heading announces, and how a sentence begins.
_HEADED: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    (Kind.DECISION, re.compile(r"\b(decision|decided|adr|rationale|why)", re.IGNORECASE)),
    (
        Kind.PROCEDURE,
        re.compile(
            r"\b(command|build|test|run|setup|set up|install|workflow|release|deploy|how to|step)", re.IGNORECASE
        ),
    ),
    (
        Kind.PREFERENCE,
        re.compile(r"\b(style|convention|preference|prefer|guideline|rule|principle|tone|do not|don.t)", re.IGNORECASE),
    ),
)
_WISH = re.compile(r"\W*(always|never|prefer|avoid|use|do not|don.t|keep|write|make sure|must|please)\b", re.IGNORECASE)
_DECIDED = re.compile(r"\b(we (chose|decided|use|picked)|decided (to|on)|instead of .* because)\b", re.IGNORECASE)


@dataclass(slots=True)
class Block:
    """A paragraph or list item below its headings, outermost first; fenced code stays with what announces it."""

    headings: tuple[str, ...]
    lines: list[str]
    item: bool = False
    lead: str = ""

    @property
    def text(self) -> str:
        """The text without its mark, led by the sentence that announced it."""
        body = "\n".join(self.lines).strip()
        return f"{self.lead} {body}" if self.lead else body


def read(documents: Sequence[Document]) -> Reading:
    """Every item and paragraph of Markdown files."""
    reading = Reading()
    for document in documents:
        reading.notes += notes_of(document)
    return reading


def notes_of(document: Document, tags: tuple[str, ...] = ()) -> list[Note]:
    """Every item and paragraph of one file."""
    _, body = front_matter(document.text)
    return [Note(said(block), kind_of(block), document.source, tags) for block in blocks(body) if not _is_noise(block)]


def said(block: Block) -> str:
    """A block's text with the headings that it needs to be understood: those below the title, else the title."""
    headings = block.headings[1:] or block.headings
    return f"{' › '.join(headings)}: {block.text}" if headings else block.text


def kind_of(block: Block) -> Kind:
    """What sort of thing a block says, by its text and its headings; a fact where neither tells."""
    if _DECIDED.search(block.text):
        return Kind.DECISION
    for kind, pattern in _HEADED:
        if any(pattern.search(heading) for heading in block.headings[1:] or block.headings):
            return kind
    return Kind.PREFERENCE if _WISH.match(block.text) else Kind.FACT


def front_matter(text: str) -> tuple[dict[str, str], str]:
    """The fields above a Markdown text, nested ones too, lists joined with commas; and the text below."""
    found = _FRONT.match(text)
    if found is None:
        return {}, text
    fields: dict[str, str] = {}
    name = ""
    for line in found[1].splitlines():
        if matched := _FIELD.match(line):
            name = matched[1].lower()
            fields[name] = _plain(matched[2])
        elif (listed := _LISTED.match(line)) and name:
            fields[name] = ", ".join(filter(None, (fields[name], _plain(listed[1]))))
    return fields, text[found.end() :]


def listed(value: str) -> tuple[str, ...]:
    """The items of a field that is a list."""
    return tuple(filter(None, (_plain(part).lstrip("#") for part in value.split(","))))


def blocks(text: str) -> Iterator[Block]:
    """The blocks of a Markdown text in order."""
    state = _State()
    for line in _without_comments(text).splitlines():
        yield from state.take(line)
    yield from state.end()


def _without_comments(text: str) -> str:
    """A text without its comments; one that is never closed is none."""
    begin, end = _COMMENT
    kept: list[str] = []
    at = 0
    while (start := text.find(begin, at)) >= 0 and (close := text.find(end, start + len(begin))) >= 0:
        kept.append(text[at:start])
        at = close + len(end)
    return "".join([*kept, text[at:]])


@dataclass(slots=True)
class _State:
    headings: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    open: Block | None = None
    fence: str = ""
    lead: str = ""
    blank: bool = False

    def take(self, line: str) -> Iterator[Block]:
        """Go on with a line; gives the block that it ends."""
        fence = _FENCE.match(line)
        if self.fence or fence:
            yield from self._code(line, fence[1] if fence else "")
        elif heading := _HEADING.match(line):
            yield from self.end()
            self._head(len(heading[1]), heading[2].rstrip().rstrip("#").rstrip())
        elif not line.strip() or _RULE.match(line):
            self.blank = True
        else:
            yield from self._text(line)

    def end(self) -> Iterator[Block]:
        """Give the open block."""
        if self.open is not None:
            yield self.open
        self.open, self.blank, self.lead = None, False, ""

    def _code(self, line: str, mark: str) -> Iterator[Block]:
        if not self.fence:
            announced = self.open is not None and (not self.blank or self.open.text.endswith(":"))
            if not announced:
                yield from self._begin([])
            self.fence = mark
        elif mark and mark.startswith(self.fence):
            self.fence = ""
        assert self.open is not None  # noqa: S101 - begun above
        self.open.lines.append(line.rstrip())
        self.blank = False

    def _text(self, line: str) -> Iterator[Block]:
        item = _ITEM.match(line)
        goes_on = self.open is not None and (line[:1] in " \t" if self.open.item else not self.blank)
        if item is not None and (len(item[1]) <= 1 or self.open is None or not self.open.item):
            yield from self._begin([_CHECKBOX.sub("", item[2], count=1)], item=True)
        elif goes_on and self.open is not None:
            self.open.lines.append(line.strip() if not self.open.item else line.rstrip())
            self.blank = False
        elif self.open is not None and self.open.item and not self.blank:
            self.open.lines.append(line.strip())
        else:
            yield from self._begin([line.strip()])

    def _begin(self, lines: list[str], *, item: bool = False) -> Iterator[Block]:
        before = self.open
        if item and before is not None and not before.item and before.text.endswith(":"):
            # A sentence that announces a list is told with each of its items.
            self.lead = before.text
        elif before is not None:
            yield before
        if not item:
            self.lead = ""
        self.open, self.blank = Block(tuple(name for _, name in self.headings), lines, item, self.lead), False

    def _head(self, level: int, name: str) -> None:
        self.headings = [(depth, above) for depth, above in self.headings if depth < level]
        self.headings.append((level, name))


def _is_noise(block: Block) -> bool:
    """Whether a block says nothing by itself: an import of another file, a badge, a lone link or mark."""
    text = block.text.strip()
    return not re.search(r"\w", text) or bool(re.fullmatch(r"@\S+|!?\[[^\]]*\]\([^)]*\)|(\[!\[.*)", text))


def _plain(value: str) -> str:
    return value.strip().strip("[]").strip().strip("\"'").strip()
