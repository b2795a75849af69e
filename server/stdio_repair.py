"""What can be saved from a line that is not JSON: broken escapes, and the id its sender waits for."""

import json
import re

_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?P<lone>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)
_STRING = r'"[^"\\]*(?:\\.[^"\\]*)*"'
# A number that ends where the text does may have lost digits.
_ID_VALUE = rf"(?:-?\d{{1,18}}(?![\d.eE]|\Z)|{_STRING})"
_TOKEN = re.compile(
    rf"(?P<open>[{{\[])|(?P<close>[}}\]])|(?P<name>{_STRING})\s*:(?:\s*(?P<value>{_ID_VALUE}))?"
    rf'|{_STRING}|(?P<broken>")',
    re.DOTALL,
)
_ID_AT_END = re.compile(rf'"jsonrpc"\s*:\s*"2\.0"\s*,\s*"id"\s*:\s*(?P<value>{_ID_VALUE})\s*\}}\s*$')


def repair_surrogates(text: str) -> str:
    r"""Replace each lone `\ud800`…`\udfff` escape by `\ufffd`; whole pairs and every other escape stay as they are."""
    return _ESCAPE.sub(lambda escape: "\\ufffd" if escape["lone"] else escape[0], text)


def recover_id(head: str, tail: str) -> int | str | None:
    """Find the id of a request in text that does not parse, or None where a guess could hit another request.

    Only an `id` beside a `method` at the top level counts, never one inside `params` or of a response. Clients write
    the id either near the start or as the very last member, so the first and the last characters of the line will do
    (they may overlap).
    """
    members = _top_level_members(head)
    if '"method"' not in members or '"result"' in members or '"error"' in members:
        return None
    value = members.get('"id"')
    if value is None and (at_end := _ID_AT_END.search(tail)):
        value = at_end["value"]
    return None if value is None else _decode_id(value)


def _top_level_members(text: str) -> dict[str, str | None]:
    """Quoted names of the outermost object, with their values where these are integers or strings."""
    members: dict[str, str | None] = {}
    depth = 0
    for token in _TOKEN.finditer(text):
        if token["broken"]:
            break
        depth += bool(token["open"]) - bool(token["close"])
        if token["name"] and depth == 1:
            members[token["name"]] = token["value"]
    return members


def _decode_id(value: str) -> int | str | None:
    try:
        return json.loads(repair_surrogates(value))
    except ValueError:
        return None
