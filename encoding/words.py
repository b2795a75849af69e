"""Code-aware words: what the full-text tables index, and how a question becomes a safe FTS5 expression.

The porter table uses SQLite's `unicode61` tokenizer, which already cuts at every character that is neither letter nor
digit. What it cannot cut is added here: camelCase humps, and scripts written without spaces, which become overlapping
pairs of characters so that a two-character question finds them. Names that the tokenizer would empty of meaning
(`C++`, `C#`) get a spelled-out twin on both sides.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from .stopwords import STOP_WORDS

# Thai, Lao, Burmese, Khmer, kana, bopomofo, hangul and Han: written without spaces, or glued to their particles.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3040-\u312f\u31a0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
_RUN = re.compile(f"[{_UNSPACED}]+")
_TOKEN = re.compile(r"[^\W_]+")
_CHUNK = re.compile(r"\w+(?:[._\-/\\:@+~]+\w+)*")
_HUMP = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+\d*|[A-Z]+\d*|\d+|[^\W\dA-Za-z_]+")
_CAMEL = re.compile(r"[a-z\d][A-Z]|[A-Z]{2}[a-z]")
_LETTER_AND_DIGIT = re.compile(r"[^\W\d_]\d|\d[^\W\d_]")
_QUOTED = re.compile(r'"([^"\n]{2,200})"|“([^”\n]{2,200})”|`([^`\n]{2,200})`')
_SPELLED_OUT = {"c++": "cplusplus", "c#": "csharp", "f#": "fsharp", ".net": "dotnet"}
_SYMBOLIC = re.compile(r"(?<![\w.])(?:c\+\+|[cf]#|\.net)(?!\w)", re.IGNORECASE)
_CODE = re.compile(r"(?<![\w.])(?!(?:19|20)\d\d\b)(?:\d{3,40}|[A-Z][A-Z0-9]{3,40})(?![\w.]?\w)")
_UNSAFE = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")
_SHORTEST_IDENTIFIER = 4


@dataclass(frozen=True, slots=True)
class QueryTerms:
    """What a question asks for, each list unique and in the order of the text.

    `words` are single lower-case tokens as the porter table sees them; `identifiers` are compound names as written;
    `phrases` are what stood in quotes; `cjk_runs` are stretches of scripts without spaces; `codes` are those of the
    words that name one thing: numbers of three digits or more that are no years, and words in capitals.
    """

    words: tuple[str, ...]
    identifiers: tuple[str, ...]
    phrases: tuple[str, ...]
    cjk_runs: tuple[str, ...]
    codes: tuple[str, ...] = ()


def indexed(text: str, tags: Iterable[str] = ()) -> tuple[str, str]:
    """Return what the porter table and the trigram table hold of a memory: its text and its tags."""
    whole = "\n".join([text, *tags])
    return index_text(whole), trigram_text(whole)


def index_text(text: str) -> str:
    """Return the text for the porter table: the text itself, unspaced scripts as pairs, and the humps of camelCase."""
    spaced = _RUN.sub(lambda run: f" {' '.join(_pairs(run.group()))} ", text)
    extra = [hump for chunk in _CHUNK.findall(spaced) for hump in _humps(chunk)]
    extra += _spelled_out(text)
    return "\n".join([spaced, " ".join(dict.fromkeys(extra))]) if extra else spaced


def trigram_text(text: str) -> str:
    """Return what needs search by substring, one a line: unspaced runs and identifiers of at least 4 characters."""
    runs = _RUN.findall(text)
    names = [name for name in identifiers_in(text) if len(name) >= _SHORTEST_IDENTIFIER]
    return "\n".join(dict.fromkeys([*runs, *names]))


def identifiers_in(text: str) -> tuple[str, ...]:
    """Return the compound names of a text as written, unique: camelCase, snake_case, kebab-case, paths, versions."""
    chunks = _CHUNK.findall(_RUN.sub(" ", text))
    return tuple(dict.fromkeys(name for chunk in chunks if _is_identifier(name := chunk.strip("_") or chunk)))


def query_terms(text: str) -> QueryTerms:
    """Read a question. Stop words are dropped, unless there is nothing else."""
    spaced = _RUN.sub(lambda run: f" {' '.join(_pairs(run.group()))} ", text)
    words = tuple(dict.fromkeys([*_words(spaced), *_spelled_out(text)]))
    telling = tuple(word for word in words if word not in STOP_WORDS)
    phrases = [(match.group(match.lastindex or 0)).strip() for match in _QUOTED.finditer(text)]
    return QueryTerms(
        words=telling or words,
        identifiers=identifiers_in(text),
        phrases=tuple(dict.fromkeys(phrase for phrase in phrases if _TOKEN.search(phrase))),
        cjk_runs=tuple(dict.fromkeys(_RUN.findall(text))),
        codes=tuple(dict.fromkeys(code.lower() for code in _CODE.findall(text) if not text.isupper())),
    )


def match_expression(words: Iterable[str]) -> str:
    """Return an FTS5 expression that matches any of the words or phrases, or "" when there is nothing to search.

    Every term is a quoted string, so no text of a user is ever query syntax; a term of several tokens is a phrase.
    """
    safe = dict.fromkeys(_UNSAFE.sub(" ", word).strip() for word in words)
    quoted = ('"' + term.replace('"', '""') + '"' for term in safe if _TOKEN.search(term))
    return " OR ".join(quoted)


def _words(spaced: str) -> list[str]:
    found: list[str] = []
    for chunk in _CHUNK.findall(spaced):
        found += [token.lower() for token in _TOKEN.findall(chunk)]
        found += [hump.lower() for hump in _humps(chunk)]
    return found


def _humps(chunk: str) -> list[str]:
    tokens = (token for token in _TOKEN.findall(chunk) if _CAMEL.search(token))
    return [hump for token in tokens for hump in _HUMP.findall(token) if hump != token]


def _pairs(run: str) -> list[str]:
    pairs = [run[at : at + 2] for at in range(max(1, len(run) - 1))]
    return [pair for pair in pairs if _TOKEN.search(pair)]


def _spelled_out(text: str) -> list[str]:
    return [_SPELLED_OUT[name.lower()] for name in _SYMBOLIC.findall(text)]


def _is_identifier(chunk: str) -> bool:
    compound = not chunk.isalnum()
    return compound or bool(_CAMEL.search(chunk)) or bool(_LETTER_AND_DIGIT.search(chunk))
