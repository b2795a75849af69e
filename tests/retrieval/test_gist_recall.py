"""Recall through a gist: the question meets the gist, the answer is a source that nothing else would find."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from recall_store import RecallStore

from ebbing.encoding.associate import GIST
from ebbing.retrieval.channels.registry import CHANNELS
from ebbing.retrieval.settings import RecallSettings
from ebbing.schemas.memory import Kind, State
from ebbing.store.graph import Link

QUESTION = "List all the problems of the ferry timetable"
WITHOUT = RecallSettings(channels=tuple(name for name in CHANNELS if name not in ("gist", "activation")), floors=None)
WITH = replace(WITHOUT, channels=(*WITHOUT.channels, "gist"))


@pytest.fixture
def memories(tmp_path: Path) -> Iterator[RecallStore]:
    with RecallStore(tmp_path) as opened:
        for number in range(12):
            opened.save(f"Problem {number}: the ferry timetable was late.", session=f"s{number}")
        yield opened


def summed_up(memories: RecallStore, *, dormant: bool) -> tuple[int, int]:
    """A gist and the source that it alone leads to."""
    source = memories.save("Harbour codes replace names in summer.", kind=Kind.EPISODE, state=State.COLD)
    text = "Problems of the ferry timetable come from harbour codes."
    gist = memories.save(text, kind=Kind.EPISODE)
    store = memories.store
    with store.atomic():
        store.graph.disconnect([Link(gist, source, relation, 0.0) for relation in ("similar", "entity")])
        store.graph.connect([Link(gist, source, GIST, 1.0)])
        store.database.execute("UPDATE memory SET gist_of = 3 WHERE seq = ?", (gist,))
        store.memories.change(gist, dormant=int(dormant))
    return gist, source


def found(memories: RecallStore, settings: RecallSettings) -> list[int]:
    return [hit.memory.seq for hit in memories.ask(QUESTION, settings=settings).hits]


def test_only_the_gist_channel_answers_with_a_source_that_shares_no_word(memories: RecallStore) -> None:
    gist, source = summed_up(memories, dormant=True)
    assert source not in found(memories, WITHOUT)
    [hit] = [hit for hit in memories.ask(QUESTION, settings=WITH).hits if hit.memory.seq == source]
    assert "gist" in hit.channels
    assert gist not in found(memories, WITH)


def test_a_gist_that_speaks_for_its_sources_is_shown(memories: RecallStore) -> None:
    gist, _ = summed_up(memories, dormant=False)
    assert gist in found(memories, WITH)
    assert gist in found(memories, WITHOUT)


def test_what_others_speak_for_is_not_shown_even_among_faded_memories(memories: RecallStore) -> None:
    gist, _ = summed_up(memories, dormant=True)
    hits = memories.ask(QUESTION, settings=WITHOUT, include_faded=True, include_superseded=True).hits
    assert gist not in [hit.memory.seq for hit in hits]
