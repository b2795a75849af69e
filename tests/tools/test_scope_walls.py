"""Whatever happened in two projects, nothing of one can be reached from the other."""

import random
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from world import World

from ebbing.hooks.places import soft_prompt_path
from ebbing.schemas.errors import EbbingError
from ebbing.tools.explain import explain
from ebbing.tools.forget import forget
from ebbing.tools.learn import learn
from ebbing.tools.observe import observe
from ebbing.tools.recall import RecallArguments, recall
from ebbing.tools.save import SaveArguments, save

SCOPES = {"/projects/apple": "apple", "/projects/berry": "berry"}
KINDS = ("fact", "decision", "preference", "procedure", "episode")
SUBJECTS = ("cache", "queue", "parser", "deploy", "index")


def said(rng: random.Random, mark: str, number: int) -> str:
    subject = rng.choice(SUBJECTS)
    return rng.choice(
        (
            f"We decided that the {subject} uses {mark}{rng.randrange(4)}, because {mark} is quick.",
            f"The {subject} of {mark} listens on port {8000 + number}.",
            f"I prefer {mark} style for the {subject}.",
            f"The {subject} failed because of {mark}{number}; fixed by restarting {mark}.",
        )
    )


def live(world: World, rng: random.Random, steps: int) -> dict[str, list[str]]:
    """Random deeds in both projects; the ids that each has."""
    ids: dict[str, list[str]] = {scope: [] for scope in SCOPES}
    for number in range(steps):
        scope, mark = rng.choice(list(SCOPES.items()))
        text = said(rng, mark, number)
        services = world.services
        if rng.random() < 0.7:
            given = SaveArguments(
                content=text, kind=rng.choice(KINDS), scope=scope, said_by=rng.choice(("user", "agent"))
            )
            ids[scope].append(save(services, given).id)
        elif scope == services.scope:
            observe(services, [{"text": text, "event": "user-prompt-submit"}])
        elif ids[scope]:
            learn(services, "used", [rng.choice(ids[scope])], scope=scope)
        if rng.random() < 0.15:
            world.work_days(rng.randrange(1, 40), scope)
        if rng.random() < 0.1:
            world.run_daily()
    world.run_daily()
    return ids


def reaches(world: World, identifier: str) -> list[Callable[[], object]]:
    """Every way to name a memory by its id."""
    services = world.services
    return [
        partial(recall, services, RecallArguments(ids=[identifier])),
        partial(learn, services, "wrong", [identifier]),
        partial(forget, services, [identifier], None, "fade"),
        partial(explain, services, identifier),
    ]


@settings(max_examples=4, deadline=None, phases=[Phase.generate], suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 2**32), st.integers(5, 20))
def test_nothing_of_one_project_is_reached_from_another(seed: int, steps: int) -> None:
    rng = random.Random(seed)
    here, there = list(SCOPES)
    with tempfile.TemporaryDirectory() as folder, World(Path(folder, "home"), scope=here) as world:
        ids = live(world, rng, steps)
        foreign = SCOPES[there]
        for subject in SUBJECTS:
            for query in (f"{foreign} {subject}", f"What was decided on the {subject}?", said(rng, foreign, 1)):
                reply = recall(world.services, RecallArguments(query=query, limit=20, include_faded=True))
                assert foreign not in "".join(memory.text for memory in reply.memories)
        prompt = soft_prompt_path(world.home, here)
        assert foreign not in (prompt.read_text(encoding="utf-8") if prompt.exists() else "")
        for identifier in ids[there]:
            for reach in reaches(world, identifier):
                with pytest.raises(EbbingError) as refused:
                    reach()
                assert foreign not in str(refused.value)
        store = world.services.store
        numbers = {memory.seq: memory.scope for batch in store.memories.all() for memory in batch}
        links = store.database.rows("SELECT seq, other FROM link")
        assert [pair for pair in links if numbers[pair[0]] != numbers[pair[1]]] == []
