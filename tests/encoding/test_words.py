"""Words for the full-text tables, checked against a real FTS5 table."""

from collections.abc import Iterator
from typing import Any

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbing.encoding.words import identifiers_in, index_text, match_expression, query_terms, trigram_text


def run(connection: Any, sql: str, values: tuple[object, ...] = ()) -> list[tuple[Any, ...]]:
    """Any, because the driver's own annotations are not complete."""
    return list(connection.execute(sql, values))


@pytest.fixture(scope="module")
def tables() -> Iterator[apsw.Connection]:
    connection = apsw.Connection(":memory:")
    run(connection, "create virtual table porter using fts5(body, tokenize='porter unicode61 remove_diacritics 2')")
    run(connection, "create virtual table trigram using fts5(body, tokenize='trigram')")
    yield connection
    connection.close()


def finds(connection: apsw.Connection, text: str, query: str) -> bool:
    run(connection, "delete from porter")
    run(connection, "insert into porter(rowid, body) values (1, ?)", (index_text(text),))
    terms = query_terms(query)
    expression = match_expression([*terms.words, *terms.identifiers, *terms.phrases])
    return bool(expression and run(connection, "select rowid from porter where porter match ?", (expression,)))


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("call getUserName first", "user name"),
        ("call getUserName first", "getUserName"),
        ("the HTTPServer restarts", "http"),
        ("parse_http_header fails", "header"),
        ("see src/net/socket_pool.py", "socket pool"),
        ("see src/net/socket_pool.py", "src/net/socket_pool.py"),
        ("the ask-codex tool", "ask-codex"),
        ("pinned numpy 2.10.3", "2.10.3"),
        ("ebbing.store.codec packs bits", "codec"),
        ("utf8Decoder2 is slow", "decoder2"),
        ("we write C++ here", "C++"),
        ("a C# service", "which c# service"),
        ("don't rebase main", "don't"),
        ("disk does 3 GB/s", "GB/s"),
        ("データベースは東京にある", "東京"),
        ("使用pnpm管理依赖", "pnpm"),
        ("ฐานข้อมูลหลัก", "ข้อมูล"),
        ("Müller reviewed it", "muller"),
        ("run the migrations", "migration"),
    ],
)
def test_a_text_is_found_by_the_parts_of_its_names(tables: apsw.Connection, text: str, query: str) -> None:
    assert finds(tables, text, query)


def test_a_spelled_out_language_does_not_match_its_letter_alone(tables: apsw.Connection) -> None:
    assert not finds(tables, "plan C is ready", ".NET")


@pytest.mark.parametrize(
    "query",
    [
        *('"', '""', "-", ":", "*", "(", ")", "^", "NEAR", "AND", "NEAR(a b)", "C++", "don't", "a/b", "GB/s"),
        *("ask-codex", "col:x", "a AND", "x*", "", " ", "\x00", "a\x00b", "\ud800", "grammar::fa", "{a b}:c", "+"),
        *("a,b", "🙂", "É", '"unclosed', 'it\'s "so"', "--", "'; drop table memory; --"),
    ],
)
def test_no_text_of_a_user_is_query_syntax(tables: apsw.Connection, query: str) -> None:
    assert_valid(tables, query)


@given(st.text(max_size=80))
def test_any_text_makes_a_valid_expression_or_none(text: str) -> None:
    with apsw.Connection(":memory:") as connection:
        run(connection, "create virtual table porter using fts5(body, tokenize='porter unicode61')")
        run(connection, "create virtual table trigram using fts5(body, tokenize='trigram')")
        assert_valid(connection, text)
        run(connection, "insert into porter(body) values (?)", (index_text(text),))
        run(connection, "insert into trigram(body) values (?)", (trigram_text(text),))


def assert_valid(connection: apsw.Connection, query: str) -> None:
    terms = query_terms(query)
    for words in ([query], terms.words, terms.identifiers, terms.phrases, terms.cjk_runs):
        expression = match_expression(words)
        if expression:
            run(connection, "select rowid from porter where porter match ?", (expression,))
            run(connection, "select rowid from trigram where trigram match ?", (expression,))


def test_thousands_of_words_make_one_valid_expression(tables: apsw.Connection) -> None:
    expression = match_expression(f"word{n}" for n in range(5_000))
    assert run(tables, "select rowid from porter where porter match ?", (expression,)) == []


def test_stop_words_are_dropped_unless_there_is_nothing_else() -> None:
    assert query_terms("what is the default port").words == ("default", "port")
    assert query_terms("who was it?").words == ("who", "was", "it")


def test_quoted_text_is_kept_as_phrases_and_names_as_identifiers() -> None:
    terms = query_terms('why does "connection reset" come from src/net.py or `git push`?')
    assert terms.phrases == ("connection reset", "git push")
    assert terms.identifiers == ("src/net.py",)


@pytest.mark.parametrize(
    ("query", "codes"),
    [
        ("why is port 5433 taken?", ("5433",)),
        ("what raised ENOENT and EACCES?", ("enoent", "eacces")),
        ("who closed #4117?", ("4117",)),
        ("what happened in 2023 and in 1999?", ()),
        ("version 1.200.3 or 10:30 or 12", ()),
        ("WHY IS EVERYTHING LOUD 5433?", ()),
        ("the USA and an API", ()),
    ],
)
def test_long_numbers_and_capitals_are_codes_unless_they_are_years_or_everything_is_in_capitals(
    query: str, codes: tuple[str, ...]
) -> None:
    assert query_terms(query).codes == codes


def test_prose_has_no_identifiers() -> None:
    assert identifiers_in("The build is green again, thanks.") == ()


def test_only_unspaced_scripts_and_longer_identifiers_need_trigrams() -> None:
    assert trigram_text("plain words only") == ""
    assert trigram_text("see a_b, readConfig and 東京タワー") == "東京タワー\nreadConfig"


def test_a_trigram_table_finds_the_middle_of_a_name_and_of_a_cjk_run(tables: apsw.Connection) -> None:
    run(tables, "insert into trigram(rowid, body) values (7, ?)", (trigram_text("readConfigFile 東京タワー"),))
    for piece in ("onfigF", "京タワ"):
        rows = run(tables, "select rowid from trigram where trigram match ?", (match_expression([piece]),))
        assert rows == [(7,)]


@given(st.text(max_size=200))
def test_reading_a_query_is_total_and_gives_unique_terms(text: str) -> None:
    terms = query_terms(text)
    for listed in (terms.words, terms.identifiers, terms.phrases, terms.cjk_runs):
        assert len(set(listed)) == len(listed)
    assert all(name in text for name in terms.identifiers)
