import json
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from mcp_types import JSONRPCError, JSONRPCMessage, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from ebbing.server.stdio_lines import LineSplitter, OverlongLine, Rejected, encode_message, parse_line
from ebbing.server.stdio_repair import recover_id, repair_surrogates

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
member_names = st.sampled_from(["jsonrpc", "id", "method", "params", "result", "error"])
envelopes = st.dictionaries(member_names, json_values | st.just("2.0"), max_size=6)


@st.composite
def damaged_lines(draw: st.DrawFn) -> bytes:
    """Something like a message, with a slice of it replaced by anything."""
    line = json.dumps(draw(envelopes)).encode()
    start = draw(st.integers(0, len(line)))
    end = draw(st.integers(start, len(line)))
    return line[:start] + draw(st.binary(max_size=6)) + line[end:]


def rejected(line: bytes | OverlongLine) -> tuple[int, int | str | None]:
    """The code and id of the reply to a line that must be rejected."""
    outcome = parse_line(line)
    assert isinstance(outcome, Rejected)
    return outcome.reply.error.code, outcome.reply.id


def text_argument(line: bytes) -> str:
    outcome = parse_line(line)
    assert isinstance(outcome, JSONRPCRequest)
    assert outcome.params is not None
    return outcome.params["text"]


@given(st.binary() | damaged_lines() | st.builds(OverlongLine, st.binary(), st.binary(), st.integers(1)))
@example(b'{"method":"x","id":"\\ud800"')
@example(b'{"method":"x","id":' + b"9" * 5000 + b"}")
@example(b"[" * 100_000)
@example(b'"\\' * 50_000)
def test_any_line_becomes_a_message_or_a_reply_that_can_be_sent_or_nothing(line: bytes | OverlongLine) -> None:
    outcome = parse_line(line)
    if outcome is None:
        assert isinstance(line, bytes)
        assert not line.strip()
    elif isinstance(outcome, Rejected):
        reply = json.loads(encode_message(outcome.reply))
        assert reply["error"]["code"] in {-32700, -32600}
        assert "id" in reply
    else:
        assert isinstance(outcome, JSONRPCMessage)


@given(st.text() | st.integers(), st.text(), st.dictionaries(st.text(), st.text() | st.integers()))
def test_a_sound_request_arrives_as_it_was_sent(request_id: str | int, method: str, params: dict[str, str]) -> None:
    sent = JSONRPCRequest(jsonrpc="2.0", id=request_id, method=method, params=params)
    line = encode_message(sent)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert parse_line(line) == sent


@given(st.lists(st.binary().filter(lambda line: b"\n" not in line), min_size=1), st.data())
def test_lines_do_not_depend_on_how_the_stream_was_cut_into_chunks(lines: list[bytes], data: st.DataObject) -> None:
    stream = b"\n".join(lines)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)))))
    splitter = LineSplitter()
    found = [line for a, b in pairwise([0, *cuts, len(stream)]) for line in splitter.feed(stream[a:b])]
    assert found + (splitter.finish() or [b""]) == lines


@given(st.binary(min_size=1).filter(lambda line: b"\n" not in line), st.integers(1, 20), st.integers(0, 40))
def test_a_line_over_the_limit_is_reported_with_its_size_and_the_next_line_is_whole(
    piece: bytes, limit: int, repeats: int
) -> None:
    splitter = LineSplitter(limit)
    size = len(piece) * repeats
    found = [line for _ in range(repeats) for line in splitter.feed(piece)]
    found += splitter.feed(b"\nnext\n")
    if size <= limit:
        assert found[0] == piece * repeats
    else:
        whole = piece * repeats
        assert found[0] == OverlongLine(whole[:4096], whole[-4096:], size)
    assert isinstance(found[1], OverlongLine if limit < 4 else bytes)
    assert splitter.finish() == []


def test_both_ends_of_a_line_over_the_limit_are_kept_and_nothing_between() -> None:
    splitter = LineSplitter(limit=100_000)
    for chunk in (b"a" * 65_536, b"b" * 65_536, b"c" * 65_536):
        assert splitter.feed(chunk) == []
    (line,) = splitter.feed(b"d\n")
    assert line == OverlongLine(b"a" * 4096, b"c" * 4095 + b"d", 3 * 65_536 + 1)


def test_a_line_over_the_limit_is_answered_under_its_id_wherever_the_client_wrote_it() -> None:
    in_front = OverlongLine(b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"text":"aaa', b"aaa}}", 10**8)
    at_the_end = OverlongLine(b'{"method":"tools/call","params":{"text":"aaa', b'a"},"jsonrpc":"2.0","id":"x"}', 10**8)
    assert rejected(in_front) == (-32600, 7)
    assert rejected(at_the_end) == (-32600, "x")


@pytest.mark.parametrize("line", [b"", b" \t", b"\r"])
def test_a_blank_line_is_nothing(line: bytes) -> None:
    assert parse_line(line) is None


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b'{"jsonrpc":"2.0","id":3,"method":"x",}', 3),
        (b'{"jsonrpc":"2.0","id":"a\\"b","method":"x"', 'a"b'),
        (b'{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"text":"say "hi" to id"}}', 3),
        (b'{"method":"x","params":{"text":"say "hi""},"jsonrpc":"2.0","id":4}', 4),
        (b'{"jsonrpc":"2.0","id":3,"method":"x","params":{"n":NaN}}', 3),
        (b'{"jsonrpc":"2.0","id":1,"method":"x","params":' + b"[" * 300 + b"]" * 300 + b"}", 1),
        (b"not json", None),
        (b'{"jsonrpc":"2.0","method":"x","params":{"id":3},}', None),
        (b'{"jsonrpc":"2.0","method":"x","params":{"text":"\\"id\\":3"},}', None),
        (b'{"jsonrpc":"2.0","id":3,"result":{},}', None),
        (b'{"jsonrpc":"2.0","id":3,', None),
        (b'{"jsonrpc":"2.0","method":"x","id":12', None),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"x",}', None),
    ],
)
def test_json_that_does_not_parse_is_answered_under_the_id_of_its_request_or_none(
    line: bytes, expected: int | str | None
) -> None:
    assert rejected(line) == (-32700, expected)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b'[{"jsonrpc":"2.0","id":1,"method":"x"}]', None),
        (b"[]", None),
        (b"1", None),
        (b'"text"', None),
        (b"{}", None),
        (b'{"id":5,"method":"x"}', 5),
        (b'{"jsonrpc":"1.0","id":"five","method":"x"}', "five"),
        (b'{"jsonrpc":"2.0","id":5}', 5),
        (b'{"jsonrpc":"2.0","id":5,"method":6}', 5),
        (b'{"jsonrpc":"2.0","id":5,"method":"x","params":[1]}', 5),
        (b'{"jsonrpc":"2.0","id":null,"method":"x"}', None),
        (b'{"jsonrpc":"2.0","id":true,"method":"x"}', None),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"x"}', None),
        (b'{"jsonrpc":"2.0","id":5,"result":"not an object"}', None),
        (b'{"jsonrpc":"2.0","id":5,"error":{}}', None),
    ],
)
def test_json_that_is_not_a_message_is_an_invalid_request(line: bytes, expected: int | str | None) -> None:
    assert rejected(line) == (-32600, expected)


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (b'{"jsonrpc":"2.0","id":1,"method":"x"}\r', JSONRPCRequest),
        (b'\xef\xbb\xbf{"jsonrpc":"2.0","id":"1","method":"x"}', JSONRPCRequest),
        (b'{"jsonrpc":"2.0","method":"x"}', JSONRPCNotification),
        (b'{"jsonrpc":"2.0","id":1,"result":{}}', JSONRPCResponse),
        (b'{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"}}', JSONRPCError),
    ],
)
def test_each_kind_of_message_is_told_apart(line: bytes, kind: type[JSONRPCMessage]) -> None:
    assert isinstance(parse_line(line), kind)


@pytest.mark.parametrize(
    ("escaped", "expected"),
    [
        (b"\\ud800", "\ufffd"),
        (b"\\uDFFF!", "\ufffd!"),
        (b"\\ud83d\\ude00", "😀"),
        (b"\\ud83d\\ud83d\\ude00", "\ufffd😀"),
        (b"\\ud800 \\\\ud800", "\ufffd \\ud800"),
        (b"\\ud800\\u0000\\n", "\ufffd\0\n"),
        (b"\xff", "\ufffd"),
        (b"\xed\xa0\x80", "\ufffd\ufffd\ufffd"),
    ],
)
def test_text_that_is_not_valid_unicode_is_repaired_and_the_rest_kept(escaped: bytes, expected: str) -> None:
    line = b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"text":"' + escaped + b'"}}'
    assert text_argument(line) == expected


@given(st.text())
def test_repair_leaves_sound_json_alone(text: str) -> None:
    for escaped in (json.dumps(text), json.dumps(text, ensure_ascii=False)):
        assert repair_surrogates(escaped) == escaped


@given(st.lists(st.characters(categories=["Cs"]) | st.sampled_from(['"', "\\", "\\ud800", "a", "\n", "😀"])))
def test_repaired_json_is_valid_unicode_with_one_mark_for_each_lone_half(pieces: list[str]) -> None:
    text = "".join(pieces)
    repaired = json.loads(repair_surrogates(json.dumps(text)))
    joined = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    assert repaired == joined


@given(st.text(), st.text())
def test_an_id_inside_the_arguments_is_never_taken_for_the_requests(key: str, value: str) -> None:
    line = json.dumps({"method": "x", "params": {key: value, "id": 5, "method": {"id": "6"}}})
    assert recover_id(line, line) is None
    assert recover_id(line[:-1], line[:-1]) is None


def test_a_reply_with_a_lone_surrogate_is_sent_repaired() -> None:
    reply = JSONRPCResponse(jsonrpc="2.0", id=1, result={"text": "a\ud800é"})
    assert json.loads(encode_message(reply)) == {"jsonrpc": "2.0", "id": 1, "result": {"text": "a\ufffdé"}}


def test_a_reply_that_is_not_json_becomes_an_error_under_its_id() -> None:
    reply = JSONRPCResponse(jsonrpc="2.0", id=1, result={"handle": object(), "text": "\ud800"})
    sent = json.loads(encode_message(reply))
    assert (sent["id"], sent["error"]["code"]) == (1, -32603)
