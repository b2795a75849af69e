"""What is closed at the end of a `with` block."""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self


class Closing(ABC):
    """A context manager that gives itself and is closed at the end, whatever happened inside."""

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close; what was raised inside goes on."""
        self.close()

    @abstractmethod
    def close(self) -> None:
        """Give back what it holds; a second time does nothing."""
