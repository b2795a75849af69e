import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbing.encoding.entities import MAX_ENTITIES, entities
from ebbing.schemas.memory import Entity


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("see src/app/main.py for it", "path", "src/app/main.py"),
        ("open ./scripts/test now", "path", "scripts/test"),
        ("edit pyproject.toml", "file", "pyproject.toml"),
        ("fixed in ENG-42", "ticket", "ENG-42"),
        ("closes #1234", "ticket", "#1234"),
        ("set EBBING_HOME first", "env", "EBBING_HOME"),
        ("pass --dry-run", "flag", "--dry-run"),
        ("on db-7", "host", "db-7"),
        ("bumped to v2.10.3", "version", "2.10.3"),
        ("at commit 3f2a91bc", "commit", "3f2a91bc"),
        ("call parse_line() there", "symbol", "parse_line"),
        ("the getUserName helper", "symbol", "getUserName"),
        ("class HttpClient", "symbol", "HttpClient"),
        ("use numpy.ndarray", "symbol", "numpy.ndarray"),
        ("docs at https://example.org/a/b?c=1.", "url", "https://example.org/a/b?c=1"),
        ("the word `left pad` here", "quoted", "left pad"),
        ("ask Melanie about it", "name", "Melanie"),
        ("Melanie left. Melanie came back.", "name", "Melanie"),
        ("The Postgres upgrade went well", "name", "Postgres"),
        ("we met Anna Maria Weiss there", "name", "Anna Maria Weiss"),
        ("run pip install -U Left_Pad first", "package", "left-pad"),
        ("pinned numpy==2.1.0 for now", "package", "numpy"),
        ("pinned numpy==2.1.0 for now", "version", "2.1.0"),
        ("npm add @acme/ui-kit", "package", "@acme/ui-kit"),
        ("we moved to Python 3.12", "version", "3.12"),
        ("works since v2", "version", "2"),
        ("see tests/encoding and docs", "path", "tests/encoding"),
        ("failed at src/app/main.py:88:3", "path", "src/app/main.py"),
        ("in C:\\work\\app\\main.c", "path", "C:\\work\\app\\main.c"),
        ("in ~/.config/app.toml", "path", "~/.config/app.toml"),
        ("patched CVE-2024-12345", "ticket", "CVE-2024-12345"),
        ("see acme/core#77", "ticket", "acme/core#77"),
        ("curl localhost:8080 fails", "host", "localhost:8080"),
        ("ping 10.0.0.7 first", "host", "10.0.0.7"),
        ("from API.Acme.dev or db.acme.internal", "host", "db.acme.internal"),
        ("echo $HOME there", "env", "HOME"),
        ("PostgreSQL is fine", "symbol", "PostgreSQL"),
        ('the message "connection reset" again', "quoted", "connection reset"),
    ],
)
def test_what_a_text_names_is_found_and_normalised(text: str, kind: str, value: str) -> None:
    assert Entity(kind, value) in entities(text)


def test_versions_are_never_merged() -> None:
    assert entities("v1.0 and v2.0") == (Entity("version", "1.0"), Entity("version", "2.0"))


def test_the_first_word_of_a_sentence_is_no_name() -> None:
    assert entities("Tests pass. Deploys fail.") == ()


def test_plain_words_name_nothing() -> None:
    assert entities("the cache is cold and the queue is full") == ()


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("read/write and/or GB/s", "path"),
        ("it took 12.5 s and 3.5 MB", "version"),
        ("the ratio is 0.85", "version"),
        ("UTF-8 and SHA-256", "ticket"),
        ("e.g. this, i.e. that", "symbol"),
        ("the facade was effaced", "commit"),
        ("Met on Monday in March", "name"),
        ("NEVER do that", "name"),
        ("- Tests pass\n- Deploys fail", "name"),
    ],
)
def test_what_only_looks_like_a_name_is_none(text: str, kind: str) -> None:
    assert [entity for entity in entities(text) if entity.kind == kind] == []


@given(st.text(max_size=500))
def test_any_text_gives_at_most_so_many_different_entities(text: str) -> None:
    found = entities(text)
    assert len(found) == len(set(found)) <= MAX_ENTITIES


@pytest.mark.parametrize(
    "piece", ["a_b/", "a.", "a-", "1-", "v1.2.3-", "a.com.", "--a", "a@b.", "Ab ", "aB", "`", "/", "f0"]
)
def test_a_text_made_to_backtrack_takes_no_longer_than_its_length_allows(piece: str) -> None:
    start = time.process_time()
    assert len(entities(piece * (100_000 // len(piece)) + "!")) <= MAX_ENTITIES
    assert time.process_time() - start < 5
