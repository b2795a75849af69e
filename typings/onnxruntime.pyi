from collections.abc import Mapping, Sequence
from enum import Enum
from os import PathLike
from typing import Any

from numpy.typing import NDArray

__version__: str

class ExecutionMode(Enum):
    ORT_SEQUENTIAL = 0
    ORT_PARALLEL = 1

class GraphOptimizationLevel(Enum):
    ORT_DISABLE_ALL = 0
    ORT_ENABLE_BASIC = 1
    ORT_ENABLE_EXTENDED = 2
    ORT_ENABLE_LAYOUT = 3
    ORT_ENABLE_ALL = 99

class SessionOptions:
    enable_cpu_mem_arena: bool
    enable_mem_pattern: bool
    enable_mem_reuse: bool
    execution_mode: ExecutionMode
    graph_optimization_level: GraphOptimizationLevel
    inter_op_num_threads: int
    intra_op_num_threads: int
    log_severity_level: int
    logid: str
    optimized_model_filepath: str
    use_deterministic_compute: bool
    def __init__(self) -> None: ...
    def add_session_config_entry(self, key: str, value: str) -> None: ...
    def get_session_config_entry(self, key: str) -> str: ...

class RunOptions:
    log_severity_level: int
    terminate: bool
    def __init__(self) -> None: ...
    def add_run_config_entry(self, key: str, value: str) -> None: ...

class NodeArg:
    @property
    def name(self) -> str: ...
    @property
    def shape(self) -> list[int | str | None]: ...
    @property
    def type(self) -> str: ...

class InferenceSession:
    def __init__(
        self,
        path_or_bytes: str | bytes | PathLike[str],
        sess_options: SessionOptions | None = None,
        providers: Sequence[str] | None = None,
    ) -> None: ...
    def get_inputs(self) -> Sequence[NodeArg]: ...
    def get_outputs(self) -> Sequence[NodeArg]: ...
    def get_providers(self) -> Sequence[str]: ...
    # Tensors come back; maps and sequences, which classical models may yield, are not used here.
    def run(
        self,
        output_names: Sequence[str] | None,
        input_feed: Mapping[str, NDArray[Any]],
        run_options: RunOptions | None = None,
    ) -> list[NDArray[Any]]: ...

def get_available_providers() -> list[str]: ...
def set_default_logger_severity(severity: int) -> None: ...
def disable_telemetry_events() -> None: ...
