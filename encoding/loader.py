"""Load the embedder on a thread of its own, so that nothing ever waits for it that doesn't want to.

Importing this module imports nothing heavy: numpy, tokenizers and onnxruntime come with the first load.
"""

import logging
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from ..schemas.closing import Closing
from ..schemas.errors import ModelDamagedError, ModelError, ModelMissingError
from .model import locate, verify

if TYPE_CHECKING:
    from .embedder import Embedder

_log = logging.getLogger(__name__)

Status = Literal["idle", "loading", "ready", "missing", "damaged", "failed"]
"""idle: not started, or closed; missing, damaged: see the errors of those names; failed: anything else."""

_CLOSE_SECONDS: Final = 5.0


def load_embedder(model_dir: Path | None = None, cache_path: Path | None = None, threads: int = 1) -> "Embedder":
    """Find, verify and open the model, which takes 0.2–0.4 s the first time.

    Args:
        model_dir: see `locate`.
        cache_path: see `verify`.
        threads: how many cores may embed documents.

    Raises:
        ModelError: with what to do about it.
    """
    files = locate(model_dir=model_dir)
    verify(files, cache_path)
    from .embedder import OnnxEmbedder

    return OnnxEmbedder(files, threads)


class BackgroundEmbedder(Closing):
    """An embedder that is loaded in the background. Thread-safe; a context manager that closes what it loaded.

    Args:
        load: opens the embedder; `load_embedder` with its arguments bound, in production.
    """

    def __init__(self, load: "Callable[[], Embedder]" = load_embedder) -> None:
        self._load = load
        self._changed = threading.Condition()
        self._status: Status = "idle"
        self._error = ""
        self._embedder: Embedder | None = None
        self._thread: threading.Thread | None = None
        self._closed = False

    @property
    def status(self) -> Status:
        """How far the load is."""
        with self._changed:
            return self._status

    @property
    def error(self) -> str:
        """What went wrong and what to do about it; empty while nothing has."""
        with self._changed:
            return self._error

    def start(self) -> None:
        """Begin to load. Loads again after a load that went wrong; does nothing while loading, when ready or closed."""
        with self._changed:
            if self._closed or self._status in ("loading", "ready"):
                return
            self._set("loading")
            # A daemon: a client that hangs up at once must not have to wait for the model.
            self._thread = threading.Thread(target=self._run, name="ebbing-model", daemon=True)
            self._thread.start()

    def ready(self) -> "Embedder | None":
        """Return the embedder if it has been loaded, without waiting."""
        with self._changed:
            return self._embedder

    def wait(self, timeout: float | None = None) -> "Embedder":
        """Return the embedder, waiting at most `timeout` seconds for a load that is under way.

        Raises:
            ModelError: it was not started, is closed, went wrong (then of the kind that went wrong), or takes longer.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._status != "loading", timeout)
            if self._embedder is None:
                raise self._reason()
            return self._embedder

    def close(self) -> None:
        """Close the embedder, also one that is still being loaded. Closing twice is fine."""
        with self._changed:
            self._closed = True
            thread, embedder = self._thread, self._embedder
            self._thread = self._embedder = None
            self._set("idle")
        if embedder is not None:
            embedder.close()
        if thread is not None and thread is not threading.current_thread():
            thread.join(_CLOSE_SECONDS)

    def _reason(self) -> ModelError:
        if self._closed:
            return ModelError("the embedder is closed")
        kinds: dict[Status, type[ModelError]] = {"missing": ModelMissingError, "damaged": ModelDamagedError}
        waiting = {"idle": "loading the model was not started", "loading": "the model is still being loaded"}
        return kinds.get(self._status, ModelError)(self._error or waiting[self._status])

    def _run(self) -> None:
        try:
            embedder = self._load()
        except ModelMissingError as error:
            self._finish("missing", str(error))
        except ModelDamagedError as error:
            self._finish("damaged", str(error))
        except ModelError as error:
            self._finish("failed", str(error))
        except Exception as error:  # noqa: BLE001
            # The top of this thread; tokenizers, for one, raises the bare class.
            _log.exception("loading the embedding model failed")
            self._finish("failed", f"loading the model failed: {error!r}")
        else:
            self._take(embedder)

    def _take(self, embedder: "Embedder") -> None:
        with self._changed:
            if not self._closed:
                self._embedder = embedder
                self._set("ready")
                return
        embedder.close()

    def _finish(self, status: Status, error: str) -> None:
        with self._changed:
            if not self._closed:
                self._set(status, error)

    def _set(self, status: Status, error: str = "") -> None:
        self._status = status
        self._error = error
        self._changed.notify_all()
