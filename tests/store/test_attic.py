"""The attic: texts come back byte for byte, and damage is never taken for text."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain_store import NOW, open_store, save

from ebbing.schemas.errors import StoreCorruptError
from ebbing.store.attic import pack, unpack
from ebbing.store.store import Store

LONG = "the project uses sqlite because the build failed, and the build failed because of the cache. " * 20


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """An empty store."""
    with open_store(tmp_path) as opened:
        yield opened


def stowed(store: Store) -> dict[int, int]:
    """Bytes in the attic by seq."""
    return dict(store.database.rows("SELECT seq, length(body) FROM attic ORDER BY seq"))


@given(st.one_of(st.text(), st.text(alphabet="ab ", max_size=2_000), st.just(LONG)))
def test_a_text_comes_back_byte_for_byte_and_never_larger(text: str) -> None:
    codec, body = pack(text)
    assert unpack(codec, body) == text
    assert len(body) <= len(text.encode("utf-8"))


def test_prose_takes_a_fraction_of_its_size() -> None:
    assert len(pack(LONG)[1]) < len(LONG) / 8
    short = "the project uses postgres because the build failed"
    assert len(pack(short)[1]) < len(short) * 0.6


@given(st.data())
def test_bytes_that_break_off_are_damage_and_not_a_shorter_text(data: st.DataObject) -> None:
    codec, body = pack(LONG)
    kept = data.draw(st.integers(0, len(body) - 1))
    with pytest.raises(StoreCorruptError):
        unpack(codec, body[:kept])


@pytest.mark.parametrize(
    ("codec", "body"),
    [
        ("plain", b"\xff\xfe"),
        ("zlib-1", b"\xff\xff\xff"),
        ("zlib-1", pack(LONG)[1] + b"more"),
        ("zlib-9", b"text"),
        (None, None),
    ],
    ids=["not UTF-8", "not compressed", "more behind it", "unknown codec", "missing"],
)
def test_what_is_no_packed_text_is_damage(codec: str | None, body: bytes | None) -> None:
    with pytest.raises(StoreCorruptError):
        unpack(codec, body)


def test_a_text_goes_to_the_attic_and_back_and_reads_the_same_all_the_time(store: Store) -> None:
    seq = save(store, LONG)
    for _ in range(2):
        store.attic.stow(seq, NOW)
        assert store.database.value("SELECT content FROM memory WHERE seq = ?", (seq,)) is None
        assert store.memories.by_seqs([seq])[0].content == LONG
    assert list(stowed(store)) == [seq]
    for _ in range(2):
        store.attic.fetch(seq)
        assert store.database.value("SELECT content FROM memory WHERE seq = ?", (seq,)) == LONG
    assert stowed(store) == {}


def test_texts_that_were_packed_beforehand_are_moved_together(store: Store) -> None:
    seqs = [save(store, f"{LONG} {number}") for number in range(3)]
    store.attic.stow_packed(store.attic.packed(seqs), NOW)
    assert list(stowed(store)) == seqs
    assert store.attic.packed(seqs) == {}
    assert [memory.content[-1] for memory in store.memories.by_seqs(seqs)] == ["0", "1", "2"]


def test_what_was_moved_or_erased_since_it_was_packed_is_passed_over(store: Store) -> None:
    moved, erased, there = (save(store, f"{LONG} {number}") for number in range(3))
    packed = store.attic.packed([moved, erased, there])
    with store.atomic():
        store.attic.stow(moved, NOW)
        store.erase([erased])
    store.attic.stow_packed(packed, NOW + 1)
    assert list(stowed(store)) == [moved, there]
    assert store.database.value("SELECT moved_at FROM attic WHERE seq = ?", (moved,)) == NOW
    assert [memory.content[-1] for memory in store.memories.by_seqs([moved, there])] == ["0", "2"]


def test_a_text_that_is_nowhere_is_reported_as_damage(store: Store) -> None:
    seq = save(store, "fact")
    with store.atomic():
        store.database.execute("UPDATE memory SET content = NULL WHERE seq = ?", (seq,))
    with pytest.raises(StoreCorruptError, match="doctor"):
        store.memories.by_seqs([seq])
