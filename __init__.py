"""ebbing: a memory for coding agents that forgets the way people do."""

__version__ = "0.1.0"
