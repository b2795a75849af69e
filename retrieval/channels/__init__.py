"""One file per way of finding a memory, and one registry."""
