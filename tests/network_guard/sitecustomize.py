"""Refuse every connection and name look-up that would leave this machine.

Each Python that finds this folder on PYTHONPATH runs the file before anything else, so the programs that a test starts
are guarded like the test itself (unless they are started with -I, -E or -S, or without the test's environment). It is
an audit hook since no import order, cached reference or event loop goes around one, and it can't be taken out again.

Code under test may swallow the refusal, so each one is also written to the file that NETWORK_GUARD_LOG names.
"""

import os
import sys

_ADDRESS_AT = {"socket.connect": 1, "socket.sendto": 1, "socket.sendmsg": 1, "socket.getnameinfo": 0}
_HOST_AT = {"socket.getaddrinfo": 0, "socket.gethostbyname": 0, "socket.gethostbyaddr": 0}
_LOCAL_NAMES = frozenset({"", "localhost", "ip6-localhost", "::1"})


class NetworkRefusedError(RuntimeError):
    """Something tried to leave this machine; not an OSError, which would pass for an ordinary failure."""


def host_of(event: str, args: tuple[object, ...]) -> str | None:
    """The host that an audited socket call is about, None for calls and socket families without one."""
    if event in _HOST_AT:
        host = args[_HOST_AT[event]]
    elif event in _ADDRESS_AT:
        address = args[_ADDRESS_AT[event]]
        # A Unix socket's address is a string; a connected socket's sendmsg has none.
        host = address[0] if isinstance(address, tuple) else None  # pyright: ignore[reportUnknownVariableType]
    else:
        return None
    return host.decode() if isinstance(host, bytes) else host if isinstance(host, str) else None


def is_local(host: str) -> bool:
    """Whether a host name or address stays on this machine."""
    return host in _LOCAL_NAMES or (host.startswith("127.") and host.replace(".", "").isdigit())


def _refuse(event: str, args: tuple[object, ...]) -> None:
    if not event.startswith("socket."):
        return
    host = host_of(event, args)
    if host is None or is_local(host):
        return
    log = os.environ.get("NETWORK_GUARD_LOG")
    if log:
        # Imports nothing that the guarded program might not: some tests look at what it imports.
        with open(log, "a", encoding="utf-8") as file:  # noqa: PTH123
            file.write(f"{event} {host!r}\n")
    message = f"{event} to {host!r}: the tests run without a network"
    raise NetworkRefusedError(message)


sys.addaudithook(_refuse)
