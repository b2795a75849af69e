"""Settings: whatever the environment holds, it is refused by name or ebbing works with it."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from fake_embedder import FAKE_MODEL, FakeEmbedder
from fuzz_store import judge_error, logged
from fuzz_values import texts
from fuzzing import Check, Target
from hypothesis import strategies as st
from world import PROJECT, START

from ebbing.encoding.model import locate
from ebbing.schemas.errors import EbbingError, InvalidInputError, ModelError
from ebbing.schemas.instants import MICROSECONDS_PER_DAY, iso
from ebbing.server.engine import Engine
from ebbing.server.settings import VARIABLES, Settings, decay_variables, read_settings
from ebbing.tools.consolidate import consolidate
from ebbing.tools.explain import explain
from ebbing.tools.recall import RecallArguments, recall
from ebbing.tools.save import SaveArguments, save

_numbers = st.one_of(
    st.sampled_from(["0", "1", "-1", "2", "0.5", "1e308", "-1e308", "1e-308", "5e-324", "1e19", "1e6", "64", "1_0"]),
    st.floats().map(str),
    st.integers().map(str),
)
_words = st.sampled_from(
    [
        "none",
        "start",
        "prompts",
        "tools",
        "start,prompts",
        "DEBUG",
        "warning",
        "nan",
        "inf",
        "~",
        "~/x",
        "１２",
        " 3 ",
        "",
    ]
)
# The system lets no NUL into a variable; bytes that are no UTF-8 arrive as lone surrogates.
_odd = st.one_of(texts(20), st.just("/data/\udcff/x")).map(
    lambda text: text.replace("\0", "").encode("utf-8", "surrogatepass").decode("utf-8", "surrogateescape")
)
_values = st.one_of(_numbers, _numbers, _words, _odd)
_names = [variable.name for variable in (*VARIABLES, *decay_variables())] + [
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_PROJECT_DIR",
    "XDG_DATA_HOME",
]
_environments = st.dictionaries(st.sampled_from(_names), _values, max_size=4)
_SAVED = ("The lamp is green.", "decision"), ("The lamp of the lighthouse was painted red in May.", "fact")


def _judge(folder: Path, number: int, env: dict[str, str]) -> None:
    given = {"HOME": str(folder / "user"), "PATH": "/usr/bin", **env}
    try:
        settings = read_settings(given, cwd=folder)
    except InvalidInputError as error:
        judge_error(error)
        _judge_naming(error, env)
        return
    with suppress(ModelError):
        locate(model_dir=settings.model_dir)
    # Whatever home was chosen, nothing is written outside of the folder.
    home = folder / f"home-{number}"
    try:
        _use(replace(settings, home=home, background=False))
    except EbbingError as error:
        judge_error(error)


def _judge_naming(error: InvalidInputError, env: dict[str, str]) -> None:
    """An error says which variable to correct; a bad default of the home folder is got round by naming another."""
    assert any(name in str(error) for name in (*env, "EBBING_HOME")), f"{error} names no variable"


def _use(settings: Settings) -> None:
    """What a day with these settings asks of them."""
    elapsed = 0
    offset = round(settings.clock_offset_days * MICROSECONDS_PER_DAY)

    def clock() -> int:
        return START + elapsed + offset

    embedder = FakeEmbedder()
    with Engine(settings, clock=clock, load=lambda: embedder, spec=FAKE_MODEL) as engine:
        engine.embedder(5.0)
        saved = [save(engine.services(), SaveArguments(content=text, kind=kind)) for text, kind in _SAVED]
        for _ in range(2):
            recall(engine.services(), RecallArguments(query="what colour is the lamp"))
            elapsed += 10 * MICROSECONDS_PER_DAY
            report = consolidate(engine.services())
            assert "failed" not in report.text, report.text
        for reply in saved:
            explain(engine.services(), reply.id)
        assert iso(clock())
        assert settings.scope or PROJECT


@contextmanager
def _opened(folder: Path) -> Generator[Check]:
    number = 0

    def judge(env: dict[str, str]) -> None:
        nonlocal number
        number += 1
        _judge(folder, number, env)
        log.judge()

    with logged() as log:
        yield judge


SETTINGS = Target(
    "settings",
    "variables of the environment, to the settings and then to a store that is used with them",
    _environments,
    _opened,
    examples=60,
    suite=12,
)
