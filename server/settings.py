"""Settings: one frozen object, read once from `EBBING_*` variables. A value that can't be read is an error."""

from __future__ import annotations

import logging
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path

from ..hooks.places import chosen_scope, home
from ..hooks.switches import CAPTURE, CAPTURED, INJECT, INJECTED, chosen, unknown
from ..lifecycle.constants import DecaySettings
from ..schemas.errors import InvalidInputError
from ..schemas.texts import whole
from .setting_ranges import BITS, range_of

PREFIX = "EBBING_"
_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")


@dataclass(frozen=True, slots=True)
class Variable:
    """A setting as people see it: its variable, its default as text, what it does."""

    name: str
    default: str
    meaning: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything that can be set."""

    home: Path
    scope: str
    model_dir: Path | None = None
    log_level: str = "WARNING"
    busy_timeout_ms: int = 10_000
    clock_offset_days: float = 0.0
    background: bool = True
    session: str | None = None
    inject: frozenset[str] = frozenset(INJECTED)
    decay: DecaySettings = field(default_factory=DecaySettings)


VARIABLES: tuple[Variable, ...] = (
    Variable("EBBING_HOME", "the user's data folder", "folder of the store, the spool and the soft prompts"),
    Variable("EBBING_SCOPE", "the project's path", "project key to use instead of the one found from the folder"),
    Variable("EBBING_MODEL_DIR", "the installed model", "folder with another embedding model"),
    Variable("EBBING_LOG_LEVEL", "WARNING", "DEBUG, INFO, WARNING or ERROR, written to stderr"),
    Variable("EBBING_BUSY_TIMEOUT_MS", "10000", "how long to wait for other processes' writes"),
    Variable("EBBING_CLOCK_OFFSET_DAYS", "0", "days added to the clock, to try out how memories fade"),
    Variable("EBBING_BACKGROUND", "1", "0 keeps the server from ingesting the spool and running daily by itself"),
    Variable(CAPTURE, ",".join(CAPTURED), "what hooks note down: any of these words, or none"),
    Variable(INJECT, ",".join(INJECTED), "when hooks add to the context: any of these words, or none"),
    Variable("EBBING_DEBUG", "0", "1 makes hooks log their failures to a file in the home folder"),
)


def decay_variables() -> tuple[Variable, ...]:
    """One variable for each constant of decay, named after its field."""
    return tuple(
        Variable(PREFIX + item.name.upper(), _plain(item.default), item.name.replace("_", " "))
        for item in fields(DecaySettings)
    )


def _plain(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def read_settings(env: Mapping[str, str] | None = None, cwd: Path | None = None) -> Settings:
    """The settings that the environment asks for.

    Raises:
        InvalidInputError: naming the variable whose value can't be used.
    """
    given = os.environ if env is None else env
    level = given.get("EBBING_LOG_LEVEL", "WARNING").upper()
    if level not in _LEVELS:
        raise InvalidInputError(f"EBBING_LOG_LEVEL must be one of {', '.join(_LEVELS)}, not {level[:20]!r}")
    _words(given, CAPTURE, CAPTURED)
    return Settings(
        home=_home(given),
        scope=chosen_scope(cwd or _folder(), given),
        model_dir=_model_folder(given),
        log_level=level,
        busy_timeout_ms=int(_number(given, "EBBING_BUSY_TIMEOUT_MS", 10_000)),
        clock_offset_days=_number(given, "EBBING_CLOCK_OFFSET_DAYS", 0.0),
        background=_number(given, "EBBING_BACKGROUND", 1) != 0,
        session=whole(given.get("CLAUDE_CODE_SESSION_ID", "")) or None,
        inject=_words(given, INJECT, INJECTED),
        decay=_decay(given),
    )


def configure_logging(level: str) -> None:
    """Send logs to stderr, which is the only place they may go: stdout belongs to the protocol."""
    logging.basicConfig(level=level, format="ebbing: %(levelname)s: %(name)s: %(message)s")


def _home(given: Mapping[str, str]) -> Path:
    found = home(given)
    if whole(str(found)) != str(found):
        # SQLite takes no other names.
        raise InvalidInputError("EBBING_HOME is no path in UTF-8: name another folder")
    return found


def _model_folder(given: Mapping[str, str]) -> Path | None:
    named = given.get("EBBING_MODEL_DIR", "").strip()
    try:
        return Path(named).expanduser() if named else None
    except RuntimeError as error:
        raise InvalidInputError("EBBING_MODEL_DIR names the home folder of nobody known here") from error


def _folder() -> Path:
    try:
        return Path.cwd()
    except FileNotFoundError:
        # The folder the client started us in has been deleted since.
        return Path(os.sep)


def _words(given: Mapping[str, str], name: str, every: tuple[str, ...]) -> frozenset[str]:
    """The words of `every` that a variable lists."""
    if wrong := unknown(given, name, every):
        raise InvalidInputError(f"{name} lists some of {', '.join(every)}, or is none; not {wrong[0][:40]!r}")
    return chosen(given, name, every)


def _decay(given: Mapping[str, str]) -> DecaySettings:
    values: dict[str, float] = {}
    for item in fields(DecaySettings):
        name = PREFIX + item.name.upper()
        if given.get(name, "").strip():
            value = _number(given, name, 0.0)
            values[item.name] = int(value) if isinstance(item.default, int) else value
    return DecaySettings(**values)  # pyright: ignore[reportArgumentType]


def _number(given: Mapping[str, str], name: str, default: float) -> float:
    text = given.get(name, "").strip()
    if not text:
        return default
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    low, high = range_of(name)
    if not low <= value <= high:
        raise InvalidInputError(f"{name} must be a number from {low:g} to {high:g}, not {text[:40]!r}")
    if name.startswith(f"{PREFIX}BITS_") and value not in BITS:
        raise InvalidInputError(f"{name} must be one of {', '.join(map(str, BITS))}, not {text[:40]!r}")
    return value
