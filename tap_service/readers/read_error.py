"""What is wrong with a table file, for whoever sent it."""

from __future__ import annotations


class ReadError(Exception):
    """The file cannot be read, or not as a table; the text says what, where, and the way out."""
