"""`ebbing import` of what other memories wrote: once, redacted, little trusted, into the named scope."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from command_line import ebbing
from foreign_samples import BASIC_MEMORY, CLAUDE_MD, CLAUDE_MEMORY, MEM0, MEMORY_SERVER

TOKEN = "a1B2" * 9
SAMPLES: tuple[tuple[str, str, Mapping[str, str], int, str, str], ...] = (
    ("claude-memory", "", CLAUDE_MEMORY, 7, "may integration tests use a mock?", "never a mock"),
    ("instructions", "CLAUDE.md", {"CLAUDE.md": CLAUDE_MD.replace("{token}", TOKEN)}, 10, "pnpm lint", "pnpm lint"),
    ("instructions", "AGENTS.md", {"AGENTS.md": CLAUDE_MD}, 10, "named exports", "named exports"),
    ("markdown", "notes.md", {"notes.md": CLAUDE_MD}, 10, "why SQLite", "SQLite"),
    ("memory-server", "memory.jsonl", {"memory.jsonl": MEMORY_SERVER}, 4, "harbour-api port", "8080"),
    ("basic-memory", "", BASIC_MEMORY, 8, "refresh tokens", "HTTP-only"),
    ("mem0", "export.json", {"export.json": MEM0}, 4, "pnpm", "pnpm"),
)


@pytest.fixture(autouse=True)
def no_model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("EBBING_MODEL_DIR", str(tmp_path / "no-model"))
    monkeypatch.setenv("EBBING_LOG_LEVEL", "ERROR")


@pytest.fixture
def written(tmp_path: Path) -> Callable[[Mapping[str, str]], Path]:
    """Writes files into a folder and gives it."""

    def write(files: Mapping[str, str]) -> Path:
        for name, text in files.items():
            path = tmp_path / "notes" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        return tmp_path / "notes"

    return write


def one_of(written: Callable[[Mapping[str, str]], Path], text: str) -> str:
    return str(written({"notes.md": text}) / "notes.md")


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: f"{sample[0]} {sample[1]}")
def test_each_format_is_imported_once_and_recalled(
    written: Callable[[Mapping[str, str]], Path], sample: tuple[str, str, Mapping[str, str], int, str, str]
) -> None:
    name, file, files, count, question, answer = sample
    path = str(written(files) / file)
    would = ebbing("import", path, "--dry-run", "--json").json
    assert (would["from"], would["added"], ebbing("status", "--json").json["memories"]) == (name, count, 0)
    done = ebbing("import", path, "--json").json
    assert (done["added"], done["known"], done["refused"], done["bad"]) == (count, 0, [], [])
    before = ebbing("export").out
    again = ebbing("import", path, "--json").json
    assert (again["added"], again["known"]) == (0, count)
    assert ebbing("export").out == before
    found = ebbing("recall", question, "--json").json["memories"][0]
    assert answer in found["text"]
    assert found["trust"] == 0.4
    assert found["source"].startswith(path.removesuffix("/"))


def test_secrets_are_removed_on_the_way_in(written: Callable[[Mapping[str, str]], Path]) -> None:
    path = one_of(written, CLAUDE_MD.replace("{token}", TOKEN))
    done = ebbing("import", path)
    assert "Removed before storing: 1 " in done.out
    assert "ghp_a1B2" not in ebbing("export").out


def test_what_somebody_vouches_for_is_trusted_as_their_own_word(written: Callable[[Mapping[str, str]], Path]) -> None:
    path = one_of(written, "The port of the mirror is 8080.")
    ebbing("import", path)
    done = ebbing("import", path, "--trust")
    assert "1 that had come before are trusted as your own word now" in done.out
    assert ebbing("recall", "mirror port", "--json").json["memories"][0]["trust"] == 1.0
    before = ebbing("export").out
    assert ebbing("import", path, "--trust", "--json").json["vouched"] == 0
    assert ebbing("export").out == before


def test_text_from_outside_replaces_nothing_that_is_known(written: Callable[[Mapping[str, str]], Path]) -> None:
    known = ebbing("save", "The staging port is 8080.", "--json").json["id"]
    path = one_of(written, "The staging port is 9999.")
    done = ebbing("import", path, "--json").json
    assert (done["superseded"], [pair[1] for pair in done["conflicts"]]) == (0, [known])
    assert ebbing("recall", "--ids", known, "--json").json["memories"][0]["superseded_by"] is None


def test_the_users_word_replaces_what_it_contradicts(written: Callable[[Mapping[str, str]], Path]) -> None:
    known = ebbing("save", "The staging port is 8080.", "--json").json["id"]
    done = ebbing("import", one_of(written, "The staging port is 9999."), "--trust", "--json").json
    assert done["superseded"] == 1
    assert ebbing("recall", "--ids", known, "--json").json["memories"][0]["superseded_by"] is not None


def test_notes_go_into_the_scope_that_is_named(written: Callable[[Mapping[str, str]], Path]) -> None:
    path = one_of(written, "The port of the mirror is 8080.")
    assert ebbing("import", path, "--scope", "global", "--json").json["scope"] == "global"
    assert ebbing("status", "--scope", "global", "--json").json["memories"] == 1


def test_what_was_saved_by_hand_is_known_and_not_confirmed(written: Callable[[Mapping[str, str]], Path]) -> None:
    ebbing("save", "The port of the mirror is 8080.")
    before = ebbing("export").out
    done = ebbing("import", one_of(written, "The port of the mirror\nis 8080."), "--json").json
    assert (done["added"], done["known"]) == (0, 1)
    assert ebbing("export").out == before


def test_claude_codes_folder_of_a_project_is_read_beside_its_transcripts(
    written: Callable[[Mapping[str, str]], Path],
) -> None:
    folder = written({f"memory/{name}": text for name, text in CLAUDE_MEMORY.items()})
    (folder / "session.jsonl").write_text("{}")
    assert ebbing("import", str(folder), "--json").json["from"] == "claude-memory"


def test_links_out_of_the_folder_are_not_followed(written: Callable[[Mapping[str, str]], Path], tmp_path: Path) -> None:
    (tmp_path / "private.md").write_text("The code of the safe is tulip.")
    folder = written(CLAUDE_MEMORY)
    (folder / "link.md").symlink_to(tmp_path / "private.md")
    ebbing("import", str(folder))
    assert "tulip" not in ebbing("export").out


def test_bad_lines_stop_the_import_unless_they_are_left_out(written: Callable[[Mapping[str, str]], Path]) -> None:
    path = str(written({"memory.jsonl": MEMORY_SERVER + "{broken\n"}) / "memory.jsonl")
    done = ebbing("import", path)
    assert (done.code, "memory.jsonl line 5" in done.err) == (2, True)
    assert ebbing("status", "--json").json["memories"] == 0
    done = ebbing("import", path, "--skip-bad")
    assert (done.code, "Left out, memory.jsonl line 5" in done.out) == (0, True)
    assert ebbing("status", "--json").json["memories"] == 4


def test_a_file_that_could_be_anything_must_be_named(written: Callable[[Mapping[str, str]], Path]) -> None:
    path = str(written({"notes.txt": "The port of the mirror is 8080."}) / "notes.txt")
    done = ebbing("import", path)
    assert (done.code, "--from" in done.err) == (2, True)
    assert ebbing("import", path, "--from", "markdown").code == 0


def test_a_text_that_is_too_long_is_named_and_the_rest_is_imported(
    written: Callable[[Mapping[str, str]], Path],
) -> None:
    path = one_of(written, "The port is 8080.\n\n" + "word " * 30_000)
    done = ebbing("import", path, "--json").json
    assert (done["added"], len(done["refused"])) == (1, 1)
