"""Settings: a variable that can't be used is named, and whatever is accepted can be worked with."""

from dataclasses import fields
from pathlib import Path

import pytest

from ebbing.lifecycle.constants import DEFAULTS, DecaySettings
from ebbing.schemas.errors import InvalidInputError
from ebbing.server.settings import decay_variables, read_settings

HOME = {"HOME": "/home/somebody"}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("EBBING_WALL_DAYS_PER_DAY", "0"),
        ("EBBING_SPACING_DAYS", "0"),
        ("EBBING_ACTIVATION_DAYS", "1e-300"),
        ("EBBING_WEIGHT_USES", "1e308"),
        ("EBBING_BITS_WARM", "7"),
        ("EBBING_BITS_ACTIVE", "300"),
        ("EBBING_HEAT_WINDOW", "64"),
        ("EBBING_TRUST_USER", "1.5"),
        ("EBBING_HIGH_MARK", "85"),
        ("EBBING_BUSY_TIMEOUT_MS", "1e300"),
        ("EBBING_CLOCK_OFFSET_DAYS", "1e9"),
        ("EBBING_CLOCK_OFFSET_DAYS", "nan"),
        ("EBBING_HOME", "/data/\udcff"),
        ("EBBING_MODEL_DIR", "~nobody-of-that-name/x"),
    ],
)
def test_a_value_that_nothing_could_work_with_is_refused_by_name(name: str, value: str) -> None:
    with pytest.raises(InvalidInputError, match=name):
        read_settings({**HOME, name: value}, Path("/"))


def test_every_default_may_be_set_in_its_own_words() -> None:
    env = {variable.name: variable.default for variable in decay_variables()}
    assert read_settings({**HOME, **env}, Path("/")).decay == DEFAULTS
    assert len(env) == len(fields(DecaySettings))


def test_an_empty_variable_is_one_that_is_not_set() -> None:
    env = dict.fromkeys((variable.name for variable in decay_variables()), " ")
    assert read_settings({**HOME, **env}, Path("/")).decay == DEFAULTS


def test_names_in_bytes_that_are_no_utf_8_become_ones_that_can_be_stored() -> None:
    env = {**HOME, "EBBING_SCOPE": "/projects/\udcff", "CLAUDE_CODE_SESSION_ID": "s\udcfe"}
    settings = read_settings(env, Path("/"))
    assert settings.scope.encode()
    assert settings.scope != read_settings({**env, "EBBING_SCOPE": "/projects/\udcfe"}, Path("/")).scope
    assert (settings.session or "").encode()
