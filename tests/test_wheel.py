"""What a user installs is the wheel, so it is built, looked into, and tried where the source can't be found."""

import json
import os
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PACKAGED: list[str] = PYPROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["only-include"]


@dataclass(frozen=True, slots=True)
class Installed:
    """A bare environment with the wheel in it: the folder of its programs, and an empty folder to run them in."""

    programs: Path
    elsewhere: Path

    def run(
        self, program: str, *arguments: str, stdin: str = "", env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.programs / program, *arguments],
            cwd=self.elsewhere,
            input=stdin,
            env={**os.environ, **(env or {})},
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )


def build(source: Path, target: str, into: Path) -> Path:
    command = [sys.executable, "-m", "hatchling", "build", "--target", target, "--directory", str(into)]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (built,) = into.iterdir()
    return built


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(ROOT, "wheel", tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """The wheel in an environment of its own, which borrows the dependencies but not the editable install."""
    base = tmp_path_factory.mktemp("installed")
    environment = base / "venv"
    venv.create(environment, symlinks=True)
    paths = sysconfig.get_paths("venv", vars={"base": str(environment), "platbase": str(environment)})
    # A folder that a .pth file adds has its own .pth files ignored: ours that leads to the source among them.
    Path(paths["purelib"], "borrowed.pth").write_text(f"{sysconfig.get_path('purelib')}\n", encoding="utf-8")
    python = Path(paths["scripts"], "python")
    done = subprocess.run([python, "-m", "installer", wheel], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (base / "elsewhere").mkdir()
    return Installed(programs=python.parent, elsewhere=base / "elsewhere")


def files_of(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist() if ".dist-info/" not in name}


def files_of_the_source() -> dict[str, bytes]:
    paths = [
        path
        for entry in PACKAGED
        for path in ((ROOT / entry).rglob("*") if (ROOT / entry).is_dir() else [ROOT / entry])
    ]
    return {
        f"ebbing/{path.relative_to(ROOT).as_posix()}": path.read_bytes()
        for path in paths
        if path.is_file() and path.suffix != ".pyc"
    }


def test_the_top_level_is_the_package_alone(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        top = {name.split("/")[0] for name in archive.namelist()}
    assert {name for name in top if not name.endswith(".dist-info")} == {"ebbing"}


def test_the_wheel_holds_every_file_of_the_package_and_no_other(wheel: Path) -> None:
    assert files_of(wheel) == files_of_the_source()


def test_files_that_are_not_modules_are_in_the_wheel(wheel: Path) -> None:
    names = files_of(wheel).keys()
    assert "ebbing/py.typed" in names
    assert [name for name in names if name.startswith("ebbing/schemas/migrations/") and name.endswith(".sql")] != []


def test_a_wheel_built_from_the_source_archive_is_the_same(wheel: Path, tmp_path: Path) -> None:
    archive = build(ROOT, "sdist", tmp_path / "archive")
    with tarfile.open(archive) as tar:
        tar.extractall(tmp_path / "source", filter="data")
    (source,) = (tmp_path / "source").iterdir()
    assert files_of(build(source, "wheel", tmp_path / "again")) == files_of(wheel)


def test_the_licence_and_the_readme_travel_with_the_wheel(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (licence,) = [name for name in archive.namelist() if name.endswith("licenses/LICENSE")]
        (metadata,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        assert archive.read(licence) == (ROOT / "LICENSE").read_bytes()
        assert (ROOT / "README.md").read_text("utf-8").strip() in archive.read(metadata).decode()


def test_every_module_of_the_installed_wheel_imports_without_the_source(installed: Installed) -> None:
    program = (
        "import ebbing, json, pkgutil, sys\n"
        "names = [m.name for m in pkgutil.walk_packages(ebbing.__path__, 'ebbing.')]\n"
        "for name in names: __import__(name)\n"
        "print(json.dumps([m.__file__ for n, m in sys.modules.items() if n.split('.')[0] == 'ebbing']))"
    )
    done = installed.run("python", "-W", "error", "-c", program)
    assert done.returncode == 0, done.stderr
    files = [Path(file) for file in json.loads(done.stdout)]
    environment = installed.programs.parent
    assert [file for file in files if not file.is_relative_to(environment)] == []
    assert len(files) == len([name for name in files_of_the_source() if name.endswith(".py")])


def test_the_installed_command_says_its_version(installed: Installed) -> None:
    done = installed.run("ebbing", "--version")
    assert (done.returncode, done.stderr) == (0, "")
    assert _version() in done.stdout


def test_the_installed_hook_answers_an_event_it_knows_and_one_it_does_not(installed: Installed, tmp_path: Path) -> None:
    home = {"EBBING_HOME": str(tmp_path / "home")}
    for event in ("session-start", "no-such-event"):
        done = installed.run("ebbing-hook", event, stdin='{"session_id": "s", "cwd": "/tmp"}', env=home)
        assert (done.returncode, done.stderr) == (0, ""), event


def _version() -> str:
    namespace: dict[str, str] = {}
    exec((ROOT / "__init__.py").read_text("utf-8"), namespace)  # noqa: S102
    return namespace["__version__"]
