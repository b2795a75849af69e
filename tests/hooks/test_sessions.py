from pathlib import Path

import pytest

from ebbing.hooks import sessions
from ebbing.hooks.places import session_file
from ebbing.schemas.ids import new_id

IDS = [new_id(1_790_000_000_000_000 + number * 1000) for number in range(3)]


def test_ids_add_up_until_they_are_noted_anew(tmp_path: Path) -> None:
    home = str(tmp_path)
    assert sessions.seen(home, "s") == []
    sessions.note(home, "s", IDS[:1])
    sessions.note(home, "s", IDS[1:2])
    assert sessions.seen(home, "s") == IDS[:2]
    sessions.note(home, "s", IDS[2:], anew=True)
    assert sessions.seen(home, "s") == IDS[2:]
    sessions.forget(home, "s")
    assert sessions.seen(home, "s") == []


def test_sessions_do_not_see_each_others(tmp_path: Path) -> None:
    sessions.note(str(tmp_path), "one", IDS)
    assert sessions.seen(str(tmp_path), "two") == []


@pytest.mark.parametrize("session", ["../../etc/passwd", "a/b", "x" * 10_000, "\ud800", "ä\0"])
def test_a_sessions_name_is_never_part_of_a_path(session: str, tmp_path: Path) -> None:
    sessions.note(str(tmp_path), session, IDS)
    assert sessions.seen(str(tmp_path), session) == IDS
    assert Path(session_file(str(tmp_path), session)).parent == tmp_path / "sessions"


def test_a_session_without_a_name_is_not_noted(tmp_path: Path) -> None:
    sessions.note(str(tmp_path), "", IDS)
    assert sessions.seen(str(tmp_path), "") == []
    assert list(tmp_path.iterdir()) == []


def test_nothing_to_note_makes_no_file(tmp_path: Path) -> None:
    sessions.note(str(tmp_path), "s", [])
    sessions.forget(str(tmp_path), "s")
    assert list(tmp_path.iterdir()) == []


def test_the_note_is_private(tmp_path: Path) -> None:
    sessions.note(str(tmp_path), "s", IDS)
    assert Path(session_file(str(tmp_path), "s")).stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "sessions").stat().st_mode & 0o777 == 0o700


def test_what_is_no_id_in_it_is_ignored(tmp_path: Path) -> None:
    sessions.note(str(tmp_path), "s", IDS[:1])
    path = Path(session_file(str(tmp_path), "s"))
    path.write_bytes(b"\xff\x00nonsense\n" + path.read_bytes() + IDS[1].encode()[:20])
    assert sessions.seen(str(tmp_path), "s") == IDS[:1]


def test_of_very_many_the_newest_count(tmp_path: Path) -> None:
    many = [new_id(1_790_000_000_000_000 + number * 1000) for number in range(3000)]
    sessions.note(str(tmp_path), "s", many)
    found = sessions.seen(str(tmp_path), "s")
    assert set(found) <= set(many)
    assert many[-1] in found
