"""The steps of the daily run, in their order, made from the parts that do the work."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ..encoding.embedder import Embedder
from ..schemas.memory import GLOBAL_SCOPE, Memory
from ..store.store import Store
from ..store.upkeep import upkeep
from . import eviction, gists, merging
from .backfill import backfill
from .consolidation import Consolidator
from .constants import DecaySettings
from .daily import RunContext, Step, StepResult
from .decay import decay, pending
from .ledger import Ledger
from .observing import Observer
from .precision import requantize, unsettled
from .prompt_file import ids_in, read, without, write
from .prompt_sections import section_of
from .prompt_source import scored
from .resemblance import resemble
from .soft_prompt import SoftPrompt, compose, line_of


class DailySteps:
    """Builds the steps over one store."""

    def __init__(
        self,
        store: Store,
        observer: Observer,
        embedder: Callable[[], Embedder | None],
        count_tokens: Callable[[str], int],
        prompt_path: Callable[[str], Path],
        settings: DecaySettings,
    ) -> None:
        """Work on `store`; `prompt_path` gives a scope's soft prompt file."""
        self._store = store
        self._observer = observer
        self._consolidator = Consolidator(store, Ledger(store, settings), settings)
        self._embedder = embedder
        self._count_tokens = count_tokens
        self._prompt_path = prompt_path
        self._settings = settings

    def all(self) -> tuple[Step, ...]:
        """The steps in their order."""
        return (
            Step("spool", self._spool),
            Step("knowledge", self._knowledge),
            Step("embeddings", self._embeddings),
            Step("decay", self._decay, bounded=True),
            Step("precision", self._precision, bounded=True),
            Step("merging", self._merging, bounded=True),
            Step("gists", self._gists, bounded=True),
            Step("soft prompts", self._soft_prompts),
            Step("resemblance", self._resemblance, bounded=True),
            Step("eviction", self._eviction, bounded=True),
            Step("maintenance", self._maintenance, bounded=True),
        )

    def prompt(self, scope: str, now: int) -> SoftPrompt:
        """The soft prompt of a scope as it would be written at `now` (µs)."""
        standing = ids_in(read(self._prompt_path(scope)))
        candidates = scored(self._store, scope, self._settings)
        return compose(candidates, self._count_tokens, now=now, incumbents=standing)

    def put(self, path: Path, prepared: SoftPrompt) -> bool:
        """Write a soft prompt without lines that were erased or changed while it was made; whether the file changed."""
        if read(path) == prepared.text:
            return False
        # Under the lock: who erases after us finds the file as it is, who erased before us is seen here.
        with self._store.atomic(durable=False):
            now = {memory.id: memory for memory in self._store.memories.with_ids(prepared.included)}
            lines = set(prepared.text.splitlines())
            stale = {name for name in prepared.included if name not in now or _line(now[name]) not in lines}
            return write(path, without(prepared.text, stale))

    def _spool(self, context: RunContext) -> StepResult:
        if context.dry_run:
            waiting = self._store.spool.pending_bytes()
            return StepResult(0, f"{waiting} bytes wait in the spool")
        return StepResult(self._observer.ingest(context.now))

    def _knowledge(self, context: RunContext) -> StepResult:
        if context.dry_run:
            return StepResult(self._store.pending.count(), "observations wait")
        embedder = self._embedder()
        done = self._consolidator.run(context.now, embedder, whole=context.asked, stopped=context.stopped)
        told = f"{done.observations} observations gave {done.added} memories and confirmed {done.confirmed}"
        used = f"; replies made use of {done.reused} that were shown" if done.reused else ""
        return StepResult(done.observations, told + used if done.observations else "")

    def _embeddings(self, context: RunContext) -> StepResult:
        embedder = self._embedder()
        if embedder is None:
            return StepResult(0, "no embedding model: recall works on words, entities and dates")
        if context.dry_run:
            return StepResult(len(self._store.vectors.missing(1_000_000)))
        done = backfill(self._store, embedder, self._settings, context.stopped, link_at=context.now)
        return StepResult(done)

    def _decay(self, context: RunContext) -> StepResult:
        if context.dry_run:
            return StepResult(pending(self._store, context.now, self._settings))
        return StepResult(decay(self._store, context.now, self._settings, context.stopped))

    def _precision(self, context: RunContext) -> StepResult:
        if context.dry_run:
            return StepResult(unsettled(self._store, context.now, self._settings))
        counts = requantize(self._store, self._embedder(), context.now, self._settings, context.stopped)
        waiting = f"{counts.waiting} memories wait for the embedding model" if counts.waiting else ""
        return StepResult(counts.changed, waiting)

    def _merging(self, context: RunContext) -> StepResult:
        if context.dry_run:
            return StepResult(merging.pending(self._store))
        done = merging.merge_copies(self._store, context.now, self._settings, context.stopped)
        return StepResult(done.merged, f"{done.merged} merged into what says the same" if done.merged else "")

    def _gists(self, context: RunContext) -> StepResult:
        if context.dry_run:
            return StepResult(gists.pending(self._store))
        ledger = Ledger(self._store, self._settings)
        done = gists.make_gists(self._store, ledger, self._embedder(), context.now, context.stopped)
        gone = f"{done.retired} retired because a source changed" if done.retired else ""
        return StepResult(done.made + done.retired + done.turned, gone)

    def _soft_prompts(self, context: RunContext) -> StepResult:
        changed = 0
        for scope in self._store.scopes.keys().values():
            if context.scope is not None and scope not in (context.scope, GLOBAL_SCOPE):
                continue
            prepared = self.prompt(scope, context.now)
            if not context.dry_run:
                changed += self.put(self._prompt_path(scope), prepared)
        return StepResult(changed)

    def _resemblance(self, context: RunContext) -> StepResult:
        if context.dry_run:
            return StepResult(len(self._store.resemblance.uncounted(0, 1_000_000)))
        count, left = resemble(self._store, context.stopped)
        return StepResult(count, "the rest is compared in the next runs" if left else "")

    def _eviction(self, context: RunContext) -> StepResult:
        if context.dry_run:
            return StepResult(eviction.pending(self._store, context.now, self._settings))
        if context.cut & {"decay", "precision"}:
            # What has yet to be made smaller may well fit, and nothing is to go that could have stayed.
            return StepResult(0, "waits until everything that fades is as small as it gets")
        done = eviction.evict(self._store, context.now, self._settings, context.stopped)
        return StepResult(done.changed, eviction.describe(done))

    def _maintenance(self, context: RunContext) -> StepResult:
        if context.dry_run:
            return StepResult(0)
        self._store.lexical.merge(context.stopped)
        done = upkeep(self._store.database, self._store.vectors, context.stopped)
        built = "the coarse index was built anew; " if done.rebuilt else ""
        return StepResult(done.rebuilt + done.moved, f"{built}{done.released_bytes} bytes given back to the disk")


def _line(memory: Memory) -> str | None:
    section = section_of(memory)
    return None if section is None else line_of(memory, section)
