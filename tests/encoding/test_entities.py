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


@given(st.text(max_size=500))
def test_any_text_gives_at_most_so_many_different_entities(text: str) -> None:
    found = entities(text)
    assert len(found) == len(set(found)) <= MAX_ENTITIES


def test_a_megabyte_without_spaces_takes_no_time_worth_speaking_of() -> None:
    assert len(entities("a_b/" * 25_000)) <= MAX_ENTITIES
