"""What clients' hooks run: the standard library only, and always exit 0."""
