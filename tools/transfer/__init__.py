"""Memories out of a store and into another: ebbing's own lossless format, line by line."""
