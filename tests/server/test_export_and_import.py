"""`ebbing export` and `ebbing import` as a person types them."""

import stat
from pathlib import Path

import pytest
from command_line import ebbing

DECISION = "Use SQLite instead of Postgres, because one file is easy to back up."


@pytest.fixture(autouse=True)
def no_model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("EBBING_MODEL_DIR", str(tmp_path / "no-model"))
    monkeypatch.setenv("EBBING_LOG_LEVEL", "ERROR")


def test_memories_move_to_another_home_through_a_private_file(tmp_path: Path) -> None:
    identifier = ebbing("save", DECISION, "--kind", "decision", "--json").json["id"]
    file, other = tmp_path / "all.jsonl", str(tmp_path / "other")
    done = ebbing("export", str(file))
    assert (done.code, done.err) == (0, "")
    assert "1 memories" in done.out
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    moved = ebbing("import", str(file), "--home", other)
    assert (moved.code, moved.err) == (0, "")
    assert "1 memories added" in moved.out
    assert ebbing("export", "--home", other).out == file.read_text("utf-8")
    assert DECISION in ebbing("recall", "--ids", identifier, "--home", other).out


def test_an_export_goes_through_a_pipe(tmp_path: Path) -> None:
    ebbing("save", DECISION)
    piped = ebbing("export").out
    done = ebbing("import", "-", "--home", str(tmp_path / "other"), "--json", stdin=piped)
    assert (done.code, done.json["added"]) == (0, 1)


def test_an_export_never_writes_over_a_file_unless_told(tmp_path: Path) -> None:
    file = tmp_path / "precious"
    file.write_text("mine")
    assert ebbing("export", str(file)).code == 2
    assert file.read_text() == "mine"
    assert ebbing("export", str(file), "--force").code == 0
    assert file.read_text().startswith('{"type":"ebbing-export"')
    assert [path.name for path in tmp_path.iterdir()] == ["precious"]


def test_a_scope_that_is_named_comes_alone(tmp_path: Path) -> None:
    ebbing("save", DECISION)
    ebbing("save", "Answers are short.", "--scope", "global")
    out = ebbing("export", "--scope", "global").out
    assert "Answers are short." in out
    assert DECISION not in out


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("import", "no-such-file"), 1),
        (("export", "no/such/folder/file"), 1),
        (("export", "--scope", "/no/such/project"), 2),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_cannot_be_read_or_written_is_one_line(arguments: tuple[str, ...], code: int) -> None:
    done = ebbing(*arguments)
    assert (done.code, done.out, len(done.err.splitlines())) == (code, "", 1)


def test_a_bad_line_is_named_by_its_number_and_can_be_left_out(tmp_path: Path) -> None:
    ebbing("save", DECISION)
    good = ebbing("export").out
    done = ebbing("import", "-", "--home", str(tmp_path / "other"), stdin=good + "{broken\n")
    assert done.code == 2
    assert "Nothing was imported" in done.err
    number = good.count("\n") + 1
    done = ebbing("import", "-", "--skip-bad", "--home", str(tmp_path / "other"), stdin=good + "{broken\n")
    assert done.code == 0
    assert f"Left out, line {number}:" in done.out
