"""The shapes of names that stand in technical prose, as data; `entities.py` applies them in this order.

What an earlier row has taken is not offered to a later one. Every repetition is bounded and every expression can begin
only where a name begins, so a hostile text costs no more than its length.
"""

from __future__ import annotations

import re

_TOP_LEVEL = "com|org|net|io|dev|app|internal|local|lan|cloud|ai|edu|gov|de|uk|fr|eu|nl|ch|jp|cn|sh|tech|test|example"
_EXTENSIONS = (
    "py|pyi|js|mjs|cjs|jsx|ts|tsx|rs|go|rb|php|java|kt|scala|swift|c|h|cc|cpp|hpp|cs|lua|pl|dart|sh|bash|zsh|ps1|bat|sql"
    "|html|css|scss|vue|svelte|json|jsonl|yaml|yml|toml|ini|cfg|conf|env|xml|csv|md|rst|txt|log|lock|proto|graphql|tf"
    "|gradle|cmake|ipynb|onnx|db|sqlite|pem|zip|gz|whl|png|svg|pdf|patch|diff"
)
_FOLDERS = (
    "src|tests?|lib|docs?|scripts?|app|apps|bin|cmd|pkg|packages|include|examples?|config|configs|server|client|api|core"
    "|internal|services?|utils?|tools?|build|dist|public|assets|static|templates|migrations|hooks|store|etc|var|usr|opt"
)
_MANAGERS = "pip|pip3|uv|pipx|poetry|conda|npm|pnpm|yarn|bun|cargo|gem|brew|apt|apt-get|go|composer|nuget|helm"
_UNITS = (
    "s|ms|us|ns|m|min|h|d|%|x|k|kb|mb|gb|tb|kib|mib|gib|px|em|rem|hz|mhz|ghz|seconds?|minutes?|hours?|days?|percent"
    "|points?|times"
)
_STANDARDS = "UTF|UCS|SHA|MD|AES|RSA|ISO|RFC|GPT|TLS|SSL|HTTP|BASE|CRC|UTC|GMT|COVID|USB|PEP|IEEE|X|H"
_ENDS = r"(?![\w.]\w)(?!\w)"
_SEGMENT = r"[\w.@+~-]{1,100}"
_START = r"(?<![<\w./@~+-])(?!-)"
_PART = r"[A-Za-z_]\w{0,80}"
_CAPITALISED = r"[A-ZÀ-ÖØ-Þ][a-zß-öø-ÿ]{1,40}(?:['’][A-Z]?[a-z]{2,20})?"

NAME = "name"


def _row(kind: str, *parts: str) -> tuple[str, re.Pattern[str]]:
    return kind, re.compile("".join(parts))


PATTERNS: tuple[tuple[str, re.Pattern[str]], ...] = (
    _row("url", r"(?<!\w)(?:https?|ssh|git|postgres(?:ql)?|redis|file)://[^\s<>\"'`)\]}]{1,500}(?<![.,:;!?])"),
    _row(
        "package",
        rf"(?<![\w-])(?:{_MANAGERS}) (?:install|add|get|i|remove|uninstall) (?:--?[\w-]{{1,30}} ){{0,3}}",
        r"(@?[A-Za-z][\w./-]{0,80}\w)",
    ),
    _row(
        "package",
        r"(?<![\w@/.-])(@[\w-]{1,60}/[\w.-]{0,60}\w|[A-Za-z][\w.-]{0,60})",
        r"(?=(?:\[[\w,]{1,40}\])?(?:==|>=|~=|<=|@\^?|\^)\d)(?!@(?:\d{1,3}\.){3}\d)",
    ),
    _row("package", r"(?<![\w@/.-])@[a-z][\w-]{1,60}/[a-z][\w.-]{0,60}\w(?![\w/])"),
    _row("path", _START, r"[A-Za-z]:\\(?:[\w .-]{1,60}\\){0,20}[\w.-]{1,60}\w"),
    _row("path", _START, rf"(?:~|\.{{1,2}})/(?:{_SEGMENT}/){{0,30}}(?:[\w.@-]{{0,100}}\w)?"),
    _row("path", _START, rf"/(?:{_SEGMENT}/){{0,30}}[\w.@-]{{0,100}}\w/?"),
    _row("path", _START, rf"(?:{_SEGMENT}/){{2,30}}(?:[\w.@-]{{0,100}}\w)?"),
    _row("path", _START, rf"{_SEGMENT}/{_SEGMENT}\.(?:{_EXTENSIONS})\b"),
    _row("path", _START, rf"(?:{_FOLDERS})/(?:[\w.@-]{{0,100}}\w)?"),
    _row("path", _START, r"[\w.@-]{0,60}[._\d-][\w.@-]{0,60}/[\w.@-]{0,60}[A-Za-z_]"),
    _row("file", r"(?<![\w./-])[\w-]{1,80}(?:\.[\w-]{1,40}){0,4}", rf"\.(?:{_EXTENSIONS})(?![\w-]|\.\w|\()"),
    _row("file", r"(?<![\w/])(?:Dockerfile|Makefile|\.gitignore|\.env(?:\.\w{1,20})?)\b"),
    _row("ticket", r"(?<![\w/&#-])(?:[\w.-]{1,60}/[\w.-]{1,60})?#\d{1,7}\b|(?<![\w-])CVE-\d{4}-\d{4,7}\b"),
    _row("ticket", rf"(?<![\w-])(?!(?:{_STANDARDS})-)[A-Z][A-Z0-9]{{1,9}}-\d{{1,6}}(?![\w.]\w|-)\b"),
    _row(
        "version",
        r"(?<![\w.])v?\d{1,5}(?:\.\d{1,5}){2}(?!\.\d{1,3}\b)(?:\.\d{1,9}){0,3}",
        r"(?:[-+][0-9A-Za-z][0-9A-Za-z.]{0,30}(?<!\.))?(?![\w.]\w)",
    ),
    _row("version", r"(?<![\w.])v\d{1,4}(?:\.\d{1,5}){0,2}(?![\w.]\w)\b"),
    _row(
        "version",
        rf"(?:(?<=[A-Za-z] )|(?<=[=<>~^@]))(?!0\.)\d{{1,3}}\.\d{{1,4}}{_ENDS}(?! ?(?i:{_UNITS})(?!\w))",
    ),
    _row(
        "host",
        rf"(?<![\w.@-])(?:[a-z0-9][a-z0-9-]{{0,62}}\.){{1,8}}(?:{_TOP_LEVEL})(?![\w-]|\.\w|\()",
        r"(?::\d{2,5})?",
    ),
    _row("host", r"(?<![\w.-])(?:(?:\d{1,3}\.){3}\d{1,3}(?![\w.]\d)|localhost)(?::\d{2,5})?\b"),
    _row("host", r"(?<![\w.-])[a-z]{1,40}(?:-[a-z]{1,40}){0,6}-\d{1,4}(?![\w-]|\.\d)"),
    _row("env", r"(?<!\w)[A-Z][A-Z0-9]{0,40}(?:_[A-Z0-9]{1,40}){1,10}(?!\w)|(?<=\$)[A-Z][A-Z0-9_]{2,60}\b"),
    _row("flag", r"(?<![\w-])--[a-zA-Z][\w-]{0,60}\w"),
    _row("commit", r"(?<![\w-])(?=[a-f]{0,39}\d)(?=\d{0,39}[a-f])[0-9a-f]{7,40}(?![\w-])"),
    _row("symbol", rf"(?<![\w.]){_PART}(?:(?:\.|::|->){_PART}){{0,10}}(?=\(\))"),
    _row("symbol", r"(?<!\w)_{0,2}[a-z][a-z0-9]{0,60}(?:_{1,2}[a-z0-9]{1,60}){1,10}_{0,2}", _ENDS),
    _row("symbol", r"(?<!\w)[a-z]{1,60}\d{0,9}(?:[A-Z][a-z0-9]{0,60}){1,12}", _ENDS),
    _row("symbol", r"(?<!\w)(?:[A-Z][a-z0-9]{1,60}){2,12}", _ENDS),
    _row("symbol", r"(?<!\w)[A-Z][a-z]{1,60}[A-Z]{2,10}[a-z0-9]{0,60}", _ENDS),
    _row("symbol", r"(?<!\w)[A-Z]{2,10}[a-z]{2,60}(?:[A-Z][a-z0-9]{1,60}){0,10}", _ENDS),
    _row("symbol", rf"(?<![\w.])(?!(?:e\.g|i\.e|a\.m|p\.m)\b){_PART}(?:(?:\.|::){_PART}){{1,10}}(?!\w)"),
    _row("quoted", r"(?<!`)`([^`\n]{2,60})`(?!`)|\"([^\"\n]{2,60})\"|“([^”\n]{2,60})”"),
    _row(NAME, rf"(?<![\w'’-]){_CAPITALISED}(?: {_CAPITALISED}){{0,3}}(?!\w)|(?<![\w-])[A-Z]{{2,6}}\d?(?![\w-])"),
)
"""(kind, expression); the value is the group that matched, or the whole."""
