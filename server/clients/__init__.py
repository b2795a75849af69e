"""Putting ebbing into the configuration of clients and taking it out again, byte by byte."""

from .inspection import Standing, inspect

__all__ = ["Standing", "inspect"]
