"""The file of a soft prompt: private, whole, and emptied of what must go."""

import stat
from pathlib import Path

from made_memory import made

from ebbing.lifecycle.prompt_file import ids_in, read, withdraw, without, write
from ebbing.lifecycle.soft_prompt import Scored, compose

SHORT = made("The user prefers tabs.", number=1)
LONG = made("We chose the codename Quillfeather for the merger that closes in May of this year.", "decision", number=2)
TEXT = compose([Scored(one, 1.0, 1.0) for one in (SHORT, LONG)], len, now=SHORT.recorded_at).text


def test_a_file_is_private_and_written_only_when_something_changed(tmp_path: Path) -> None:
    path = tmp_path / "soft-prompts" / "x.md"
    assert write(path, TEXT)
    assert not write(path, TEXT)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [other.name for other in path.parent.iterdir()] == ["x.md"]
    assert read(path) == TEXT
    assert write(path, "")
    assert not path.exists()
    assert not write(path, "")
    assert read(path) == ""


def test_ids_are_read_back_in_their_order() -> None:
    assert ids_in(TEXT) == (SHORT.id, LONG.id)
    assert ids_in("no line [of ours]") == ()


def test_a_memory_goes_with_its_line_and_an_empty_section_with_its_heading() -> None:
    left = without(TEXT, {LONG.id})
    assert ids_in(left) == (SHORT.id,)
    assert "Decisions" not in left
    assert without(left, {SHORT.id}) == ""
    assert without(TEXT, {"unknown"}) == TEXT


def test_lines_that_quote_a_text_go_whoever_they_belong_to() -> None:
    assert ids_in(without(TEXT, texts=[f"He said:\n{LONG.content}"])) == (SHORT.id,)
    assert ids_in(without(TEXT, texts=["The user prefers\ntabs."])) == (LONG.id,)
    assert without(TEXT, texts=["something else altogether, which stands nowhere in it"]) == TEXT


def test_every_file_of_a_folder_is_cleared(tmp_path: Path) -> None:
    for name in ("a.md", "b.md"):
        write(tmp_path / name, TEXT)
    assert withdraw(tmp_path, {LONG.id}) == 2
    assert withdraw(tmp_path, {LONG.id}) == 0
    assert withdraw(tmp_path / "missing", {LONG.id}) == 0
    assert ids_in(read(tmp_path / "b.md")) == (SHORT.id,)
