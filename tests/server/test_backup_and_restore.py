"""`ebbing backup` and `ebbing restore` as a person types them."""

from pathlib import Path

import pytest
from command_line import ebbing


@pytest.fixture(autouse=True)
def no_model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("EBBING_MODEL_DIR", str(tmp_path / "no-model"))
    monkeypatch.setenv("EBBING_LOG_LEVEL", "ERROR")


def test_a_backup_is_put_back_once_somebody_agrees(tmp_path: Path) -> None:
    ebbing("save", "The port is 8080.")
    file = str(tmp_path / "copy.db")
    done = ebbing("backup", file)
    assert (done.code, done.err, "1 memories" in done.out) == (0, "", True)
    ebbing("save", "The queue is called mail.")
    refused = ebbing("restore", file, stdin="n\n")
    assert (refused.code, refused.out.strip()) == (0, "Nothing was changed.")
    assert ebbing("status", "--json").json["memories"] == 2
    done = ebbing("restore", file, "--yes", "--json")
    assert (done.code, done.json["memories"]) == (0, 1)
    assert ebbing("status", "--json").json["memories"] == 1
    again = ebbing("restore", done.json["kept"], stdin="y\n")
    assert (again.code, "2 memories" in again.out) == (0, True)


def test_a_backup_without_a_name_is_among_those_that_doctor_knows(ebbing_home: Path) -> None:
    ebbing("save", "The port is 8080.")
    file = Path(ebbing("backup", "--json").json["file"])
    assert file.parent == ebbing_home / "backups"
    [backups] = [finding for finding in ebbing("doctor", "--json").json["findings"] if finding["check"] == "backups"]
    assert file.name in backups["text"]


def test_a_backup_never_writes_over_a_file_unless_told(tmp_path: Path) -> None:
    file = tmp_path / "precious"
    file.write_text("mine")
    assert ebbing("backup", str(file)).code == 2
    assert file.read_text() == "mine"
    assert ebbing("backup", str(file), "--force").code == 0
    assert [path.name for path in tmp_path.iterdir()] == ["precious"]


def test_json_needs_a_yes() -> None:
    assert ebbing("restore", "x", "--json").code == 2


@pytest.mark.parametrize(("name", "code"), [("missing.db", 2), ("text.db", 1)])
def test_a_file_that_is_no_backup_is_one_line(tmp_path: Path, name: str, code: int) -> None:
    (tmp_path / "text.db").write_text("no database")
    done = ebbing("restore", str(tmp_path / name), "--yes")
    assert (done.code, done.out, len(done.err.splitlines())) == (code, "", 1)
