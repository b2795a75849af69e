"""Every target by its name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from fuzzing import Target
from target_arguments import ARGUMENTS
from target_config import CONFIG
from target_damage import DAMAGE
from target_growth import GROWTH
from target_hooks import HOOKS
from target_imports import IMPORTS
from target_lines import LINES
from target_settings import SETTINGS
from target_spool import SPOOL
from target_stdio import STDIO
from target_texts import TEXTS

_ALL: Final = (ARGUMENTS, CONFIG, DAMAGE, GROWTH, HOOKS, IMPORTS, LINES, SETTINGS, SPOOL, STDIO, TEXTS)

TARGETS: Final[Mapping[str, Target]] = {target.name: target for target in _ALL}
