"""Run the model's ONNX graph: piece ids in, hidden states out."""

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..schemas.errors import ModelError
from .ahead import computing

_HIDDEN_STATES: Final = ("last_hidden_state", "token_embeddings")
_RANK: Final = 3
_ERRORS_ONLY: Final = 3


class Graph:
    """An opened ONNX graph on one core; concurrent calls of `run` from several threads are fine.

    Raises:
        ModelError: onnxruntime can't be imported, or can't open the graph, or it is not a sentence encoder.
    """

    def __init__(self, path: Path) -> None:
        try:
            import onnxruntime as ort

            state = import_module("onnxruntime.capi.onnxruntime_pybind11_state")
        except ImportError as error:
            raise ModelError(f"onnxruntime can't be imported: {error}") from error
        # Its exceptions have no common base but Exception.
        kinds = [kind for kind in vars(state).values() if isinstance(kind, type) and issubclass(kind, Exception)]
        self._errors: tuple[type[Exception], ...] = (RuntimeError, ValueError, *kinds)
        ort.disable_telemetry_events()
        try:
            self._session = ort.InferenceSession(path, _options(ort), ["CPUExecutionProvider"])
        except self._errors as error:
            raise ModelError(f"{path.name} can't be opened: {error}") from error
        self._inputs = {node.name for node in self._session.get_inputs()}
        self._output = self._output_name()

    def run(self, ids: NDArray[np.int64], mask: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the last hidden states, float32 (b, n, d).

        Args:
            ids: int64 (b, n), piece ids, padded.
            mask: int64 (b, n), 1 for a piece and 0 for padding.

        Raises:
            ModelError: the runtime failed, for want of memory for instance.
        """
        feed: Mapping[str, NDArray[Any]] = {
            "input_ids": ids,
            "attention_mask": mask,
            "token_type_ids": np.zeros_like(ids),
        }
        computing()
        try:
            hidden = self._session.run([self._output], {name: feed[name] for name in self._inputs})[0]
        except self._errors as error:
            raise ModelError(f"the model failed: {error}") from error
        return np.asarray(hidden, np.float32)

    def _output_name(self) -> str:
        unknown = self._inputs - {"input_ids", "attention_mask", "token_type_ids"}
        names = [node.name for node in self._session.get_outputs() if len(node.shape) == _RANK]
        if unknown or not names:
            raise ModelError("the model's graph does not turn input_ids and attention_mask into hidden states")
        return next((name for name in _HIDDEN_STATES if name in names), names[0])


def _options(ort: Any) -> Any:
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    # Waiting threads would burn a core each.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # Both keep memory for later runs: about 100 MB that a server waiting for the next call does not need.
    options.enable_cpu_mem_arena = False
    options.enable_mem_pattern = False
    options.log_severity_level = _ERRORS_ONLY
    return options
