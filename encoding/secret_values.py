"""Is this value a credential, or does it only stand where one would stand?

Assignments, URLs and headers in logs and prose are full of examples, references to the environment and expressions.
They must stay readable, so each test below errs on the side of what a person would call a secret at first sight.
"""

import re

_REFERENCE = re.compile(
    r"^(?:\$[({A-Za-z_]|%[A-Za-z_(]|[{<\[(*&@]|!\w|~/|\.{0,2}/|[A-Za-z]:\\|https?:|file:|arn:|vault:|op://|ssm:|ENC\[)"
)
_EXPRESSION = re.compile(
    r"(?i:^(?:os\.|process\.env|import\.meta|system\.getenv|env[.\[(]|getenv|config[.\[(]|settings[.\[(]|secrets?[.\[(]"
    r"|self\.|this\.|args?[.\[(]|options?[.\[(]|params?[.\[(]|request[.\[(]|data\.|var\.|local\.|module\.|ctx\.))"
    r"|^[A-Za-z_][\w.]{0,120}[(\[{]"
    r"|^[A-Za-z_]+(?:(?:\.|->|::)[A-Za-z_]+)+$"
    r"|^[a-z]+(?:[A-Z][a-z]+)+$|^[a-z]+(?:[_-][a-z]+)+$|^[A-Z]+(?:_[A-Z]+)+$"
)
_EXAMPLE = re.compile(
    r"(?i)x{4}|\*{3}|\.{3}|…|•|example|your[-_ ]?|change[-_ ]?me|placeholder|dummy|redacted|replace[-_ ]?|insert[-_ ]?"
    r"|sample|1234567890|0123456789|abcdefgh|<[a-z]|_here\b|not[-_]a[-_]|fake[-_]?"
)
_WORDS = """
    password passwd passwort pass pwd secret secrets token tokens key apikey string str text bytes none null nil
    undefined true false yes no on off required optional hidden empty default value values user username name login
    root guest anonymous test testing foo bar baz foobar qwerty abc abcd abcdef abc123 asdf auth basic bearer digest
    ntlm oauth2 jwt public private credentials missing invalid expired unset unknown prompt ask stdin manual auto int
    integer number any object boolean type function async await return const let self this
"""
_NOT_SECRET = frozenset(_WORDS.split())
_PASSWORD_KEY = re.compile(r"(?i)pass|pwd|secret|credential")
_SHORTEST_PASSWORD = 4
_PLAUSIBLE_WORD = 6
_SHORTEST_TOKEN = 8
_LONG_TOKEN = 20
_SAME_FEW_CHARACTERS = 2
_RANDOM_DIGITS = 2


def is_placeholder(value: str) -> bool:
    """Tell whether a value is a reference, an example, or a word that describes a value (`$TOKEN`, `<key>`, `xxxx`)."""
    return (
        bool(_REFERENCE.match(value))
        or value.split(";", maxsplit=1)[0].strip(".:!?)>").lower() in _NOT_SECRET
        or is_example(value)
    )


def is_example(value: str) -> bool:
    """Tell whether a value is made up for reading: it says so, counts up, or repeats one or two characters."""
    few = len({c for c in value.lower() if c.isalnum()}) <= _SAME_FEW_CHARACTERS
    return few or bool(_EXAMPLE.search(value))


def is_expression(value: str) -> bool:
    """Tell whether a value is code that fetches or names the secret (`os.environ[…]`, `self.token`, `db_password`)."""
    return bool(_EXPRESSION.search(value))


def is_assigned_secret(key: str, value: str, *, loose: bool) -> bool:
    """Tell a credential from a word under a telling key; a `loose` place (quoted, `k=v`) needs less proof."""
    if is_placeholder(value) or is_expression(value) or any(c.isspace() for c in value.strip()):
        return False
    return _is_password(value, loose=loose) if _PASSWORD_KEY.search(key) else _is_token(value)


def looks_random(value: str) -> bool:
    """Tell whether the last part of a token mixes letters with at least two digits, as no word does."""
    body = value.rsplit("_", 1)[-1]
    return sum(c.isdigit() for c in body) >= _RANDOM_DIGITS and any(c.isalpha() for c in body)


def has_digit_and_letter(value: str) -> bool:
    """Tell whether both occur."""
    return any(c.isdigit() for c in value) and any(c.isalpha() for c in value)


def _is_password(value: str, *, loose: bool) -> bool:
    mixed = _kinds_of_characters(value) > 1
    if loose:
        return len(value) >= (_SHORTEST_PASSWORD if mixed else _PLAUSIBLE_WORD)
    return mixed and len(value) >= _PLAUSIBLE_WORD and any(c.isdigit() for c in value)


def _is_token(value: str) -> bool:
    if len(value) >= _LONG_TOKEN:
        return _kinds_of_characters(value) > 1
    return len(value) >= _SHORTEST_TOKEN and has_digit_and_letter(value)


def _kinds_of_characters(value: str) -> int:
    kinds = {"lower" if c.islower() else "upper" if c.isupper() else "digit" if c.isdigit() else "other" for c in value}
    return len(kinds)
