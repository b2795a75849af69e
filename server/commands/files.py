"""Files that commands write for people: private, whole or not at all, never over another without being told."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Literal

from ...hooks.places import open_private
from ...schemas.errors import EbbingError, InvalidInputError


@contextmanager
def new_file(path: Path, *, force: bool) -> Generator[BinaryIO]:
    """A file (0600) to write to, which appears under its name when everything is written.

    Raises:
        InvalidInputError: if there is such a file and `force` is not given.
        EbbingError: if it can't be written.
    """
    if path.exists() and not force:
        raise InvalidInputError(f"{path} exists: --force writes over it")
    draft = path.with_name(f"{path.name}.{os.urandom(4).hex()}.partial")
    try:
        with os.fdopen(open_private(str(draft), os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError as error:
        raise EbbingError(f"{path} can't be written: {error.strerror}") from error
    finally:
        draft.unlink(missing_ok=True)


def binary(name: Literal["stdin", "stdout"]) -> BinaryIO:
    """Standard input or output, for bytes."""
    return (sys.stdin if name == "stdin" else sys.stdout).buffer
