"""What the processes of a stress run do, and the record of what was acknowledged to them."""

from __future__ import annotations

import json
import random
import subprocess
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from _servers import EBBING, HOOK, Gone, Server, environment

_SHARES: Final = {"save": 45, "observe": 20, "recall": 25, "forget": 5, "learn": 4, "consolidate": 1}
_DAILY_RUNS: Final = 0.2
"""What share of the killings meets the daily run."""
_KINDS: Final = ("episode", "fact", "decision", "procedure", "preference")


@dataclass(slots=True)
class Record:
    """Markers by how they were written; a marker is a word that stands in one text only."""

    saved: set[str] = field(default_factory=set[str])
    observed: set[str] = field(default_factory=set[str])
    erased: set[str] = field(default_factory=set[str])
    kills: int = 0
    calls: int = 0
    refused: list[str] = field(default_factory=list[str])
    failed: list[str] = field(default_factory=list[str])
    leaked: int = 0
    guard: threading.Lock = field(default_factory=threading.Lock)

    def add(self, where: set[str], marker: str) -> None:
        """Note a marker as acknowledged."""
        with self.guard:
            where.add(marker)


class Worker(threading.Thread):
    """Keeps one server busy until told to stop; starts another when it was killed."""

    def __init__(
        self, home: Path, name: str, seed: int, record: Record, stop: threading.Event, *, faulty: bool = False
    ) -> None:
        """`name` goes into the markers, so that no two workers write the same; the disk of its server may fail."""
        super().__init__(name=name, daemon=True)
        self._faulty = faulty
        self._home = home
        self._rng = random.Random(seed)  # noqa: S311 - which tool comes next is no secret
        self._record = record
        self._stop_event = stop
        self._count = 0
        self._ids: list[tuple[str, str]] = []
        self.server: Server | None = None

    def run(self) -> None:
        """Work."""
        while not self._stop_event.is_set():
            try:
                self.server = None
                self.server = Server(self._home, self._rng.randrange(10**9) if self._faulty else None)
                while not self._stop_event.is_set():
                    self._step(self.server)
            except Gone:
                if self.server is not None:
                    self.server.close()
        if self.server is not None and not self.server.close():
            self._record.leaked += 1

    def _step(self, server: Server) -> None:
        """One call, chosen by lot."""
        with self._record.guard:
            self._record.calls += 1
        (chosen,) = self._rng.choices(list(_SHARES), list(_SHARES.values()))
        known = self._rng.choice(self._ids) if self._ids else None
        if chosen == "save":
            self._save(server)
        elif chosen == "observe":
            self._observe(server)
        elif chosen == "recall":
            gauge = f"{self.name}{self._rng.randrange(self._count + 1)}"
            self._call(server, "recall", {"query": f"What did gauge {gauge} read?"})
        elif chosen == "consolidate":
            self._call(server, "consolidate", {})
        elif known is not None and chosen == "forget":
            self._forget(server, known)
        elif known is not None:
            signal = self._rng.choice(("used", "useful", "outdated"))
            self._call(server, "learn", {"signal": signal, "memory_ids": [known[1]]})

    def _marker(self) -> str:
        self._count += 1
        return f"m{self.name}x{self._count}q"

    def _save(self, server: Server) -> None:
        marker = self._marker()
        reading = f"reads {self._count * 13} at point {marker} of line {self._rng.random():.9f}"
        text = f"Gauge {self.name}{self._count} {reading}."
        ok, reply = self._call(server, "save", {"content": text, "kind": self._rng.choice(_KINDS)})
        if ok:
            self._record.add(self._record.saved, marker)
            self._ids.append((marker, str(reply["id"])))

    def _observe(self, server: Server) -> None:
        markers = [self._marker() for _ in range(self._rng.randint(1, 5))]
        events = [{"text": f"ran check {marker}: exit code 0", "event_id": f"e-{marker}"} for marker in markers]
        ok, _ = self._call(server, "observe", {"events": events})
        for marker in markers if ok else ():
            self._record.add(self._record.observed, marker)

    def _forget(self, server: Server, known: tuple[str, str]) -> None:
        self._ids.remove(known)
        marker, identifier = known
        mode = self._rng.choice(("fade", "erase"))
        # Between the answer that is lost and the one that came, nobody can say whether it is there.
        if mode == "erase":
            with self._record.guard:
                self._record.saved.discard(marker)
        ok, _ = self._call(server, "forget", {"memory_ids": [identifier], "mode": mode, "confirm": True})
        if ok and mode == "erase":
            self._record.add(self._record.erased, marker)

    def _call(self, server: Server, tool: str, arguments: dict[str, Any]) -> tuple[bool, dict[str, Any]]:
        ok, reply = server.call(tool, arguments)
        if not ok:
            with self._record.guard:
                refused = self._record.failed if self._faulty else self._record.refused
                refused.append(f"{tool}: {reply['text']}")
        return ok, reply


class Hooks(threading.Thread):
    """Runs a client's hooks; a hook that leaves with 0 has taken its event over."""

    def __init__(self, home: Path, record: Record, stop: threading.Event) -> None:
        """Write into the spool of `home`."""
        super().__init__(name="hooks", daemon=True)
        self._home = home
        self._record = record
        self._stop_event = stop
        self._count = 0

    def run(self) -> None:
        """Work."""
        while not self._stop_event.wait(0.2):
            self._count += 1
            marker = f"mhook{time.monotonic_ns()}q"
            event = {
                "session_id": "stress",
                "cwd": str(self._home.parent),
                "hook_event_name": "PostToolUse",
                "tool_name": "Bash",
                "tool_use_id": f"t-{marker}",
                "tool_input": {"command": f"check {marker}"},
                "tool_response": {"stdout": "fine"},
            }
            done = subprocess.run(
                [*HOOK, "post-tool-use"],
                env=environment(self._home),
                input=json.dumps(event).encode(),
                capture_output=True,
                check=False,
            )
            if done.returncode == 0:
                self._record.add(self._record.observed, marker)


class Killer(threading.Thread):
    """Kills servers, and the daily run in a process of its own, at random moments."""

    def __init__(self, workers: list[Worker], home: Path, seed: int, record: Record, stop: threading.Event) -> None:
        """The first of the workers is spared: its memory is watched."""
        super().__init__(name="killer", daemon=True)
        self._workers = workers[1:]
        self._home = home
        self._rng = random.Random(seed)  # noqa: S311 - whom to kill is no secret
        self._record = record
        self._stop_event = stop

    def run(self) -> None:
        """Kill somebody every second or two."""
        while not self._stop_event.wait(self._rng.uniform(0.3, 2.5)):
            if self._rng.random() < _DAILY_RUNS:
                self._kill_daily_run()
            else:
                self._kill(self._rng.choice(self._workers).server)

    def _kill(self, server: Server | None) -> None:
        if server is not None and server.process.poll() is None:
            server.kill()
            self._record.kills += 1

    def _kill_daily_run(self) -> None:
        process = subprocess.Popen(
            [*EBBING, "consolidate"],
            env=environment(self._home),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            process.wait(self._rng.uniform(1.0, 6.0))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            self._record.kills += 1
