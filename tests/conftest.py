"""What holds for every test: no network, no wall-clock zone, nobody's own files, reproducible examples.

The environment is prepared when this file is imported, before any test module can read it. A test that starts a program
passes it `os.environ` (the MCP client's own default passes only a handful of variables), or the program runs unguarded.
"""

import importlib.util
import itertools
import os
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from world import World

_GUARD = Path(__file__).with_name("network_guard")
# A port that nothing listens on, for native code and programs in other languages, which no audit hook sees.
_DEAD_PROXY = "http://127.0.0.1:9"
_OWN_PREFIXES = ("EBBING_", "CLAUDE_", "CODEX_", "XDG_", "HF_")

_sandbox = tempfile.TemporaryDirectory(prefix="ebbing-tests-", ignore_cleanup_errors=True)
_refusals = Path(_sandbox.name, "refused-connections")
_homes = itertools.count()


def _environment() -> dict[str, str]:
    home = Path(_sandbox.name, "home")
    home.mkdir()
    proxies = ("http_proxy", "https_proxy", "all_proxy")
    return {
        "PYTHONPATH": str(_GUARD),
        "NETWORK_GUARD_LOG": str(_refusals),
        **dict.fromkeys((*proxies, *map(str.upper, proxies)), _DEAD_PROXY),
        "no_proxy": "localhost,127.0.0.1,::1",
        "NO_PROXY": "localhost,127.0.0.1,::1",
        "HF_HUB_OFFLINE": "1",
        # A zone with an odd offset and no summer time: naive local times show up as wrong by 5:45.
        "TZ": "Asia/Kathmandu",
        "HOME": str(home),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "A Tester",
        "GIT_AUTHOR_EMAIL": "tester@example.invalid",
        "GIT_COMMITTER_NAME": "A Tester",
        "GIT_COMMITTER_EMAIL": "tester@example.invalid",
    }


def _prepare() -> None:
    for name in [name for name in os.environ if name.startswith(_OWN_PREFIXES)]:
        del os.environ[name]
    os.environ.update(_environment())
    time.tzset()
    # Under nohup a hang-up is ignored, which every program that a test starts would inherit.
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    spec = importlib.util.spec_from_file_location("network_guard", _GUARD / "sitecustomize.py")
    assert spec is not None
    assert spec.loader is not None
    spec.loader.exec_module(importlib.util.module_from_spec(spec))


_prepare()

# What passed once passes again; `--hypothesis-profile explore` looks for examples that nobody has tried.
settings.register_profile("explore", deadline=None)
settings.register_profile("reproducible", deadline=None, derandomize=True, database=None, print_blob=True)
settings.load_profile("reproducible")


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """The one event loop that the server runs on."""
    return "asyncio"


@pytest.fixture(autouse=True)
def ebbing_home(monkeypatch: pytest.MonkeyPatch) -> Path:
    """An EBBING_HOME of the test's own, which does not exist yet."""
    home = Path(_sandbox.name, f"ebbing-{next(_homes)}")
    monkeypatch.setenv("EBBING_HOME", str(home))
    return home


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """A whole ebbing over a folder of the test's own."""
    with World(tmp_path / "home") as made:
        yield made


@pytest.fixture
def other(tmp_path: Path) -> Iterator[World]:
    """Another, which knows nothing of the first."""
    with World(tmp_path / "other") as made:
        yield made


@pytest.fixture
def take_refusals() -> Callable[[], list[str]]:
    """For the tests of the guard itself: hands over what it refused so far, which then does not fail the test."""
    return _take_refusals


@pytest.fixture(autouse=True)
def no_connection_was_refused() -> Iterator[None]:
    """Fail the test in which anything, its child processes too, tried to leave this machine, even if it coped."""
    yield
    assert _take_refusals() == []


def pytest_unconfigure() -> None:
    """Leave nothing behind."""
    _sandbox.cleanup()


def _take_refusals() -> list[str]:
    try:
        lines = _refusals.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return []
    _refusals.unlink()
    return lines
