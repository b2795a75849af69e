"""Foreign formats: what is read out of them, and what kind of memory each note becomes."""

import json
from collections.abc import Mapping

import pytest
from foreign_samples import BASIC_MEMORY, CLAUDE_MD, CLAUDE_MEMORY, MEM0, MEMORY_SERVER
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbing.encoding.foreign.markdown import blocks, front_matter, notes_of
from ebbing.encoding.foreign.notes import Document, Note, Reading, spoken
from ebbing.encoding.foreign.registry import FORMATS, recognised
from ebbing.schemas.instants import parse
from ebbing.schemas.memory import Kind


def documents(files: Mapping[str, str]) -> list[Document]:
    return [Document(name, f"/notes/{name}", text) for name, text in sorted(files.items())]


def read(name: str, files: Mapping[str, str]) -> Reading:
    return FORMATS[name].read(documents(files))


def texts(reading: Reading) -> list[str]:
    return [note.text for note in reading.notes]


def by_start(reading: Reading, start: str) -> Note:
    [found] = [note for note in reading.notes if note.text.startswith(start)]
    return found


# --- which format it is ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "files"),
    [
        ("claude-memory", CLAUDE_MEMORY),
        ("instructions", {"CLAUDE.md": CLAUDE_MD}),
        ("instructions", {"AGENTS.md": CLAUDE_MD}),
        ("basic-memory", BASIC_MEMORY),
        ("memory-server", {"memory.jsonl": MEMORY_SERVER}),
        ("mem0", {"export.json": MEM0}),
        ("markdown", {"notes.md": CLAUDE_MD}),
    ],
)
def test_each_format_is_recognised(name: str, files: Mapping[str, str]) -> None:
    found = recognised(documents(files))
    assert found is not None
    assert found.name == name


@pytest.mark.parametrize(
    "files",
    [
        {"a.md": "text", "b.md": "text"},
        {"data.json": '[{"text": "anything"}]'},
        {"data.jsonl": '{"type":"event"}'},
        {"notes.txt": "text"},
        {"empty.json": ""},
    ],
)
def test_what_could_be_anything_is_not_guessed(files: Mapping[str, str]) -> None:
    assert recognised(documents(files)) is None


# --- Claude Code's memory --------------------------------------------------------------------------------------------


def test_each_typed_topic_is_one_memory_of_a_fitting_kind() -> None:
    reading = read("claude-memory", CLAUDE_MEMORY)
    feedback = by_start(reading, "Integration tests must use")
    assert (feedback.kind, feedback.tags) == (Kind.PREFERENCE, ("feedback",))
    assert "**Why:** mocked tests" in feedback.text
    assert feedback.source == "/notes/feedback_no_mocks.md"
    assert by_start(reading, "The user is a backend engineer").kind is Kind.PREFERENCE
    assert by_start(reading, "Merges are frozen").kind is Kind.FACT
    assert by_start(reading, "Latency alerts").tags == ("reference",)


def test_the_index_gives_only_what_stands_nowhere_else() -> None:
    reading = read("claude-memory", CLAUDE_MEMORY)
    assert "Memory index: The tide service is deployed by the harbour team." in texts(reading)
    assert [text for text in texts(reading) if ".md)" in text] == []


def test_topics_without_a_type_are_read_as_markdown() -> None:
    reading = read("claude-memory", CLAUDE_MEMORY)
    assert "Debugging: The worker leaks sockets when `TIDE_POOL` is above 64." in texts(reading)


# --- Markdown --------------------------------------------------------------------------------------------------------


def test_instructions_become_notes_that_stand_alone() -> None:
    assert texts(read("instructions", {"CLAUDE.md": CLAUDE_MD})) == [
        "Tide tables: See @docs/architecture.md for the whole picture.\n@docs/private.md",
        "Commands: Run these before pushing: `pnpm test` runs the unit tests",
        "Commands: Run these before pushing: `pnpm lint --fix` repairs the style\n  and fails on unused imports",
        "Commands: To build the image:\n```sh\ndocker build -t tides .\n```",
        "Code style: Always use named exports.",
        "Code style: Two spaces, no tabs.\n  - Makefiles are the exception.",
        "Decisions: We chose SQLite instead of Postgres because one file is easy to ship.",
        "Services: | name | port |\n|---|---|\n| api | 8080 |",
        "Services: The deploy token is ghp_{token}.",
        "Services: The berth importer still reads CSV.",
    ]


def test_headings_and_wording_tell_the_kind() -> None:
    kinds = {note.text.partition(":")[0]: note.kind for note in read("markdown", {"CLAUDE.md": CLAUDE_MD}).notes}
    assert kinds == {
        "Tide tables": Kind.FACT,
        "Commands": Kind.PROCEDURE,
        "Code style": Kind.PREFERENCE,
        "Decisions": Kind.DECISION,
        "Services": Kind.FACT,
    }
    [wish] = read("markdown", {"a.md": "Never push on a Friday."}).notes
    assert wish.kind is Kind.PREFERENCE


def test_a_heading_inside_of_a_fence_is_code() -> None:
    [note] = read("markdown", {"a.md": "```sh\n# not a heading\n- not an item\n```\n"}).notes
    assert note.text == "```sh\n# not a heading\n- not an item\n```"


def test_front_matter_is_read_with_lists_and_what_is_nested() -> None:
    fields, body = front_matter("---\ntitle: 'A b'\ntags:\n  - one\n  - two\nmetadata:\n  type: user\n---\ntext\n")
    assert (fields["title"], fields["tags"], fields["type"], body) == ("A b", "one, two", "user", "text\n")
    assert front_matter("--- no front matter\ntext") == ({}, "--- no front matter\ntext")


@given(
    st.lists(st.sampled_from(["# h", "## i", "- item", "  more", "text:", "", "```", "~~~", "1. one", "| a |", "---"]))
)
def test_no_line_of_markdown_is_lost_or_told_twice_but_what_announces_a_list(parts: list[str]) -> None:
    marked = [f"{part}{number}" if part and part[0] not in "`~-|" else part for number, part in enumerate(parts)]
    told = "\n".join(line for block in blocks("\n".join(marked)) for line in (block.lead, *block.lines))
    for line in marked:
        kept = line.strip().lstrip("1.-# ")
        if kept and not line.startswith(("#", "```", "~~~", "---")):
            assert kept in told


@settings(max_examples=40)
@given(st.text(max_size=100))
def test_any_text_is_read_as_every_format_without_an_error(text: str) -> None:
    for each in FORMATS.values():
        each.is_sure([Document("MEMORY.md", "x", text)])
        each.read([Document("a.md", "x", text)])


# --- the reference memory server -------------------------------------------------------------------------------------


def test_observations_and_relations_become_sentences() -> None:
    reading = read("memory-server", {"memory.jsonl": MEMORY_SERVER})
    assert reading.problems == []
    assert texts(reading) == [
        "harbour-api (service): Listens on port 8080",
        "harbour-api (service): Written in Go\u2028since 2024",
        "Tide_Worker (service): Consumes the queue tides",
        "Tide_Worker depends on harbour-api",
    ]


def test_a_line_that_is_nothing_is_named() -> None:
    reading = read("memory-server", {"memory.jsonl": MEMORY_SERVER + "{broken\n\n[1]\n"})
    assert [where for where, _ in reading.problems] == ["memory.jsonl line 5", "memory.jsonl line 7"]
    assert len(reading.notes) == 4


def test_names_of_relations_are_spoken() -> None:
    assert (spoken("depends_on"), spoken("worksAt"), spoken("is-a")) == ("depends on", "works at", "is a")


# --- basic-memory ----------------------------------------------------------------------------------------------------


def test_observations_keep_category_tags_and_context() -> None:
    reading = read("basic-memory", BASIC_MEMORY)
    decision = by_start(reading, "Authentication design: JWT")
    assert decision.text == "Authentication design: JWT tokens carry the session, so that no server keeps state"
    assert (decision.kind, decision.tags) == (Kind.DECISION, ("decision", "security", "auth"))
    assert decision.recorded_at == parse("2026-01-15T10:00:00Z")
    technique = by_start(reading, "Authentication design: Refresh")
    assert (technique.kind, "(prevents XSS)" in technique.text) == (Kind.PROCEDURE, True)
    assert by_start(reading, "Ports: The staging gateway").tags == ("fact", "network")


def test_relations_and_prose_are_notes_too() -> None:
    said = texts(read("basic-memory", BASIC_MEMORY))
    assert "Authentication design implements API security requirements" in said
    assert "Authentication design depends on User database (read only)" in said
    assert "Authentication design: Sessions are handled by the gateway alone." in said
    assert "Authentication design: write the migration guide" in said


# --- mem0 ------------------------------------------------------------------------------------------------------------


def test_memories_come_with_their_date_and_kind() -> None:
    reading = read("mem0", {"export.json": MEM0})
    assert [(note.kind, note.recorded_at) for note in reading.notes] == [
        (Kind.PREFERENCE, parse("2025-11-02T08:30:36.275141Z")),
        (Kind.FACT, parse("2025-12-24T08:00:00Z")),
        (Kind.DECISION, None),
        (Kind.FACT, None),
    ]
    assert reading.notes[3].text == "api_redesign blocked by schema_review"


def test_a_bare_list_is_read_and_what_has_no_text_is_named() -> None:
    data = json.dumps([{"memory": "The port is 8080."}, {"memory": ""}])
    reading = read("mem0", {"a.json": data})
    assert (texts(reading), [where for where, _ in reading.problems]) == (["The port is 8080."], ["a.json memory 2"])
    assert read("mem0", {"a.json": "no json"}).problems != []


def test_closing_marks_of_a_heading_and_comments_are_left_out() -> None:
    text = "# Title #\n## Ways ##  \n<!-- not\nthis -->- one <!-- nor this -->\n- two <!-- but this"
    notes = notes_of(Document("n.md", "n.md", text))
    assert [note.text for note in notes] == ["Ways: one", "Ways: two <!-- but this"]
