"""What an embedding model is, and the models that ebbing knows by the hashes of their files."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, cast, get_args

from ..schemas.errors import ModelDamagedError

Role = Literal["graph", "weights", "tokenizer"]
"""graph: the ONNX file to open; weights: a file the graph refers to, beside it; tokenizer: a `tokenizer.json`."""

_SHA256_LENGTH: Final = 64


@dataclass(frozen=True, slots=True)
class ModelFile:
    """One file of a model: its bare name, the sha256 of its bytes in lower-case hex, what it is for."""

    name: str
    sha256: str
    role: Role


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """A sentence-embedding model.

    Attributes:
        id: what stored vectors are labelled with; vectors of different ids are never compared.
        dimension: length of its vectors.
        window: most word pieces of one input, the special ones included.
        files: exactly one graph and one tokenizer, any number of weights.
        pooling: "mean" is the mean of the last hidden states of all pieces, the special ones included.
        query_prefix: put before a query; some models are trained with one.
        document_prefix: put before each chunk of a document.
    """

    id: str
    dimension: int
    window: int
    files: tuple[ModelFile, ...]
    pooling: Literal["mean"] = "mean"
    query_prefix: str = ""
    document_prefix: str = ""

    def file(self, role: Role) -> ModelFile:
        """Return the first file of `role`."""
        return next(file for file in self.files if file.role == role)


_TOKENIZER = ModelFile(
    "tokenizer.json", "07805d116826679de90b4edeb2222269c4b8753bc0981be4399f732b2708e904", "tokenizer"
)

DEFAULT_MODEL: Final = ModelSpec(
    id="all-MiniLM-L6-v2",
    dimension=384,
    window=256,
    files=(
        ModelFile("model.onnx", "2f019cf6217537cc4bfc7f5192f21dea1e18445177edaab0bc6163a813e5c7a1", "graph"),
        ModelFile("model.onnx_data", "60c758432aa596c30a122942dfe594c457d4d713f890926f1c5f920bd496c8de", "weights"),
        _TOKENIZER,
    ),
)

KNOWN_MODELS: Final = (
    DEFAULT_MODEL,
    # The same weights in 8 bits: cosine with the default one 0.9995, a quarter of its size, no faster.
    ModelSpec(
        id="all-MiniLM-L6-v2-int8",
        dimension=384,
        window=256,
        files=(
            ModelFile("model.onnx", "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6", "graph"),
            _TOKENIZER,
        ),
    ),
)


def parse_description(path: Path) -> ModelSpec:
    """Return the model that the `model.json` at `path` describes.

    It is an object with `id`, `dimension`, `window` and `files` (a list of objects with `name`, `sha256` and `role`),
    and may have `pooling`, `query_prefix` and `document_prefix`. The id gets a mark of the files' hashes, so that
    vectors of exchanged files are never taken for those of the old ones.

    Raises:
        ModelDamagedError: it is not such an object; the text says which part.
    """
    try:
        data: Any = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ModelDamagedError(f"{path} can't be read as JSON: {error}") from error
    fields = _Fields(path, _object(path, "its content", data))
    files = tuple(_file(path, entry) for entry in fields.list_of("files"))
    if sorted(file.role for file in files if file.role != "weights") != ["graph", "tokenizer"]:
        raise ModelDamagedError(f"{path}: 'files' must have exactly one 'graph' and one 'tokenizer'")
    if fields.text("pooling", "mean") != "mean":
        raise ModelDamagedError(f"{path}: 'pooling' must be 'mean', the only one that is supported")
    mark = hashlib.sha256("".join(file.sha256 for file in files).encode()).hexdigest()[:8]
    return ModelSpec(
        id=f"{fields.text('id')}@{mark}",
        dimension=fields.count("dimension"),
        window=fields.count("window"),
        files=files,
        query_prefix=fields.text("query_prefix", ""),
        document_prefix=fields.text("document_prefix", ""),
    )


def _object(path: Path, what: str, value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ModelDamagedError(f"{path}: {what} must be an object")
    return cast("dict[str, Any]", value)


def _file(path: Path, entry: object) -> ModelFile:
    fields = _Fields(path, _object(path, "each of 'files'", entry))
    name, sha256, role = fields.text("name"), fields.text("sha256").lower(), fields.text("role")
    if name != Path(name).name:
        raise ModelDamagedError(f"{path}: {name!r} must be a bare file name; the file lies beside model.json")
    if len(sha256) != _SHA256_LENGTH:
        raise ModelDamagedError(f"{path}: 'sha256' of {name} must be 64 hexadecimal digits")
    if role not in get_args(Role):
        raise ModelDamagedError(f"{path}: 'role' of {name} must be one of {', '.join(get_args(Role))}")
    return ModelFile(name, sha256, cast("Role", role))


@dataclass(frozen=True, slots=True)
class _Fields:
    """The fields of a JSON object, each taken out by its type."""

    path: Path
    data: Mapping[str, Any]

    def text(self, key: str, default: str | None = None) -> str:
        value = self.data.get(key, default)
        if not isinstance(value, str) or (default is None and not value):
            raise ModelDamagedError(f"{self.path}: {key!r} must be a text")
        return value

    def count(self, key: str) -> int:
        value = self.data.get(key)
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise ModelDamagedError(f"{self.path}: {key!r} must be a positive whole number")
        return value

    def list_of(self, key: str) -> list[object]:
        value = self.data.get(key)
        if not isinstance(value, list):
            raise ModelDamagedError(f"{self.path}: {key!r} must be a list")
        return cast("list[object]", value)
