"""Who may talk to the server over HTTP, and the token's file."""

import stat
from pathlib import Path

import anyio
import pytest

from ebbing.schemas.errors import EbbingError, InvalidInputError, StoreReadOnlyError
from ebbing.server.http_guard import Guard, Message, Receive, Send
from ebbing.server.http_serving import listen
from ebbing.server.http_token import token_file, token_of

TOKEN = "t" * 43
GOOD = [(b"host", b"127.0.0.1:7374"), (b"authorization", b"Bearer " + TOKEN.encode())]


async def inner(scope: Message, receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"inside"})


def ask(headers: list[tuple[bytes, bytes]], kind: str = "http") -> list[Message]:
    """What is sent to a client that asks with these headers."""
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    anyio.run(Guard(inner, token=TOKEN, port=7374), {"type": kind, "headers": headers}, receive, send)
    return sent


@pytest.mark.parametrize("host", [b"127.0.0.1:7374", b"localhost:7374", b"[::1]:7374"])
@pytest.mark.parametrize("origin", [None, b"http://localhost:7374", b"http://127.0.0.1:7374"])
def test_this_machine_with_the_token_gets_in(host: bytes, origin: bytes | None) -> None:
    headers = [(b"host", host), GOOD[1], *([(b"origin", origin)] if origin else [])]
    assert ask(headers)[1]["body"] == b"inside"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ([], 421),
        ([GOOD[1]], 421),
        ([(b"host", b"ebbing.example:7374"), GOOD[1]], 421),
        ([(b"host", b"127.0.0.1:7375"), GOOD[1]], 421),
        ([(b"host", b"127.0.0.1"), GOOD[1]], 421),
        ([*GOOD, (b"host", b"ebbing.example")], 421),
        ([*GOOD, (b"origin", b"https://ebbing.example")], 403),
        ([*GOOD, (b"origin", b"null")], 403),
        ([*GOOD, (b"origin", b"http://localhost:3000")], 403),
        ([*GOOD, (b"origin", b"http://localhost:7374"), (b"origin", b"http://a.example")], 403),
        (GOOD[:1], 401),
        ([GOOD[0], (b"authorization", b"Bearer " + b"x" * 43)], 401),
        ([GOOD[0], (b"authorization", b"Bearer ")], 401),
        ([GOOD[0], (b"authorization", TOKEN.encode())], 401),
        ([GOOD[0], (b"authorization", b"Bearer \xff")], 401),
        ([*GOOD, GOOD[1]], 401),
    ],
)
def test_everybody_else_is_turned_away_before_the_server_sees_it(
    headers: list[tuple[bytes, bytes]], status: int
) -> None:
    start, body = ask(headers)
    assert (start["status"], b"inside" in body["body"]) == (status, False)
    assert TOKEN.encode() not in body["body"]
    assert ((b"www-authenticate", b"Bearer") in start["headers"]) is (status == 401)


def test_other_protocols_are_not_served() -> None:
    with pytest.raises(ValueError, match="websocket"):
        ask(GOOD, "websocket")
    assert ask([], "lifespan")[1]["body"] == b"inside"


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.5", "::", "", "ebbing.example"])  # noqa: S104
def test_only_the_loopback_address_is_listened_on(host: str) -> None:
    with pytest.raises(InvalidInputError):
        listen(host, 0)


def test_a_taken_port_is_an_error() -> None:
    with listen("127.0.0.1", 0) as first, pytest.raises(EbbingError, match="can't be listened on"):
        listen("127.0.0.1", first.getsockname()[1])


def test_the_token_is_made_once_and_private(tmp_path: Path) -> None:
    home = tmp_path / "home"
    token = token_of(home)
    assert len(token) >= 40
    assert token_of(home) == token
    assert stat.S_IMODE(token_file(home).stat().st_mode) == 0o600
    assert token_of(tmp_path / "other") != token


@pytest.mark.parametrize(("mode", "content"), [(0o644, "x" * 43), (0o600, "short")])
def test_a_token_that_others_could_know_is_replaced(mode: int, content: str, tmp_path: Path) -> None:
    token = token_of(tmp_path)
    token_file(tmp_path).write_text(content, "ascii")
    token_file(tmp_path).chmod(mode)
    assert token_of(tmp_path) not in (token, content)
    assert token_of(tmp_path) != token
    assert stat.S_IMODE(token_file(tmp_path).stat().st_mode) == 0o600


def test_a_token_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file", "utf-8")
    with pytest.raises(StoreReadOnlyError):
        token_of(tmp_path / "home")
