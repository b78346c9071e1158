"""The parts of a backup."""

from __future__ import annotations

from enum import StrEnum


class Part(StrEnum):
    """What a backup may contain.

    The tables come with their catalogue, user tables, grants and row counts; the users with their groups, and with what
    the operator has announced and blocked, the usage statistics and the dates of the registry's records.
    """

    TABLES = "tables"
    USERS = "users"
    JOBS = "jobs"
    RESULTS = "results"
