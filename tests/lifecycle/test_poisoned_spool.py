"""One odd line of the spool never keeps the others from being remembered: it would be met again at every start."""

import json
from pathlib import Path
from typing import Any

import pytest
from world import World

from ebbing.hooks.places import spool_path
from ebbing.store.spool import BAD


def line(**fields: Any) -> str:
    record = {
        "v": 1,
        "id": "odd",
        "at": "2026-03-01T09:00:00Z",
        "scope": "/projects/ebb",
        "session": "s",
        "event": "user-prompt-submit",
        "payload": {"prompt": "The odd tide was noted."},
    }
    return json.dumps({**record, **fields})


def nested(depth: int) -> str:
    return line(payload={"prompt": 0}).replace('"prompt": 0', f'"prompt": {"[" * depth}{"]" * depth}')


SOUND = line(id="sound", payload={"prompt": "The sound tide was noted."})
REMEMBERED = {
    "a NUL in the scope": line(scope="a\0b"),
    "half a character in the session's name": line(session="\ud800"),
    "half a character in the scope": line(scope="/projects/\udcff"),
    "half a character in the id": line(id="\udc00odd"),
    "half a character in the text": line(payload={"prompt": "The odd \ud83d tide."}),
    "parts that are called like a hook's": line(payload={"prompt": {"head": "a", "tail": "b", "cut": "much"}}),
    "parts of which one is a list": line(payload={"prompt": {"head": [], "tail": "b", "cut": 1}}),
}
SET_ASIDE = {
    "too deep to be written again": nested(150),
    "as deep as can just be read": nested(950),
}


def ingested(home: Path, odd: str) -> list[str]:
    """What is remembered of an odd line and the sound one behind it."""
    with World(home) as world:
        path = spool_path(home)
        path.parent.mkdir(mode=0o700, parents=True)
        path.write_text(f"{odd}\n{SOUND}\n", encoding="ascii")
        world.services.observer.ingest(world.now)
        assert world.services.store.spool.pending_bytes() == 0
        return [memory.content for batch in world.services.store.memories.all() for memory in batch]


@pytest.mark.parametrize("odd", REMEMBERED.values(), ids=list(REMEMBERED))
def test_a_line_with_odd_values_is_remembered_like_any_other(tmp_path: Path, odd: str) -> None:
    texts = ingested(tmp_path / "home", odd)
    assert len(texts) == 2
    assert "The sound tide was noted." in texts
    assert all(text.encode() for text in texts)


@pytest.mark.parametrize("odd", SET_ASIDE.values(), ids=list(SET_ASIDE))
def test_a_line_that_is_no_event_is_set_aside(tmp_path: Path, odd: str) -> None:
    assert ingested(tmp_path / "home", odd) == ["The sound tide was noted."]
    assert (tmp_path / "home" / "spool" / BAD).read_text() == f"{odd}\n"
