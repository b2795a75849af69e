"""Clients' files of a made-up user, as they are before and after ebbing was set up."""

from __future__ import annotations

import shutil
from pathlib import Path

from ebbing.server.clients.folders import Machine
from ebbing.server.clients.plans import plans
from ebbing.server.clients.programs import Programs
from ebbing.server.clients.receipts import Receipts
from ebbing.server.clients.setup import Change, carry_out, carry_out_removal, work_out, work_out_removal
from ebbing.server.clients.table import Client, Scope, client_of

GOLDEN = Path(__file__).parents[1] / "server" / "clients" / "golden"
PROGRAMS = Programs(("/opt/ebbing/bin/ebbing",), ("/opt/ebbing/bin/ebbing-hook",))


class Desk:
    """A home folder with a client's files in it, and ebbing's own folder beside it."""

    def __init__(self, folder: Path, client: str, *, programs: Programs = PROGRAMS) -> None:
        self.home = folder / "home"
        self.client: Client = client_of(client)
        self.programs = programs
        self.receipts = Receipts(folder / "ebbing")
        self.machine = Machine({"HOME": str(self.home), "PATH": ""}, folder / "project", "linux")
        self.home.mkdir()

    @classmethod
    def furnished(cls, folder: Path, client: str) -> Desk:
        """With the files that the golden examples begin from."""
        desk = cls(folder, client)
        shutil.copytree(GOLDEN / client / "before", desk.home, dirs_exist_ok=True)
        return desk

    def set_up(self, scope: Scope = "user") -> list[Change]:
        planned = plans(self.machine, self.client, scope, self.programs)
        changes = [work_out(plan, self.receipts) for plan in planned]
        carry_out(changes, self.receipts)
        return changes

    def remove(self) -> list[Change]:
        changes = [work_out_removal(receipt) for receipt in self.receipts.all()]
        carry_out_removal(changes, self.receipts)
        return changes

    def files(self) -> dict[str, bytes]:
        return files_in(self.home)


def files_in(folder: Path) -> dict[str, bytes]:
    """The content of every file below a folder, by its path in it; an empty folder counts as a file of its own."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else b"empty folder"
        for path in folder.rglob("*")
        if path.is_file() or not any(path.iterdir())
    }
