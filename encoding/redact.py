"""Redaction: credentials are replaced by `[redacted:KIND]` before a text is stored, embedded or indexed.

Two families: tokens whose shape gives them away (`secret_patterns.py`), and values in telling places: URLs with a
password, assignments, authorization headers, command line options. The second family reads its value first, so that
placeholders, examples and references to the environment stay readable. Entropy alone never redacts: hashes, UUIDs and
base64 pictures are no secrets.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from .secret_patterns import SHAPED, SecretPattern
from .secret_values import (
    has_digit_and_letter,
    is_assigned_secret,
    is_example,
    is_expression,
    is_placeholder,
    looks_random,
)

_MOST_PASSES = 32  # a replacement may uncover the boundary of a token glued to it, and that one the next


@dataclass(frozen=True, slots=True)
class Redacted:
    """The text without its secrets, and the kind of each secret that was replaced, in the order of the text."""

    text: str
    found: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Span:
    start: int
    end: int
    kind: str


_KEY = (
    r"(?:password|passwd|passphrase|passcode|pwd|secret[_-]?access[_-]?key|secret[_-]?key|client[_-]?secret|secret"
    r"|api[_-]?key|api[_-]?token|access[_-]?key|access[_-]?token|auth[_-]?token|auth[_-]?key|refresh[_-]?token"
    r"|session[_-]?token|private[_-]?key|signing[_-]?key|encryption[_-]?key|master[_-]?key|account[_-]?key"
    r"|app(?:lication)?[_-]?key|service[_-]?key|webhook[_-]?secret|bearer[_-]?token|server[_-]?token|token"
    r"|credentials?)"
)
_SUFFIX = (
    r"(?:[_-]?(?:\d{1,3}|prod|production|dev|test|staging|stage|live|value|base64|b64|old|new|primary|secondary))?"
)
_QUOTE = r"\\?[\"'`]"
_ASSIGNMENT = re.compile(
    rf"(?i:(?P<key>{_KEY}){_SUFFIX})(?![\w-])(?:{_QUOTE})?(?:\])?(?P<gap>[ \t]{{0,8}}(?:=>|:=|[:=])[ \t]{{0,8}})"
    rf"(?:(?P<quote>{_QUOTE})(?P<quoted>[^\"'`\\\n]{{1,400}})|(?P<bare>[^\s\"'`,;&|\\]{{4,400}}+))"
)
_REST_QUOTED = re.compile(r"[^\"'`\\\n]*+")
_REST_BARE = re.compile(r"[^\s\"'`,;&|\\]*+")
_OPTION = re.compile(
    rf"(?<!\S)--?(?i:[a-z-]{{0,20}}?(?P<key>{_KEY}))[ \t]{{1,4}}"
    rf"(?P<quote>{_QUOTE})?(?P<value>[^\s\"'`;&|\\-][^\s\"'`;&|\\]{{3,400}}+)"
)
_USER = re.compile(r"(?<!\S)(?:-u|--user|--proxy-user)[ =]{1,2}[\"']?([^\s:\"']{1,64}):([^\s\"'@]{4,200})")
_URL = re.compile(r"://([^\s/?#@:\"'<>]{0,128}):([^\s/?#@\"'<>]{1,1024})@")
_AUTHORIZATION = re.compile(
    rf"(?i:authorization)(?:{_QUOTE})?\s{{0,3}}[:=]\s{{0,3}}(?:{_QUOTE})?"
    r"(?i:bearer|basic|token|apikey|api-key|ssws|bot|key)\s{1,3}([A-Za-z0-9._~+/=-]{8,}+)"
)
_BEARER = re.compile(r"(?<![A-Za-z0-9])(?i:bearer)[ \t]{1,3}([A-Za-z0-9._~+/=-]{20,}+)")
_COOKIE = re.compile(
    r"(?<![A-Za-z0-9])(?i:session(?:[_-]?id)?|sid|connect\.sid|phpsessid|jsessionid|_gitlab_session)"
    r"=([A-Za-z0-9%._-]{16,}+)"
)
_NETRC = re.compile(r"(?i:\blogin[ \t]{1,4}\S{1,64}[ \t\n]{1,4}password[ \t]{1,4})(\S{4,200})")


def redact(text: str) -> Redacted:
    """Return the text with every credential replaced by `[redacted:KIND]`; doing it twice changes nothing more.

    Runs in time linear in the length of the text.
    """
    found: list[str] = []
    for _ in range(_MOST_PASSES):
        spans = _merge(_spans(text))
        if not spans:
            break
        found += [span.kind for span in spans]
        text = _replace(text, spans)
    return Redacted(text, tuple(found))


def _spans(text: str) -> Iterator[_Span]:
    lowered = text.lower()
    for pattern in SHAPED:
        if any(keyword in lowered for keyword in pattern.keywords):
            yield from _shaped(pattern, text)
    if "://" in text:
        yield from _in_urls(text)
    yield from _in_headers(text, lowered)
    yield from _assigned(text)
    if "-" in text:
        yield from _options(text)


def _shaped(pattern: SecretPattern, text: str) -> Iterator[_Span]:
    for match in pattern.expression.finditer(text):
        group = match.re.groups
        secret = match.group(group)
        if pattern.kind == "private-key" or not (is_example(secret) or (pattern.strict and not looks_random(secret))):
            yield _Span(match.start(group), match.end(group), pattern.kind)


def _in_urls(text: str) -> Iterator[_Span]:
    for match in _URL.finditer(text):
        user, value = match.groups()
        if value != user and not is_placeholder(value):
            yield _Span(match.start(2), match.end(2), "url-password")


def _in_headers(text: str, lowered: str) -> Iterator[_Span]:
    if "authorization" in lowered:
        yield from _headed(_AUTHORIZATION, text, "authorization")
    if "bearer" in lowered:
        yield from _headed(_BEARER, text, "authorization")
    if "ses" in lowered or "sid" in lowered:
        yield from _headed(_COOKIE, text, "session-cookie")
    if "login" in lowered:
        yield from _headed(_NETRC, text, "password")


def _headed(expression: re.Pattern[str], text: str, kind: str) -> Iterator[_Span]:
    for match in expression.finditer(text):
        value = match.group(1)
        if (
            not is_placeholder(value)
            and not is_expression(value)
            and (kind == "password" or has_digit_and_letter(value))
        ):
            yield _Span(match.start(1), match.end(1), kind)


def _assigned(text: str) -> Iterator[_Span]:
    """Walk by hand: inside a value that is no secret, another assignment may begin."""
    match = _ASSIGNMENT.search(text)
    while match:
        value = "quoted" if match.group("quote") else "bare"
        gap = match.group("gap")
        tight = gap == gap.strip(" \t") and gap != ":"
        at = match.end("gap")
        if is_assigned_secret(match.group("key"), match.group(value), loose=value == "quoted" or tight):
            at = _end_of_value(text, match.end(value), quoted=value == "quoted")
            yield _Span(match.start(value), at, _kind_of(match.group("key")))
        match = _ASSIGNMENT.search(text, at)


def _end_of_value(text: str, at: int, *, quoted: bool) -> int:
    """The expression reads 400 characters, so that looking again after a refusal stays cheap; secrets may be longer."""
    rest = (_REST_QUOTED if quoted else _REST_BARE).match(text, at)
    return rest.end() if rest else at


def _options(text: str) -> Iterator[_Span]:
    for match in _OPTION.finditer(text):
        value = match.group("value")
        if is_assigned_secret(match.group("key"), value, loose=bool(match.group("quote"))):
            yield _Span(match.start("value"), match.end("value"), _kind_of(match.group("key")))
    for match in _USER.finditer(text):
        user, value = match.groups()
        if value != user and not value.isdigit() and not is_placeholder(value) and not is_expression(value):
            yield _Span(match.start(2), match.end(2), "password")


def _kind_of(key: str) -> str:
    lowered = key.lower()
    if "pass" in lowered or lowered == "pwd":
        return "password"
    if "token" in lowered:
        return "token"
    return "api-key" if "key" in lowered else "secret"


def _merge(spans: Iterator[_Span]) -> list[_Span]:
    """Join overlapping spans; the one that starts first, then the longest, names the kind."""
    merged: list[_Span] = []
    for span in sorted(spans, key=lambda s: (s.start, -s.end)):
        if merged and span.start < merged[-1].end:
            last = merged[-1]
            merged[-1] = _Span(last.start, max(last.end, span.end), last.kind)
        else:
            merged.append(span)
    return merged


def _replace(text: str, spans: list[_Span]) -> str:
    pieces: list[str] = []
    at = 0
    for span in spans:
        pieces += [text[at : span.start], f"[redacted:{span.kind}]"]
        at = span.end
    return "".join([*pieces, text[at:]])
