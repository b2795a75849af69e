"""The last few results by key, for questions that are asked again."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Recent(Generic[K, V]):
    """Keeps what was made for the last `size` keys. Safe for several threads; two may make the same at once."""

    def __init__(self, size: int) -> None:
        """Nothing is kept yet."""
        self._size = size
        self._guard = threading.Lock()
        self._kept: OrderedDict[K, V] = OrderedDict()

    def peek(self, key: K) -> V | None:
        """What is kept for a key, or None."""
        with self._guard:
            return self._kept.get(key)

    def get(self, key: K, make: Callable[[], V]) -> V:
        """What is kept for a key, or what `make` gives, which is kept from then on."""
        with self._guard:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        made = make()
        with self._guard:
            self._kept[key] = made
            while len(self._kept) > self._size:
                self._kept.popitem(last=False)
        return made
