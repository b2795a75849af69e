"""Which memories a session has in its context: one small file a session, one id a line.

Only hooks write them. They are kept for a while after the session's end, since it may be resumed; the server removes
old ones.
"""

from __future__ import annotations

import os

from .own import ID_LENGTH, MOST_IDS, ids_in
from .places import make_private_folder, open_private, session_file

# As many as are looked for, each on a line.
_LARGEST = MOST_IDS * (ID_LENGTH + 1)


def seen(home: str, session: str) -> list[str]:
    """The ids that a session has been shown, oldest first; of very many the newest.

    Raises:
        OSError: if the file is there and can't be read.
    """
    if not session:
        return []
    try:
        with open(session_file(home, session), "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - _LARGEST))
            return ids_in(file.read(_LARGEST).decode("ascii", "replace"))
    except FileNotFoundError:
        return []


def is_known(home: str, session: str) -> bool:
    """Whether anything was noted of a session."""
    return bool(session) and os.path.exists(session_file(home, session))


def note(home: str, session: str, ids: list[str], *, anew: bool = False) -> None:
    """Add ids to what a session has been shown; `anew` forgets what it was shown before.

    Raises:
        OSError: if the file can't be written.
    """
    if not session or not (ids or anew):
        return
    path = session_file(home, session)
    make_private_folder(os.path.dirname(path))
    descriptor = open_private(path, os.O_WRONLY | os.O_CREAT | (os.O_TRUNC if anew else os.O_APPEND))
    try:
        os.write(descriptor, "".join(f"{each}\n" for each in ids).encode("ascii"))
    finally:
        os.close(descriptor)


def forget(home: str, session: str) -> None:
    """Forget what a session has been shown: its context is about to lose it.

    Raises:
        OSError: if the file can't be written.
    """
    if is_known(home, session):
        note(home, session, [], anew=True)
