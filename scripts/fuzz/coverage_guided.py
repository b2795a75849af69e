"""The targets under libFuzzer, which looks for inputs that reach new code. Needs the package atheris."""

from __future__ import annotations

import importlib
import random
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

from fuzzing import UNHURRIED
from hypothesis import given, settings

_LONGEST: Final = 8_192
_BEGINNINGS: Final = 64


def run(name: str, seconds: float, seed: int, replay: str | None) -> int:
    """Fuzz a target for some seconds, or try the bytes of a finding again; libFuzzer ends the process itself."""
    atheris: Any = importlib.import_module("atheris")
    # Before anything of ours is imported: what is imported inside is what is measured.
    with atheris.instrument_imports(include=["ebbing"]):
        targets = importlib.import_module("targets").TARGETS
    target = targets[name]
    folder = tempfile.mkdtemp(prefix="ebbing-fuzz-")
    with target.opened(Path(folder)) as check:

        @settings(database=None, deadline=None, suppress_health_check=UNHURRIED)
        @given(target.inputs)
        def one(value: Any) -> None:
            try:
                check(value)
            except Exception:
                print(f"input: {value!r}"[:4_000], file=sys.stderr, flush=True)
                raise

        feed: Any = one.hypothesis.fuzz_one_input  # pyright: ignore[reportFunctionMemberAccess]
        if replay is not None:
            feed(bytes.fromhex(replay))
            return 0
        limits = [
            f"-max_total_time={round(seconds)}",
            f"-seed={seed}",
            "-timeout=120",
            f"-max_len={_LONGEST}",
            "-rss_limit_mb=0",
        ]
        corpus = _corpus(Path(folder, "corpus"), seed)
        atheris.Setup([sys.argv[0], *limits, corpus], _told(feed))
        atheris.Fuzz()
    return 0


def _corpus(folder: Path, seed: int) -> str:
    """Some random bytes to begin with: a few would make no whole input of most targets."""
    folder.mkdir()
    rng = random.Random(seed)  # noqa: S311 - where to begin is no secret
    for number in range(_BEGINNINGS):
        (folder / str(number)).write_bytes(rng.randbytes(rng.randint(256, _LONGEST)))
    return str(folder)


def _told(feed: Any) -> Any:
    """The function for libFuzzer, which prints the bytes that a finding needs."""

    def one(data: bytes) -> None:
        try:
            feed(data)
        except Exception:
            print(f"again: --engine atheris --replay {data.hex()}", file=sys.stderr, flush=True)
            raise

    return one
