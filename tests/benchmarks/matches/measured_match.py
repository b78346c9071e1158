"""The usage and the result of one match."""

from __future__ import annotations

from dataclasses import dataclass

from tests.benchmarks.matches.match_kinds import Found
from tests.benchmarks.process_tree import TreeUsage


class OutOfMemoryError(Exception):
    """A program does not have enough memory for this match."""


@dataclass(frozen=True)
class MeasuredMatch:
    """``engine_memory`` and ``engine_read`` are what a job reports: its peak, and bytes of columns, uncompressed."""

    usage: TreeUsage
    found: Found
    engine_memory: int = 0
    engine_read: int = 0
