"""The rules of the house that no linter knows: functions from source to complaints, tried on bad samples too."""

import ast
import re
import subprocess
import sys
import tomllib
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath

import pytest
from mcp import MCPDeprecationWarning

ROOT = Path(__file__).resolve().parent.parent
FLOORS = ("schemas", "store", "encoding", "retrieval", "lifecycle", "tools", "server")
FOLDERS = (*FLOORS, "hooks")
ROOT_FILES = ("__init__.py", "__main__.py", "py.typed")
DATABASE_MODULES = frozenset({"apsw", "sqlite3", "sqlite_vec"})
MODULE_LINES = 400
# The reading end of the spool shares its file lock and its line format with the writing end.
SPOOL_READER = "store/spool*.py"

Rule = Callable[[PurePosixPath, str], list[str]]


# --- what a module imports -------------------------------------------------------------------------------------------


def imports(path: PurePosixPath, source: str) -> Iterator[tuple[int, str, bool]]:
    """Line, absolute dotted name and whether it was written relatively, of each import anywhere in a module."""
    package = ("ebbing", *path.parent.parts)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name, False) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            prefix = ".".join((*base, *(node.module or "").split("."))).rstrip(".")
            # `from .. import store` names a folder only in the alias.
            yield from ((node.lineno, f"{prefix}.{alias.name}", node.level > 0) for alias in node.names)


def folder_of(name: str) -> str | None:
    """The folder that a dotted name of the package leads to."""
    parts = name.split(".")
    return parts[1] if parts[0] == "ebbing" and len(parts) > 1 and parts[1] in FOLDERS else None


# --- rules about the package's modules -------------------------------------------------------------------------------


def imports_point_down(path: PurePosixPath, source: str) -> list[str]:
    here = path.parts[0]
    if here not in FLOORS:
        return []
    return [
        f"{path}:{line} {here} imports {name}"
        for line, name, _ in imports(path, source)
        if (there := folder_of(name)) in FLOORS and FLOORS.index(there) > FLOORS.index(here)
    ]


def lifecycle_and_retrieval_are_strangers(path: PurePosixPath, source: str) -> list[str]:
    strangers = {"lifecycle": "retrieval", "retrieval": "lifecycle"}
    return [
        f"{path}:{line} imports {name}"
        for line, name, _ in imports(path, source)
        if folder_of(name) is not None and folder_of(name) == strangers.get(path.parts[0])
    ]


def hooks_stand_alone(path: PurePosixPath, source: str) -> list[str]:
    """Hooks import the standard library and each other; only the server and the spool's reader import them."""
    found = [(line, name, folder_of(name)) for line, name, _ in imports(path, source)]
    if path.parts[0] == "hooks":
        bad = [(line, name) for line, name, to in found if to != "hooks" and not _is_standard(name)]
    elif path.parts[0] == "server" or path.match(SPOOL_READER):
        bad = []
    else:
        bad = [(line, name) for line, name, to in found if to == "hooks"]
    return [f"{path}:{line} imports {name}" for line, name in bad]


def _is_standard(name: str) -> bool:
    return name.partition(".")[0] in sys.stdlib_module_names


def only_the_store_knows_sql(path: PurePosixPath, source: str) -> list[str]:
    if path.parts[0] == "store":
        return []
    return [
        f"{path}:{line} imports {name}"
        for line, name, _ in imports(path, source)
        if name.split(".")[0] in DATABASE_MODULES
    ]


def imports_inside_are_relative(path: PurePosixPath, source: str) -> list[str]:
    return [
        f"{path}:{line} imports {name} absolutely"
        for line, name, relative in imports(path, source)
        if name.split(".")[0] == "ebbing" and not relative
    ]


def nothing_prints(path: PurePosixPath, source: str) -> list[str]:
    """Not even by handing `print` to something: stdout is the wire."""
    nodes = ast.walk(ast.parse(source))
    return [f"{path}:{node.lineno} print" for node in nodes if isinstance(node, ast.Name) and node.id == "print"]


def modules_are_short(path: PurePosixPath, source: str) -> list[str]:
    lines = source.count("\n")
    return [f"{path} has {lines} lines"] if lines > MODULE_LINES else []


# --- rules about tests -----------------------------------------------------------------------------------------------


def nothing_is_patched(path: PurePosixPath, source: str) -> list[str]:
    """Fakes are passed in; of monkeypatch only the environment and the working directory are used."""
    mocks = [
        f"{path}:{line} imports {name}"
        for line, name, _ in imports(path, source)
        if "mock" in name.split(".")[:2] or name.split(".")[0] == "pytest_mock"
    ]
    return mocks + _attributes(path, source, "monkeypatch", {"setattr", "delattr", "setitem", "delitem"})


def nothing_is_skipped(path: PurePosixPath, source: str) -> list[str]:
    names = {"skip", "skipif", "xfail", "importorskip"}
    return _attributes(path, source, "pytest", names) + _attributes(path, source, "mark", names)


def nothing_sleeps(path: PurePosixPath, source: str) -> list[str]:
    """A sleep of 0 lets an event loop take its turn and waits for nothing."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    return [
        f"{path}:{call.lineno} sleeps"
        for call in calls
        if _last_name(call.func) == "sleep"
        and not (call.args and isinstance(call.args[0], ast.Constant) and call.args[0].value == 0)
    ]


def _attributes(path: PurePosixPath, source: str, owner: str, names: set[str]) -> list[str]:
    return [
        f"{path}:{node.lineno} {owner}.{node.attr}"
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Attribute) and node.attr in names and _last_name(node.value) == owner
    ]


def _last_name(node: ast.expr) -> str | None:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else None


# --- rules about every file ------------------------------------------------------------------------------------------

# Put together so that this file does not break its own rule.
_HOSTS = (
    "py" + "pi.org",
    "python" + "hosted.org",
    "npm" + "js.org",
    "npm" + "js.com",
    "debian" + ".org",
    "crates" + ".io",
)
_FOLDERS = ("work", "root", "opt/wheels", "opt/pypi")
_LOCATED = re.compile(rf"(?<![\w.~/-])/(?:{'|'.join(_FOLDERS)})(?=/\w)|" + "|".join(map(re.escape, _HOSTS)))


def nothing_names_a_machine_or_registry(path: PurePosixPath, source: str) -> list[str]:
    lines = enumerate(source.splitlines(), 1)
    return [f"{path}:{number} {match[0]}" for number, line in lines if (match := _LOCATED.search(line))]


# --- the house as it stands ------------------------------------------------------------------------------------------


def python_files(*folders: str) -> Iterator[tuple[PurePosixPath, str]]:
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield PurePosixPath(path.relative_to(ROOT).as_posix()), path.read_text(encoding="utf-8")


def tracked_files() -> Iterator[tuple[PurePosixPath, str]]:
    command = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\0")
    for name in filter(None, names):
        path = ROOT / name
        if path.is_file() and not path.is_symlink():
            yield PurePosixPath(name), path.read_bytes().decode("utf-8", errors="replace")


PACKAGE_RULES: tuple[Rule, ...] = (
    imports_point_down,
    lifecycle_and_retrieval_are_strangers,
    hooks_stand_alone,
    only_the_store_knows_sql,
    imports_inside_are_relative,
    nothing_prints,
    modules_are_short,
)
TEST_RULES: tuple[Rule, ...] = (nothing_is_patched, nothing_is_skipped, nothing_sleeps)


def _name(rule: Rule) -> str:
    return rule.__name__


@pytest.mark.parametrize("rule", PACKAGE_RULES, ids=_name)
def test_every_module_of_the_package_keeps_the_rule(rule: Rule) -> None:
    files = [(PurePosixPath("__init__.py"), (ROOT / "__init__.py").read_text("utf-8")), *python_files(*FOLDERS)]
    assert [complaint for path, source in files for complaint in rule(path, source)] == []


@pytest.mark.parametrize("rule", TEST_RULES, ids=_name)
def test_every_test_module_keeps_the_rule(rule: Rule) -> None:
    assert [complaint for path, source in python_files("tests") for complaint in rule(path, source)] == []


def test_no_file_names_a_machine_or_a_registry() -> None:
    files = tracked_files()
    assert [complaint for file in files for complaint in nothing_names_a_machine_or_registry(*file)] == []


def test_every_folder_and_root_file_has_its_link_and_is_in_the_wheel() -> None:
    expected = {*FOLDERS, *ROOT_FILES}
    # Python may keep the compiled __init__.py beside its link.
    links = [path for path in (ROOT / ".dev" / "ebbing").iterdir() if path.name != "__pycache__"]
    assert {link.name: link.readlink().as_posix() for link in links} == {name: f"../../{name}" for name in expected}
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert set(pyproject["tool"]["hatch"]["build"]["targets"]["wheel"]["only-include"]) == expected


def test_every_folder_with_modules_is_one_of_the_house() -> None:
    found = {path.name for path in ROOT.iterdir() if not path.name.startswith(".") and any(path.glob("*.py"))}
    assert found - {"tests", "scripts"} == set(FOLDERS)


def test_test_modules_have_names_of_their_own_and_no_packages() -> None:
    names = Counter(path.name for path, _ in python_files("tests"))
    assert [name for name, count in names.items() if count > 1 and name != "conftest.py"] == []
    assert "__init__.py" not in names


def test_the_lock_pins_every_package_with_hashes_and_says_nothing_else() -> None:
    entries = re.split(r"\n(?=\S)", (ROOT / "requirements.lock").read_text("utf-8").strip())
    pinned = re.compile(r"[a-z0-9-]+==\S+( ; [^\\\n]+)? \\(\n    --hash=sha256:[0-9a-f]{64}( \\)?)+")
    assert [entry.splitlines()[0] for entry in entries if not pinned.fullmatch(entry)] == []


def test_the_sdks_deprecations_fail_a_test_like_every_other_warning() -> None:
    with pytest.raises(MCPDeprecationWarning):
        warnings.warn("deprecated", MCPDeprecationWarning, stacklevel=1)


# --- the rules themselves --------------------------------------------------------------------------------------------

_PRINTS = "f = print"
BAD: tuple[tuple[Rule, str, str], ...] = (
    (imports_point_down, "store/a.py", "from ..encoding import words"),
    (imports_point_down, "store/a.py", "from .. import encoding"),
    (imports_point_down, "retrieval/channels/a.py", "from ...lifecycle.clock import age"),
    (imports_point_down, "schemas/a.py", "def f():\n    from ..server.engine import Engine"),
    (lifecycle_and_retrieval_are_strangers, "lifecycle/a.py", "from ..retrieval.fusion import fuse"),
    (lifecycle_and_retrieval_are_strangers, "retrieval/a.py", "from ..lifecycle import clock"),
    (hooks_stand_alone, "hooks/a.py", "import numpy"),
    (hooks_stand_alone, "hooks/a.py", "from ..schemas.errors import EbbingError"),
    (hooks_stand_alone, "hooks/a.py", "from .. import __version__"),
    (hooks_stand_alone, "tools/a.py", "from ..hooks.spool import append"),
    (hooks_stand_alone, "store/a.py", "from ..hooks import appending"),
    (only_the_store_knows_sql, "server/a.py", "import apsw.ext"),
    (only_the_store_knows_sql, "tools/a.py", "from sqlite3 import connect"),
    (imports_inside_are_relative, "store/a.py", "from ebbing.schemas import errors"),
    (imports_inside_are_relative, "store/a.py", "import ebbing"),
    (nothing_prints, "server/a.py", "print('x')"),
    (nothing_prints, "server/a.py", _PRINTS),
    (modules_are_short, "store/a.py", "x = 1\n" * 401),
    (nothing_is_patched, "tests/a.py", "from unittest.mock import patch"),
    (nothing_is_patched, "tests/a.py", "from unittest import mock"),
    (nothing_is_patched, "tests/a.py", "def f(monkeypatch):\n    monkeypatch.setattr('a', 1)"),
    (nothing_is_skipped, "tests/a.py", "import pytest\n@pytest.mark.skipif(True)\ndef f(): ..."),
    (nothing_is_skipped, "tests/a.py", "import pytest\npytest.importorskip('a')"),
    (nothing_sleeps, "tests/a.py", "import time\ntime.sleep(1)"),
    (nothing_sleeps, "tests/a.py", "from asyncio import sleep\nawait sleep(0.1)"),
    (nothing_names_a_machine_or_registry, "README.md", "see https://" + _HOSTS[0] + "/project/x"),
    (nothing_names_a_machine_or_registry, "README.md", "cd /" + _FOLDERS[0] + "/main"),
)
GOOD: tuple[tuple[Rule, str, str], ...] = (
    (imports_point_down, "tools/a.py", "from ..store.database import Database\nimport json\nfrom . import save"),
    (imports_point_down, "retrieval/channels/a.py", "from ..fusion import fuse\nfrom .registry import CHANNELS"),
    (lifecycle_and_retrieval_are_strangers, "tools/a.py", "from ..lifecycle import x\nfrom ..retrieval import y"),
    (hooks_stand_alone, "hooks/a.py", "import json\nimport os.path\nfrom .spool import append\nfrom . import spool"),
    (hooks_stand_alone, "server/a.py", "from ..hooks.spool import read\nimport mcp"),
    (hooks_stand_alone, "store/spool_files.py", "from ..hooks.appending import append"),
    (only_the_store_knows_sql, "store/a.py", "import apsw"),
    (nothing_prints, "server/a.py", "console.print('x')\n'print(1)'"),
    (modules_are_short, "store/a.py", "x = 1\n" * 400),
    (nothing_is_patched, "tests/a.py", "def f(monkeypatch):\n    monkeypatch.setenv('A', '1')"),
    (nothing_sleeps, "tests/a.py", "import anyio\nawait anyio.sleep(0)"),
    (nothing_names_a_machine_or_registry, "README.md", "src/work/main, https://work/x, a root/child, /workspace/x"),
)


def _sample(sample: tuple[Rule, str, str]) -> str:
    return f"{_name(sample[0])} {sample[1]} {sample[2][:50]!r}"


@pytest.mark.parametrize("sample", BAD, ids=_sample)
def test_a_rule_sees_its_breach(sample: tuple[Rule, str, str]) -> None:
    rule, path, source = sample
    assert len(rule(PurePosixPath(path), source)) == 1


@pytest.mark.parametrize("sample", GOOD, ids=_sample)
def test_a_rule_leaves_what_is_right_alone(sample: tuple[Rule, str, str]) -> None:
    rule, path, source = sample
    assert rule(PurePosixPath(path), source) == []
