"""The secret that clients of the HTTP server send, in a file that only its user can read."""

from __future__ import annotations

import secrets
from pathlib import Path

from ..hooks.places import write_private
from ..schemas.errors import StoreReadOnlyError

NAME = "http-token"
_BYTES = 32
_SHORTEST = 32


def token_file(home: Path) -> Path:
    """The file that holds the token."""
    return home / NAME


def token_of(home: Path) -> str:
    """The token of a home folder, made on first use; one that others could read is replaced.

    Raises:
        StoreReadOnlyError: if it can't be read or written.
    """
    path = token_file(home)
    try:
        kept = path.read_text("ascii").strip() if path.is_file() and _is_private(path) else ""
        if len(kept) >= _SHORTEST:
            return kept
        token = secrets.token_urlsafe(_BYTES)
        write_private(path, f"{token}\n".encode())
    except (OSError, UnicodeDecodeError) as error:
        raise StoreReadOnlyError(f"the token in {path} can't be read or written: {type(error).__name__}") from error
    return token


def _is_private(path: Path) -> bool:
    return path.stat().st_mode & 0o077 == 0
