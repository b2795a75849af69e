import asyncio
import os
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from contextlib import closing

import pytest

# Reserved for documentation: nobody's address, and reached by no route that matters if the guard should fail.
OUTSIDE = "192.0.2.1"
OUTSIDE_V6 = "2001:db8::1"

Refusals = Callable[[], list[str]]


def _connect(family: socket.AddressFamily, address: tuple[str, int]) -> None:
    with closing(socket.socket(family, socket.SOCK_STREAM)) as outgoing:
        outgoing.setblocking(False)
        outgoing.connect(address)


@pytest.mark.parametrize(
    ("family", "host"), [(socket.AF_INET, OUTSIDE), (socket.AF_INET6, OUTSIDE_V6)], ids=["IPv4", "IPv6"]
)
def test_a_connection_to_an_outside_address_is_refused(
    family: socket.AddressFamily, host: str, take_refusals: Refusals
) -> None:
    with pytest.raises(RuntimeError, match="without a network"):
        _connect(family, (host, 80))
    assert take_refusals() == [f"socket.connect {host!r}"]


def test_a_name_look_up_is_refused(take_refusals: Refusals) -> None:
    with pytest.raises(RuntimeError, match="without a network"):
        socket.getaddrinfo("example.invalid", 443)
    with pytest.raises(RuntimeError, match="without a network"):
        socket.gethostbyname("example.invalid")
    assert len(take_refusals()) == 2


def test_a_datagram_to_an_outside_address_is_refused(take_refusals: Refusals) -> None:
    with (
        closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as outgoing,
        pytest.raises(RuntimeError, match="without a network"),
    ):
        outgoing.sendto(b"x", (OUTSIDE, 53))
    assert take_refusals() == [f"socket.sendto {OUTSIDE!r}"]


@pytest.mark.anyio
async def test_an_event_loop_is_refused_too(take_refusals: Refusals) -> None:
    with pytest.raises(RuntimeError, match="without a network"):
        await asyncio.open_connection(OUTSIDE, 80)
    assert take_refusals() == [f"socket.connect {OUTSIDE!r}"]


@pytest.mark.parametrize("host", ["128.0.0.1", "127.0.0.1.example.invalid", "127.evil.invalid", "localhost.invalid"])
def test_a_host_that_only_looks_like_this_machine_is_refused(host: str, take_refusals: Refusals) -> None:
    with pytest.raises(RuntimeError, match="without a network"):
        sys.audit("socket.connect", None, (host, 80))
    assert take_refusals() == [f"socket.connect {host!r}"]


def test_a_refusal_that_the_code_swallows_is_still_on_record(take_refusals: Refusals) -> None:
    with pytest.raises(RuntimeError):
        _connect(socket.AF_INET, (OUTSIDE, 80))
    assert take_refusals() != []
    assert take_refusals() == []


def test_a_python_that_a_test_starts_is_guarded(take_refusals: Refusals) -> None:
    program = f"import socket; socket.create_connection(({OUTSIDE!r}, 80), timeout=1)"
    child = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert child.returncode == 1
    assert "NetworkRefusedError" in child.stderr
    assert len(take_refusals()) == 1


def test_a_client_that_honours_proxies_finds_a_dead_one() -> None:
    assert urllib.request.getproxies()["https"] == os.environ["HTTPS_PROXY"]
    host, port = os.environ["HTTPS_PROXY"].removeprefix("http://").split(":")
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((host, int(port)), timeout=1)


def test_connections_inside_this_machine_are_allowed() -> None:
    with (
        closing(socket.create_server(("127.0.0.1", 0))) as server,
        closing(socket.create_connection(("localhost", server.getsockname()[1]), timeout=5)) as client,
    ):
        client.sendall(b"x")
    left, right = socket.socketpair()
    with closing(left), closing(right):
        left.sendall(b"x")
        assert right.recv(1) == b"x"
