"""Errors that the ``skyhouse`` command shows to its user, each as one clear sentence."""

from __future__ import annotations

from tap_service.readers.read_error import ReadError


class LoadError(ReadError):
    """Wrong input, arguments or circumstances; the message says what is wrong, where, and what to do."""


class LoadCancelled(Exception):
    """The user stopped the work. A stopped load stays in its staging table."""
