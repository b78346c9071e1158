"""What a user of the ``skyhouse`` command reads when something is wrong: one clear sentence each."""

from __future__ import annotations

from tap_service.readers.read_error import ReadError


class LoadError(ReadError):
    """Wrong input, arguments or circumstances; the text says what, where, and the way out."""


class LoadCancelled(Exception):
    """The user stopped the work. What was done of a load waits in its staging table."""
