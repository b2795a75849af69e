"""Lets only requests through that come from this machine, from no foreign page, and with the token."""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

LOOPBACK = ("127.0.0.1", "localhost", "::1")
"""The names under which the server is reached; it listens on no other."""

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]


class Guard:
    """An ASGI app around another one.

    A page in a browser can send requests to this machine: its own address in `Origin` gives it away, and a name that
    somebody's DNS leads here stands in `Host`. The token keeps out other users of the machine.
    """

    def __init__(self, app: App, *, token: str, port: int) -> None:
        """Guard `app`, which is served on `port`."""
        names = [f"[{name}]" if ":" in name else name for name in LOOPBACK]
        self._app = app
        self._hosts = frozenset(f"{name}:{port}".encode() for name in names)
        self._origins = frozenset(b"http://" + host for host in self._hosts)
        self._authorization = f"Bearer {token}".encode()

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer a request that may not pass, hand on everything else."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            raise ValueError(f"no {scope['type']} is served here")
        refusal = self.refusal(scope["headers"])
        if refusal is None:
            await self._app(scope, receive, send)
        else:
            await _answer(send, *refusal)

    def refusal(self, headers: list[tuple[bytes, bytes]]) -> tuple[int, str] | None:
        """The status and the text with which a request is turned away; None if it may pass."""
        values = {name: [value for key, value in headers if key == name] for name, _ in headers}
        if not self._hosts.issuperset(values.get(b"host", [b""])):
            return 421, "this server is only reached by the names of the loopback address"
        if not self._origins.issuperset(values.get(b"origin", [])):
            return 403, "requests from other origins are refused"
        given = values.get(b"authorization", [])
        if len(given) != 1 or not hmac.compare_digest(given[0], self._authorization):
            return 401, "send the token as `Authorization: Bearer ...`"
        return None


async def _answer(send: Send, status: int, text: str) -> None:
    body = text.encode()
    headers = [
        (b"content-type", b"text/plain"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
    ]
    if status == 401:  # noqa: PLR2004 - the number is the name
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
