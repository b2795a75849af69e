"""The things a store is about: numbers that the store holds stay what they are, and values can't be changed."""

import ast
import dataclasses
import inspect
import re

import pytest

from ebbing.schemas import errors, memory
from ebbing.schemas.errors import EbbingError
from ebbing.schemas.memory import Kind, Memory, NewMemory, Provenance, State, Strength


def test_the_numbers_of_states_are_those_that_files_hold() -> None:
    assert {state.label: int(state) for state in State} == {
        "active": 0,
        "warm": 1,
        "cold": 2,
        "archive": 3,
        "forgotten": 4,
    }


def test_only_what_happened_may_happen_twice() -> None:
    assert {kind for kind in Kind if kind.is_event} == {Kind.OBSERVATION, Kind.EPISODE}


@pytest.mark.parametrize("value", [NewMemory, Memory, Strength, Provenance])
def test_values_can_not_be_changed_and_have_no_other_attributes(value: type) -> None:
    assert value.__dataclass_params__.frozen  # type: ignore[attr-defined]
    assert set(value.__slots__) == {field.name for field in dataclasses.fields(value)}  # type: ignore[attr-defined]


def test_every_new_memory_of_the_same_words_is_equal() -> None:
    made = [NewMemory("id", "scope", Kind.FACT, "text", 0, "gist", "cue", "text") for _ in range(2)]
    assert made[0] == made[1]
    assert made[0].trust == 0.6


def test_the_tree_of_errors_is_drawn_as_it_is() -> None:
    made = [value for value in vars(errors).values() if inspect.isclass(value) and issubclass(value, EbbingError)]
    drawn: list[tuple[str, str]] = []
    above: list[str] = []
    for line in (errors.__doc__ or "").splitlines():
        if named := re.match(r"^    ([│├└─ ]*)(\w+Error)\b", line):
            above = [*above[: len(named[1]) // 4], named[2]]
            drawn.append((named[2], above[-2] if len(above) > 1 else "Exception"))
    assert sorted(drawn) == sorted((error.__name__, error.__bases__[0].__name__) for error in made)


def test_modules_of_what_things_are_import_nothing_that_acts() -> None:
    for module in (errors, memory):
        tree = ast.parse(inspect.getsource(module))
        names = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
        assert set(names) <= {"__future__", "dataclasses", "enum"}
