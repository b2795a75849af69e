"""What is no longer so is taken out of prepared soft prompts at once; the daily run fills the gap."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from ..lifecycle.prompt_file import withdraw
from .services import Services

_log = logging.getLogger(__name__)


def withdrawn(services: Services, ids: Iterable[str]) -> None:
    """Take memories out of every soft prompt file; one that can't be written is left to the daily run."""
    folder = services.prompt_path(services.scope).parent
    try:
        withdraw(folder, frozenset(ids))
    except OSError as error:
        _log.warning("a soft prompt could not be changed: %s", error.strerror)
