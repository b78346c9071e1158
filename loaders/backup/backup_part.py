"""The parts of a backup."""

from __future__ import annotations

from enum import StrEnum


class Part(StrEnum):
    """A part that a backup may contain.

    ``TABLES`` includes the catalogue, user tables, grants and row counts. ``USERS`` includes groups, announcements,
    blocked addresses, usage statistics and the dates of the registry's records.
    """

    TABLES = "tables"
    USERS = "users"
    JOBS = "jobs"
    RESULTS = "results"
