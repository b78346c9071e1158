"""What the making of a kept match is asked to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class MatchRequest:
    """A kept match to make.

    Attributes
    ----------
    left, right
        ``schema.table``: the first table, with which the match is stored, and the second one.
    table
        ``schema.table`` of the match.
    radius
        Arcseconds.
    kind
        Which pairs are kept.
    epochs
        Epochs of both tables, each a Julian year or a column of years, between a comma; 'none' for positions as they
        are; '' for the epochs that the tables have, if both have one and one of them has proper motions.
    """

    left: str
    right: str
    table: str
    radius: float
    kind: Literal["all", "best", "mutual"] = "all"
    epochs: str = ""
