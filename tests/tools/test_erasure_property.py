"""Whatever a memory has gone through, erasing it leaves no byte of it in any file, and every other memory as it was."""

import random
import re
import shutil
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from traces_left import places_of
from world import PROJECT, World

from ebbing.lifecycle.cutting import cut, weighty
from ebbing.lifecycle.daily import RunContext
from ebbing.schemas.memory import Memory
from ebbing.store.spool import SpoolEvent
from ebbing.tools.forget import forget
from ebbing.tools.observe import observe

_MARK = re.compile(r"mark\d+of[0-9a-f]+")
_SUBJECTS = ("cache", "ferry", "queue", "parser", "harbour")
_SHAPES = (
    "We decided that the {subject} uses {mark}, because {mark} is quick and small.",
    "I prefer {mark} for everything that has to do with the {subject}.",
    "The {subject} of {mark} did not start\nand 'fails' with \"E{number}\" — 設定が壊れた、再起動した。",
    "In chapter {number} the {subject} met {mark} behind the bridge and lost its ledger again.",
    "To deploy the {subject}, run make {mark} and wait for the lights of port {number}.",
)


class Life:
    """Random things that happen to one store; every text has a word that no other has."""

    def __init__(self, world: World, rng: random.Random) -> None:
        self.world = world
        self.rng = rng
        self.said: list[str] = []

    def text(self) -> str:
        """A new text, or one that was said before."""
        if self.said and self.rng.random() < 0.2:
            return self.rng.choice(self.said)
        number = len(self.said)
        shape = self.rng.choice(_SHAPES)
        mark = f"mark{number}of{self.rng.getrandbits(48):x}"
        self.said.append(shape.format(subject=self.rng.choice(_SUBJECTS), mark=mark, number=number))
        return self.said[-1]

    def step(self) -> None:
        """One of the things that can happen."""
        world, rng = self.world, self.rng
        deeds = (
            lambda: world.save(self.text(), rng.choice(("fact", "episode", "decision", "preference")), said_by="user"),
            lambda: world.save(self.text(), "fact", tags=[rng.choice(_SUBJECTS)]),
            lambda: observe(world.services, [{"text": self.text(), "event": "user-prompt-submit"} for _ in range(2)]),
            self.hook,
            lambda: world.found(rng.choice(_SUBJECTS)),
            lambda: world.work_days(rng.choice((1, 4, 20))),
            self.consolidate,
            lambda: world.services.store.backups.make("life", world.now),
            self.fade,
        )
        rng.choices(deeds, (4, 3, 2, 2, 2, 3, 3, 1, 1))[0]()

    def consolidate(self) -> None:
        """A daily run, without its rests between batches."""
        context = RunContext(self.world.now, asked=True)
        for step in self.world.engine.steps().all():
            step.run(context)

    def hook(self) -> None:
        """A hook notes an event that no server has taken in yet."""
        number = f"{self.rng.getrandbits(64):x}"
        payload = {"prompt": f"Look: {self.text()}"}
        self.world.services.store.spool.append(
            [SpoolEvent(number, self.world.now, PROJECT, "s", "user-prompt-submit", payload)]
        )

    def fade(self) -> None:
        """Somebody lets a memory fade at once."""
        if memories := everything(self.world):
            forget(self.world.services, [self.rng.choice(memories).id], mode="fade")


def everything(world: World) -> list[Memory]:
    return [memory for batch in world.services.store.memories.all() for memory in batch]


@given(seed=st.integers(0, 2**32), steps=st.integers(6, 16))
@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_no_byte_of_an_erased_memory_is_left_and_every_other_is_as_it_was(seed: int, steps: int) -> None:
    folder = Path(tempfile.mkdtemp())
    rng = random.Random(seed)
    try:
        with World(folder / "home") as world:
            life = Life(world, rng)
            life.step()
            for _ in range(steps):
                life.step()
            while not (before := everything(world)):
                life.step()
            chosen = rng.choice(before)
            reply = forget(world.services, [chosen.id], mode="erase", confirmed=True)
            assert reply.verified, reply.text
            check(world, chosen, before)
    finally:
        shutil.rmtree(folder)


def check(world: World, chosen: Memory, before: list[Memory]) -> None:
    after = {memory.id: memory.content for memory in everything(world)}
    gone = [memory for memory in before if memory.id not in after]
    texts = weighty([chosen.content, *(m.content for m in gone if m.merged_into is not None)])
    for memory in before:
        if memory.id in after:
            assert after[memory.id] in (memory.content, cut(memory.content, texts))
        else:
            # A copy of it, a gist that quoted it, or one that said nothing else.
            assert memory.gist_of or memory.merged_into or cut(memory.content, texts) is None
    said = {mark for content in after.values() for mark in _MARK.findall(content)}
    for mark in {mark for text in texts for mark in _MARK.findall(text)} - said:
        assert places_of(world, mark) == []
    assert world.services.store.integrity() == []
    assert world.services.store.database.rows("PRAGMA foreign_key_check") == []
