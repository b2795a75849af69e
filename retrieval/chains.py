"""Which memories replaced a superseded one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ..schemas.errors import UnknownMemoryError
from ..schemas.memory import Memory
from ..store.memories import Memories

_LONGEST: Final = 20


def replacements(memories: Memories, memory: Memory) -> tuple[str, ...]:
    """The ids that replaced a memory, oldest first; what was erased ends the chain.

    Raises:
        StoreError: if the store can't be read.
    """
    chain: list[str] = []
    following = memory.superseded_by
    while following is not None and following not in chain and len(chain) < _LONGEST:
        chain.append(following)
        later = _by_id(memories, following)
        following = later[0].superseded_by if later else None
    return tuple(chain)


def _by_id(memories: Memories, identifier: str) -> Sequence[Memory]:
    try:
        return memories.by_ids([identifier])
    except UnknownMemoryError:
        return ()
