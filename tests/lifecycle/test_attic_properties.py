"""No path through decay, archive, merging, gists, eviction in its undo time, forgetting or restoring loses a text."""

import random
import tempfile
from pathlib import Path

from history import History
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ebbing.lifecycle.constants import DecaySettings
from ebbing.schemas.memory import State
from ebbing.store.attic import pack, unpack

TIGHT = DecaySettings(budget_memories=12, young_days=0.5)


@settings(max_examples=200)
@given(st.text(st.characters(codec="utf-8"), max_size=2_000))
def test_any_text_is_unpacked_as_it_was_packed(text: str) -> None:
    assert unpack(*pack(text)) == text


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(st.randoms(use_true_random=False), st.integers(1, 150))
def test_whatever_happens_every_text_is_read_and_restored_byte_for_byte(rng: random.Random, events: int) -> None:
    with tempfile.TemporaryDirectory() as folder, History(Path(folder), rng, TIGHT) as history:
        history.live(events)
        memories = history.store.memories.by_ids(list(history.texts))
        assert {memory.id: memory.content for memory in memories} == history.texts
        for memory in memories:
            history.ledger.restored(memory, history.now)
        restored = history.store.memories.by_ids(list(history.texts))
        assert {memory.id: memory.content for memory in restored} == history.texts
        assert all(memory.strength.state is State.ACTIVE and memory.forgotten_at is None for memory in restored)
        assert all(memory.merged_into is None for memory in restored)
        # What is left there are gists, which quote and have no text of their own.
        assert (
            history.store.database.value("SELECT count(*) FROM attic JOIN memory USING (seq) WHERE gist_of IS NULL")
            == 0
        )


def test_a_long_history_reaches_every_state_and_still_has_every_text(tmp_path: Path) -> None:
    with History(tmp_path, random.Random(11), TIGHT) as history:
        seen: set[State] = set()
        attic = 0
        for _ in range(30):
            history.live(40)
            memories = history.store.memories.by_ids(list(history.texts))
            assert {memory.id: memory.content for memory in memories} == history.texts
            seen |= {memory.strength.state for memory in memories}
            attic = max(attic, history.store.database.value("SELECT count(*) FROM attic"))
        assert seen == set(State)
        assert attic > 0
