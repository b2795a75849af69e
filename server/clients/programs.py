"""Which commands a client is told to run: a path that stays, or uvx where there is none."""

from __future__ import annotations

import itertools
import os
import re
import shlex
import shutil
import subprocess
import sysconfig
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from .folders import Machine
from .placement import HOOK_PROGRAM
from .table import (
    ARGUMENTS,
    COMMAND,
    HOOK,
    HOOK_ARGUMENTS,
    HOOK_BASH,
    HOOK_LINE,
    HOOK_POWERSHELL,
    WORDS,
    Scope,
)

# Environments that uvx and pipx run make for one use; their folders are cleaned up some day.
_PASSING = ("archive-v0", "environments-v2", "builds-v0")
_PLAIN_WORD = re.compile(r"[\w:\\/.-]+")
_PASSING_TAILS = (("uv", "cache"), (".cache", "uv"), (".cache", "pipx"), ("pipx", ".cache"))


@dataclass(frozen=True, slots=True)
class Programs:
    """The server's command and the hook's, word by word; no hook where starting it would take too long."""

    server: tuple[str, ...]
    hook: tuple[str, ...] | None


UVX = Programs(("uvx", "ebbing"), None)
"""A server starts once a session and can wait for uvx; a hook starts with every tool call and can't."""


def choose(machine: Machine, scope: Scope, scripts: Path | None = None) -> Programs:
    """The commands for a scope.

    Absolute paths for a user, whose clients may have another PATH than the shell; names for a project, whose files
    other people get. `scripts` is the folder that this installation's programs lie in.
    """
    named = shutil.which("ebbing", path=machine.env.get("PATH", os.defpath))
    on_path = _in_folder(machine, Path(named).absolute().parent) if named else None
    if scope == "project":
        return Programs(("ebbing",), (HOOK_PROGRAM,)) if on_path else UVX
    own = _in_folder(machine, scripts or Path(sysconfig.get_path("scripts")))
    if own and on_path and os.path.realpath(own.server[0]) == os.path.realpath(on_path.server[0]):
        return on_path
    return own or on_path or UVX


def is_passing(path: PurePath) -> bool:
    """Whether a program lies where runners keep environments for one use."""
    parts = path.parts
    pairs = set(itertools.pairwise(parts))
    return not pairs.isdisjoint(_PASSING_TAILS) or not set(parts).isdisjoint(_PASSING)


def filled(template: Any, programs: Programs, event: str = "", client: str = "", platform: str = "") -> Any:
    """A template of the table with the commands in it."""
    words = [*(programs.hook or ()), event, *(["--client", client] if client else [])]
    slots: dict[str, Any] = {
        COMMAND: programs.server[0],
        ARGUMENTS: list(programs.server[1:]),
        WORDS: list(programs.server),
        HOOK: words[0],
        HOOK_ARGUMENTS: words[1:],
        HOOK_LINE: subprocess.list2cmdline(words) if platform == "win32" else shlex.join(words),
        HOOK_BASH: shlex.join(words),
        HOOK_POWERSHELL: _for_powershell(words),
    }
    return _with_slots(template, slots)


def missing(machine: Machine, words: Sequence[str]) -> bool:
    """Whether a command's program is not there."""
    return not words or shutil.which(words[0], path=machine.env.get("PATH", os.defpath)) is None


def _in_folder(machine: Machine, folder: Path) -> Programs | None:
    suffix = ".exe" if machine.platform == "win32" else ""
    server, hook = (folder / f"{name}{suffix}" for name in ("ebbing", HOOK_PROGRAM))
    stays = not is_passing(server) and not is_passing(Path(os.path.realpath(server)))
    return Programs((str(server),), (str(hook),)) if stays and server.is_file() and hook.is_file() else None


def _for_powershell(words: Sequence[str]) -> str:
    quoted = [word if _PLAIN_WORD.fullmatch(word) else "'" + word.replace("'", "''") + "'" for word in words]
    # A quoted word is text to PowerShell unless it is told to call it.
    return " ".join(quoted if quoted[0] == words[0] else ["&", *quoted])


def _with_slots(template: Any, slots: dict[str, Any]) -> Any:
    if isinstance(template, dict):
        return {key: _with_slots(value, slots) for key, value in template.items()}  # pyright: ignore[reportUnknownVariableType]
    if isinstance(template, list):
        return [_with_slots(value, slots) for value in template]  # pyright: ignore[reportUnknownVariableType]
    return slots.get(template, template) if isinstance(template, str) else template
