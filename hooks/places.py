"""Where ebbing keeps its files, and which project a folder belongs to.

The hook and the server must agree on both, so this is the only implementation. The functions that return `str` are
the ones the hook calls: importing `pathlib` alone takes as long as starting Python.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

APP = "ebbing"
GLOBAL_SCOPE = "global"
_LARGEST_GIT_POINTER = 4096
_PRIVATE = 0o600


class Place:
    """Where an event happened: which store, which project, which session of which client."""

    __slots__ = ("client", "home", "scope", "session")

    def __init__(self, home: str, scope: str, session: str, client: str) -> None:
        """Hold all four."""
        self.home = home
        self.scope = scope
        self.session = session
        self.client = client


def home(env: Mapping[str, str]) -> Path:
    """The folder of everything ebbing stores: `EBBING_HOME`, else the platform's folder for user data."""
    from pathlib import Path

    return Path(home_folder(env))


def spool_path(home: str | Path) -> Path:
    """The file that hooks append events to; its folder is the spool."""
    from pathlib import Path

    return Path(spool_file(os.fspath(home)))


def soft_prompt_path(home: str | Path, scope: str) -> Path:
    """The file that holds a scope's prepared soft prompt."""
    from pathlib import Path

    return Path(soft_prompt_file(os.fspath(home), scope))


def home_folder(env: Mapping[str, str], platform: str = sys.platform) -> str:
    """`home` as a string, for the platform named as in `sys.platform`."""
    if chosen := env.get("EBBING_HOME", "").strip():
        if chosen == "~" or chosen.startswith(("~/", "~\\")):
            chosen = _user_folder(env, platform) + chosen[1:]
        return os.path.abspath(chosen)
    return _windows_data(env) if platform == "win32" else _posix_data(env, platform)


def spool_file(home: str) -> str:
    """`spool_path` as a string."""
    return os.path.join(home, "spool", "events.jsonl")


def soft_prompt_file(home: str, scope: str) -> str:
    """`soft_prompt_path` as a string: the name is a digest, since a scope holds separators and may be long."""
    return os.path.join(home, "soft-prompts", f"{digest(scope)}.md")


def session_file(home: str, session: str) -> str:
    """The file that says what a session has been shown; a digest as well, since clients choose the session's name."""
    return os.path.join(home, "sessions", f"{digest(session)}.ids")


def run_folder(home: str) -> str:
    """Where running servers say how they can be asked."""
    return os.path.join(home, "run")


def digest(text: str, key: bytes = b"") -> str:
    """BLAKE2b of a text, 32 hexadecimal digits; with a key of at most 64 bytes only who has it can tell."""
    try:
        # hashlib also loads OpenSSL, a quarter of the time that starting Python takes.
        from _blake2 import blake2b
    except ImportError:
        from hashlib import blake2b

    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16, key=key).hexdigest()


def chosen_scope(cwd: str | Path, env: Mapping[str, str]) -> str:
    """The scope that `EBBING_SCOPE` names, else the project's key; bytes of either that are no UTF-8 are spelled out.

    A key goes through JSON and SQLite, which take no others, and two folders must not come to share one.
    """
    key = env.get("EBBING_SCOPE", "").strip() or project_key(cwd, env)
    return key.encode("utf-8", "backslashreplace").decode("utf-8")


def is_path(text: str) -> bool:
    """Whether the system could have a file of that name."""
    try:
        return bool(text) and b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        return False


def project_key(cwd: str | Path, env: Mapping[str, str]) -> str:
    """The scope of the project that `CLAUDE_PROJECT_DIR`, else `cwd`, lies in: an absolute path without links.

    It is the repository's common git directory without a trailing `.git`, the same for every worktree of it; outside
    a repository it is the folder itself.
    """
    named = env.get("CLAUDE_PROJECT_DIR") or str(cwd)
    start = folder = os.path.realpath(named)
    while True:
        marker = os.path.join(folder, ".git")
        if os.path.isdir(marker):
            return folder
        if os.path.isfile(marker):
            return _common_folder(marker) or folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return start
        folder = parent


def make_private_folder(folder: str) -> None:
    """Create a folder and its missing parents, each with mode 0700 whatever the umask says.

    Raises:
        OSError: if one can't be made.
    """
    if os.path.isdir(folder):
        return
    parent = os.path.dirname(folder)
    if parent != folder:
        make_private_folder(parent)
    try:
        os.mkdir(folder, 0o700)
    except FileExistsError:
        if not os.path.isdir(folder):
            raise
        return
    os.chmod(folder, 0o700)


def open_private(path: str, flags: int) -> int:
    """A file descriptor of a file with mode 0600 whatever the umask says; a symbolic link is refused.

    Raises:
        OSError: if it can't be opened.
    """
    binary, no_follow = getattr(os, "O_BINARY", 0), getattr(os, "O_NOFOLLOW", 0)
    descriptor = os.open(path, flags | binary | no_follow, _PRIVATE)
    if sys.platform != "win32" and os.fstat(descriptor).st_mode & 0o777 != _PRIVATE:
        os.fchmod(descriptor, _PRIVATE)
    return descriptor


def write_private(path: str | Path, content: bytes) -> None:
    """Put `content` in a 0600 file, whole or not at all, creating its folder (0700).

    Raises:
        OSError: if it can't be written; the file is then as it was.
    """
    target = os.fspath(path)
    make_private_folder(os.path.dirname(target))
    draft = f"{target}.{os.urandom(8).hex()}.tmp"
    try:
        with os.fdopen(open_private(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, target)
    except OSError:
        if os.path.exists(draft):
            os.unlink(draft)
        raise


def _posix_data(env: Mapping[str, str], platform: str) -> str:
    base = env.get("XDG_DATA_HOME", "")
    if not base.startswith("/"):
        tail = "/Library/Application Support" if platform == "darwin" else "/.local/share"
        base = _user_folder(env, platform) + tail
    return f"{base.rstrip('/')}/{APP}"


def _windows_data(env: Mapping[str, str]) -> str:
    base = env.get("LOCALAPPDATA") or _user_folder(env, "win32") + "\\AppData\\Local"
    return base.rstrip("\\/") + "\\" + APP


def _user_folder(env: Mapping[str, str], platform: str) -> str:
    if platform == "win32":
        return env.get("USERPROFILE") or env.get("HOMEDRIVE", "") + env.get("HOMEPATH", "")
    named = env.get("HOME", "")
    if sys.platform != "win32" and not named.startswith("/"):
        import pwd

        named = pwd.getpwuid(os.getuid()).pw_dir
    return named.rstrip("/")


def _common_folder(pointer: str) -> str | None:
    """The repository that a `.git` file points to, or None where it points nowhere."""
    text = _first_line(pointer)
    if not text.startswith("gitdir:"):
        return None
    git = os.path.join(os.path.dirname(pointer), text.removeprefix("gitdir:").strip())
    if not os.path.isdir(git):
        return None
    common = os.path.realpath(os.path.join(git, _first_line(os.path.join(git, "commondir"))))
    return os.path.dirname(common) if os.path.basename(common) == ".git" else common


def _first_line(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return os.fsdecode(file.read(_LARGEST_GIT_POINTER)).partition("\n")[0].strip()
    except OSError:
        return ""
