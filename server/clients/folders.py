"""Where clients keep their files on this machine."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from .table import Client, Scope


@dataclass(frozen=True, slots=True)
class Machine:
    """What decides about places: the variables, the project's folder, the platform as in `sys.platform`."""

    env: Mapping[str, str]
    project: Path
    platform: str = sys.platform

    @property
    def home(self) -> Path:
        """The user's folder."""
        named = self.env.get("USERPROFILE" if self.platform == "win32" else "HOME")
        return Path(named) if named else Path.home()

    def path(self, template: str) -> Path:
        """The path that a template of the table stands for."""
        return Path(template.format_map(self._folders()))

    def file(self, candidates: tuple[str, ...]) -> Path:
        """The first candidate that exists, else the first."""
        paths = [self.path(candidate) for candidate in candidates]
        return next((path for path in paths if os.path.lexists(path)), paths[0])

    def has(self, client: Client) -> bool:
        """Whether a client seems to be installed: a folder or a program of its."""
        if any(self.path(sign).exists() for sign in client.signs):
            return True
        return any(shutil.which(program, path=self.env.get("PATH", os.defpath)) for program in client.programs)

    def _folders(self) -> Mapping[str, str]:
        home = self.home
        claude = self.env.get("CLAUDE_CONFIG_DIR")
        roaming = Path(self.env.get("APPDATA") or home / "AppData" / "Roaming")
        xdg = Path(self.env.get("XDG_CONFIG_HOME") or home / ".config")
        config = {"win32": roaming, "darwin": home / "Library" / "Application Support"}.get(self.platform, xdg)
        folders = {
            "home": home,
            "project": self.project,
            "xdg": xdg,
            "config": config,
            "claude": claude or home / ".claude",
            "claude_json": Path(claude or home) / ".claude.json",
            "codex": self.env.get("CODEX_HOME") or home / ".codex",
            "copilot": self.env.get("COPILOT_HOME") or home / ".copilot",
            "zed": roaming / "Zed" if self.platform == "win32" else xdg / "zed",
        }
        return {name: str(folder) for name, folder in folders.items()}


def scopes_of(client: Client) -> tuple[Scope, ...]:
    """The scopes in which a client reads anything that ebbing writes."""
    named = {*client.server.files, *(client.hooks.files if client.hooks else ())}
    return tuple(scope for scope in ("user", "project") if scope in named)
