"""Texts that speak to a model rather than about a project: what planted instructions look like.

A list of shapes catches the clumsy and the copied, never all; it stands behind the rule that nothing from outside gets
into what a session is told at its start, and is no replacement for it.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_READER: Final = r"(?:ai|llm|language model|assistant|agent|model|chatbot|claude)"
_PERSON: Final = r"(?:user|human|owner|developer)s?"
_ORDERS: Final = r"(?:instructions?|rules|prompts?|guidelines|directions|context|orders|polic(?:y|ies)|restrictions)"
_EARLIER: Final = r"(?:previous|prior|earlier|above|preceding|existing|all|any|your|system)"
_VALUABLE: Final = (
    r"(?:keys?|tokens?|secrets?|credentials?|passwords?|\.env|ssh|env(?:ironment)? variables"
    r"|conversation|memor(?:y|ies))"
)
_CARRY: Final = r"(?:send|post|upload|exfiltrate|forward|leak|transmit|e-?mail)"
_TELL: Final = r"(?:tell|inform|mention|reveal|alert|notify)"
_SHELL: Final = r"[^|\n]*\|\s*(?:sudo\s+)?(?:ba|z|da|k)?sh\b"
_TAGS: Final = r"(?:system|assistant|user|human|instructions?|prompt|context|memory|important|(?:tool|function)[-_]\w+)"

_SETTING_ASIDE: Final = (
    rf"\b(?:ignore|disregard|forget|override|bypass|discard)\b[^.\n]{{0,30}}\b{_EARLIER}\b[^.\n]{{0,30}}\b{_ORDERS}\b",
    rf"\byou are (?:now|no longer)\b[^.\n]{{0,40}}\b(?:mode|restricted|bound|{_READER})\b",
    r"\b(?:new|updated|real|actual|hidden|secret) (?:system )?instructions?\s*(?::|are\b|follow)",
    r"\b(?:enable|enter|activate|switch to) (?:developer|god|dan|jailbreak|unrestricted|admin) mode\b",
)
_SPEAKING_TO: Final = (
    rf"\b{_READER}s?\b[^.\n]{{0,30}}\b(?:are instructed|are required|reading this|have to)\b",
    r"\b(?:ai|coding|automated)[ -](?:assistant|agent|model)s?\b[^.\n]{0,20}\b(?:must|should|need to)\b",
    rf"\bwhen(?:ever)? (?:you|an? {_READER}) (?:reads?|sees?|process(?:es)?|encounters?)\b",
    rf"(?:^|[.!?;:]\s|\n)[^\S\n]*+(?:to|dear|hey|attention|note to)[ ,:]++(?:the )?{_READER}\b",
    rf"\b(?:do not|don['’]t|never|without) {_TELL}(?:ing)?\b[^.\n]{{0,25}}\b{_PERSON}\b",
)
_CARRYING_OUT: Final = (
    rf"\b{_CARRY}\b[^.\n]{{0,60}}(?<!\w){_VALUABLE}\b[^\n]{{0,40}}(?:\bto\b|https?:|@)",
    rf"\b(?:curl|wget|iwr|invoke-webrequest)\b{_SHELL}",
    rf"\bbase64 (?:-d|--decode)\b{_SHELL}",
)
_SEAMS: Final = (
    rf"</?\s*(?:system[-_]reminder|{_TAGS})(?:\s[^<>]*)?/?>",
    r"<\|[^|\n]{1,40}\|>|\[/?INST\]|<</?SYS>>",
    r"(?:^|\n)[^\S\n]*+(?:#++\s*+)?(?:system|assistant|developer|human)\s*+(?:message|prompt)?\s*+:\s",
)
_SHAPES: Final = tuple(
    re.compile(shape, re.IGNORECASE) for shape in (*_SETTING_ASIDE, *_SPEAKING_TO, *_CARRYING_OUT, *_SEAMS)
)
_FORMAT: Final = "Cf"
_HIDING: Final = frozenset("\u202a\u202b\u202d\u202e\u2066\u2067\u2068") | frozenset(map(chr, range(0xE0000, 0xE0080)))


def addresses_a_model(text: str) -> bool:
    """Whether a text reads like an instruction planted for a model, or hides characters that people don't see."""
    if any(character in _HIDING for character in text):
        return True
    plain = unicodedata.normalize("NFKC", visible(text))
    return any(shape.search(plain) for shape in _SHAPES)


def visible(text: str) -> str:
    """A text without the characters that have no width and only steer how others are shown."""
    return "".join(character for character in text if unicodedata.category(character) != _FORMAT)
