"""Exporting and importing in tests: stores as bytes, bytes as records, and a store that something has happened to."""

import io
import json
from typing import Any

from world import World

from ebbing.store.store import Store
from ebbing.tools.transfer.export import export
from ebbing.tools.transfer.load import Loaded, load


def exported(store: Store, scope: str | None = None) -> bytes:
    target = io.BytesIO()
    export(store, target, scope)
    return target.getvalue()


def taken(world: World, data: bytes, *, skip_bad: bool = False, dry_run: bool = False) -> Loaded:
    return load(world.services, io.BytesIO(data), skip_bad=skip_bad, dry_run=dry_run)


def records(data: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in data.split(b"\n") if line]


def lines(found: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in found)


def lived(world: World) -> list[str]:
    """A store with one memory in each state, one erased, one superseded, links and a journal; returns the ids."""
    kept = world.save("We use pnpm because npm broke the lock file of web/package.json.", "decision").id
    old = world.save("The staging database listens on port 5432.").id
    fading = world.save("The build of alpha-7 failed because the cache at /var/cache/alpha was full.", "episode").id
    gone = world.save("Never keep this sentence about quails.").id
    world.work_days(12)
    new = world.save("The staging database listens on port 5433.").id
    world.services.ledger.used(world.memory(kept), world.now)
    world.services.recorder.erase([world.memory(gone)], world.now)
    world.found("which port?")
    world.work_days(30)
    world.run_daily()
    return [kept, old, fading, new]
