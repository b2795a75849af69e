import os
import subprocess
import sys
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from fake_embedder import FakeEmbedder

from ebbing.encoding.embedder import Embedder
from ebbing.encoding.loader import BackgroundEmbedder, load_embedder
from ebbing.schemas.errors import ModelDamagedError, ModelError, ModelMissingError

PATIENCE = 10.0


class GatedLoad:
    """A load that begins and ends when the test says so."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.gate = threading.Event()
        self.embedder = FakeEmbedder()
        self.calls = 0

    def __call__(self) -> Embedder:
        self.calls += 1
        self.begun.set()
        assert self.gate.wait(PATIENCE)
        return self.embedder


def failing(error: Exception) -> Callable[[], Embedder]:
    def load() -> Embedder:
        raise error

    return load


def is_closed(embedder: Embedder) -> bool:
    try:
        embedder.embed_query("anything")
    except ModelError:
        return True
    return False


def test_nothing_is_loaded_before_start() -> None:
    load = GatedLoad()
    with BackgroundEmbedder(load) as background:
        assert background.status == "idle"
        assert background.ready() is None
        with pytest.raises(ModelError, match="not started"):
            background.wait(0)
    assert load.calls == 0


def test_it_is_loading_and_then_ready() -> None:
    load = GatedLoad()
    with BackgroundEmbedder(load) as background:
        background.start()
        assert load.begun.wait(PATIENCE)
        assert (background.status, background.ready()) == ("loading", None)
        with pytest.raises(ModelError, match="still being loaded"):
            background.wait(0)
        load.gate.set()
        assert background.wait(PATIENCE) is load.embedder
        assert (background.status, background.ready(), background.error) == ("ready", load.embedder, "")


def test_starting_twice_loads_once() -> None:
    load = GatedLoad()
    with BackgroundEmbedder(load) as background:
        background.start()
        background.start()
        load.gate.set()
        background.wait(PATIENCE)
        background.start()
        assert background.status == "ready"
    assert load.calls == 1


@pytest.mark.parametrize(
    ("error", "status", "kind"),
    [
        (ModelMissingError("put it there"), "missing", ModelMissingError),
        (ModelDamagedError("get it again"), "damaged", ModelDamagedError),
        (ModelError("no memory"), "failed", ModelError),
        (RuntimeError("a bug"), "failed", ModelError),
    ],
    ids=["missing", "damaged", "failed", "unexpected"],
)
def test_a_load_that_went_wrong_says_how(error: Exception, status: str, kind: type[ModelError]) -> None:
    with BackgroundEmbedder(failing(error)) as background:
        background.start()
        with pytest.raises(kind, match=str(error)) as raised:
            background.wait(PATIENCE)
        assert type(raised.value) is kind
        assert background.status == status
        assert str(error) in background.error
        assert background.ready() is None


def test_a_load_that_went_wrong_can_be_started_again() -> None:
    attempts: list[Callable[[], Embedder]] = [failing(ModelMissingError("not yet")), FakeEmbedder]

    def load() -> Embedder:
        return attempts.pop(0)()

    with BackgroundEmbedder(load) as background:
        background.start()
        with pytest.raises(ModelMissingError):
            background.wait(PATIENCE)
        background.start()
        assert background.wait(PATIENCE).spec.id == "fake-words"
        assert background.error == ""


def test_closing_closes_the_embedder_for_good() -> None:
    load = GatedLoad()
    load.gate.set()
    background = BackgroundEmbedder(load)
    background.start()
    background.wait(PATIENCE)
    background.close()
    background.close()
    background.start()
    assert is_closed(load.embedder)
    assert (background.status, background.ready(), load.calls) == ("idle", None, 1)
    with pytest.raises(ModelError, match="closed"):
        background.wait(0)


def test_closing_while_loading_closes_what_arrives_later() -> None:
    load = GatedLoad()
    background = BackgroundEmbedder(load)
    background.start()
    assert load.begun.wait(PATIENCE)
    waiting = threading.Thread(target=background.close)
    waiting.start()
    with pytest.raises(ModelError, match="closed"):
        background.wait(PATIENCE)
    load.gate.set()
    waiting.join(PATIENCE)
    assert is_closed(load.embedder)
    assert background.ready() is None


def test_a_waiting_thread_gets_the_embedder() -> None:
    load = GatedLoad()
    got: list[Embedder] = []
    with BackgroundEmbedder(load) as background:
        background.start()
        waiting = threading.Thread(target=lambda: got.append(background.wait(PATIENCE)))
        waiting.start()
        load.gate.set()
        waiting.join(PATIENCE)
    assert got == [load.embedder]


def test_the_real_model_loads_and_remembers_its_check(tmp_path: Path) -> None:
    cache = tmp_path / "model-check.json"
    with BackgroundEmbedder(partial(load_embedder, cache_path=cache)) as background:
        background.start()
        assert background.wait(60).spec.id == "all-MiniLM-L6-v2"
    assert cache.is_file()


def test_an_empty_model_folder_is_missing(tmp_path: Path) -> None:
    with BackgroundEmbedder(partial(load_embedder, tmp_path)) as background:
        background.start()
        with pytest.raises(ModelMissingError, match="EBBING_MODEL_DIR"):
            background.wait(PATIENCE)
        assert background.status == "missing"


def test_importing_the_loader_imports_nothing_heavy() -> None:
    code = "import sys, ebbing.encoding.loader; print({'numpy', 'tokenizers', 'onnxruntime'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ)
    assert done.stdout == "set()\n"


def test_importing_the_embedder_does_not_import_the_runtime() -> None:
    code = "import sys, ebbing.encoding.embedder; print({'tokenizers', 'onnxruntime'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ)
    assert done.stdout == "set()\n"
