"""The files that a person wants imported, read as documents of a foreign format."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ..encoding.foreign.notes import Document
from ..schemas.errors import EbbingError, InvalidInputError, TooLargeError

_LARGEST = 64 << 20
_MARKDOWN = (".md", ".markdown")


def documents(path: Path) -> list[Document]:
    """The file, or the Markdown files below a folder, in the order of their names.

    Links that lead out of the folder and hidden folders are left alone.

    Raises:
        InvalidInputError: if there is nothing to read, or more than is imported at once.
        EbbingError: if something can't be read.
    """
    try:
        folder = _memory_folder(path)
        found = [_read(file, folder) for file in _markdown(folder)] if folder.is_dir() else [_read(path, path.parent)]
    except OSError as error:
        raise EbbingError(f"{error.filename or path} can't be read: {error.strerror}") from error
    if not found:
        raise InvalidInputError(f"there are no Markdown files in {path}")
    if sum(len(document.text) for document in found) > _LARGEST:
        raise TooLargeError(f"{path} holds more than {_LARGEST >> 20} MiB: import its parts one after the other")
    return found


def _memory_folder(path: Path) -> Path:
    # Claude Code's folder of a project holds its memory beside its transcripts.
    inner = path / "memory"
    return inner if (inner / "MEMORY.md").is_file() else path


def _markdown(folder: Path) -> Iterator[Path]:
    whole = folder.resolve()
    for file in sorted(folder.rglob("*")):
        hidden = any(part.startswith(".") for part in file.relative_to(folder).parts)
        if not hidden and file.suffix.lower() in _MARKDOWN and file.is_file() and file.resolve().is_relative_to(whole):
            yield file


def _read(file: Path, folder: Path) -> Document:
    if file.stat().st_size > _LARGEST:
        raise TooLargeError(f"{file} is larger than {_LARGEST >> 20} MiB")
    text = file.read_bytes().decode("utf-8-sig", "replace")
    return Document(file.relative_to(folder).as_posix(), str(file), text)
