"""The error for a table file that cannot be read."""

from __future__ import annotations


class ReadError(Exception):
    """The file cannot be read as a table; the message has the cause, the location and the remedy for its sender."""
