import os
import stat
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import platformdirs
import pytest
from hook_server import HookServer

from ebbing.hooks import places


@pytest.fixture
def umask() -> Iterator[None]:
    """A umask that would leave everything open to everybody."""
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path: str | Path) -> int:
    return stat.S_IMODE(Path(path).stat().st_mode)


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "-q")
    git(folder, "commit", "-q", "--allow-empty", "-m", "first")
    return folder


@pytest.mark.parametrize(
    "env",
    [{}, {"XDG_DATA_HOME": "/data/of/user"}, {"XDG_DATA_HOME": "relative/ignored"}, {"HOME": "/home/of/user"}],
    ids=["default", "xdg", "relative xdg", "home"],
)
def test_home_is_where_platformdirs_puts_user_data(env: Mapping[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EBBING_HOME")
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    assert str(places.home(os.environ)) == platformdirs.user_data_dir("ebbing", appauthor=False)


@pytest.mark.parametrize(
    ("platform", "env", "expected"),
    [
        ("linux", {"HOME": "/home/u"}, "/home/u/.local/share/ebbing"),
        ("linux", {"HOME": "/home/u/", "XDG_DATA_HOME": "/x/"}, "/x/ebbing"),
        ("darwin", {"HOME": "/Users/u"}, "/Users/u/Library/Application Support/ebbing"),
        ("darwin", {"HOME": "/Users/u", "XDG_DATA_HOME": "/x"}, "/x/ebbing"),
        ("win32", {"LOCALAPPDATA": r"C:\Users\u\AppData\Local"}, r"C:\Users\u\AppData\Local\ebbing"),
        ("win32", {"USERPROFILE": r"C:\Users\u"}, r"C:\Users\u\AppData\Local\ebbing"),
        ("win32", {"HOMEDRIVE": "D:", "HOMEPATH": r"\u"}, r"D:\u\AppData\Local\ebbing"),
    ],
)
def test_each_platform_has_its_own_default_home(platform: str, env: Mapping[str, str], expected: str) -> None:
    assert places.home_folder(env, platform) == expected


def test_ebbing_home_wins_over_the_platform_and_may_begin_with_a_tilde() -> None:
    env = {"HOME": "/home/u", "XDG_DATA_HOME": "/x"}
    assert places.home_folder({**env, "EBBING_HOME": "/chosen"}) == "/chosen"
    assert places.home_folder({**env, "EBBING_HOME": "~/memory"}) == "/home/u/memory"
    assert places.home_folder({**env, "EBBING_HOME": " "}) == "/x/ebbing"


def test_the_path_face_and_the_string_face_agree() -> None:
    env = {"EBBING_HOME": "/h"}
    assert str(places.home(env)) == places.home_folder(env)
    assert str(places.spool_path("/h")) == places.spool_file("/h") == "/h/spool/events.jsonl"
    assert str(places.soft_prompt_path(Path("/h"), "/a/b")) == places.soft_prompt_file("/h", "/a/b")


def test_soft_prompts_of_different_scopes_have_different_short_names() -> None:
    scopes = ["global", "/a/b", "/a_b", "/a", "/" + "long" * 2000, "/caf\u00e9", "/undecodable\udcff"]
    paths = [places.soft_prompt_path("/h", scope) for scope in scopes]
    assert len(set(paths)) == len(scopes)
    assert {path.parent.name for path in paths} == {"soft-prompts"}
    assert {len(path.name) for path in paths} == {35}


def test_every_folder_and_worktree_of_a_repository_has_one_key(repository: Path, tmp_path: Path) -> None:
    (repository / "a" / "b").mkdir(parents=True)
    worktree = tmp_path / "elsewhere" / "worktree"
    git(repository, "worktree", "add", "-q", str(worktree))
    (worktree / "c").mkdir()
    folders = [repository, repository / "a" / "b", worktree, worktree / "c"]
    assert {places.project_key(folder, {}) for folder in folders} == {str(repository)}


def test_worktrees_of_a_bare_repository_share_its_key(repository: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--bare", str(repository), "bare.git")
    git(tmp_path / "bare.git", "worktree", "add", "-q", str(tmp_path / "one"))
    git(tmp_path / "bare.git", "worktree", "add", "-q", str(tmp_path / "two"))
    keys = {places.project_key(tmp_path / name, {}) for name in ("one", "two")}
    assert keys == {str(tmp_path / "bare.git")}


def test_a_submodule_is_a_project_of_its_own(repository: Path, tmp_path: Path) -> None:
    outer = tmp_path / "outer"
    outer.mkdir()
    git(outer, "init", "-q")
    git(outer, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(repository), "inner")
    assert places.project_key(outer / "inner", {}) == str(outer / ".git" / "modules" / "inner")
    assert places.project_key(outer, {}) == str(outer)


def test_outside_a_repository_the_folder_itself_is_the_key(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    assert places.project_key(tmp_path / "plain", {}) == str(tmp_path / "plain")
    assert places.project_key(tmp_path / "gone", {}) == str(tmp_path / "gone")


def test_the_clients_project_folder_wins_over_the_current_one(repository: Path, tmp_path: Path) -> None:
    assert places.project_key(tmp_path, {"CLAUDE_PROJECT_DIR": str(repository)}) == str(repository)
    assert places.project_key(tmp_path, {"CLAUDE_PROJECT_DIR": ""}) == str(tmp_path)


def test_a_linked_folder_has_the_key_of_what_it_links_to(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(repository)
    assert places.project_key(tmp_path / "link", {}) == str(repository)


@pytest.mark.parametrize("content", [b"", b"nonsense", b"gitdir: /nowhere/at/all", b"gitdir:", b"\xff\xfe\n"])
def test_a_broken_git_file_still_marks_its_folder(content: bytes, tmp_path: Path) -> None:
    (tmp_path / ".git").write_bytes(content)
    (tmp_path / "below").mkdir()
    assert places.project_key(tmp_path / "below", {}) == str(tmp_path)


@pytest.mark.usefixtures("umask")
def test_folders_and_files_are_private_whatever_the_umask(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    folder = tmp_path / "a" / "b"
    places.make_private_folder(str(folder))
    os.close(places.open_private(str(folder / "file"), os.O_WRONLY | os.O_CREAT))
    places.write_private(folder / "c" / "whole", b"content")
    assert [mode(path) for path in (tmp_path / "a", folder, folder / "c")] == [0o700] * 3
    assert [mode(path) for path in (folder / "file", folder / "c" / "whole")] == [0o600] * 2
    assert mode(tmp_path) == 0o755


def test_a_umask_that_forbids_everything_does_not_lock_us_out(tmp_path: Path) -> None:
    before = os.umask(0o777)
    try:
        places.write_private(tmp_path / "a" / "b", b"content")
    finally:
        os.umask(before)
    assert mode(tmp_path / "a") == 0o700
    assert mode(tmp_path / "a" / "b") == 0o600


def test_an_existing_file_that_others_may_read_is_closed_to_them(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "file").chmod(0o644)
    os.close(places.open_private(str(tmp_path / "file"), os.O_WRONLY))
    assert mode(tmp_path / "file") == 0o600


def test_a_link_in_place_of_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "target")
    with pytest.raises(OSError, match="link"):
        places.open_private(str(tmp_path / "link"), os.O_WRONLY | os.O_CREAT)
    assert not (tmp_path / "target").exists()


def test_a_failed_whole_write_leaves_the_old_content_and_no_draft(tmp_path: Path) -> None:
    target = tmp_path / "folder"
    (target / "in").mkdir(parents=True)
    with pytest.raises(OSError, match="irectory"):
        places.write_private(target, b"a folder can't be replaced by a file")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def test_the_hooks_modules_start_without_expensive_ones(tmp_path: Path) -> None:
    script = (
        "import sys; before = set(sys.modules); import ebbing.hooks.main, ebbing.hooks.injection as injection;"
        "where = ebbing.hooks.places.Place(sys.argv[1], 'x', 's', 'claude');"
        "injection.start(where, 'startup', print); injection.at_prompt(where, 'a', print, seconds=1);"
        "ebbing.hooks.asking.connected; ebbing.hooks.events.understood('{\"a\": [1]}');"
        "sys.stdout.write(' '.join(sorted(set(sys.modules) - before)))"
    )
    command = [sys.executable, "-I", "-c", script, str(tmp_path)]
    with HookServer(tmp_path, {}):
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    loaded = set(done.stdout.split())
    assert not loaded & {"re", "json", "pathlib", "typing", "enum", "dataclasses", "datetime", "hashlib", "threading"}
    assert {name.partition(".")[0] for name in loaded} <= {
        "ebbing",
        "__future__",
        "fcntl",
        "_json",
        "_blake2",
        "_socket",
    }
