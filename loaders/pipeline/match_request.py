"""The request of ``skyhouse match make``."""

from __future__ import annotations

from typing import Literal

from loaders.command_request import CommandRequest


class MatchRequest(CommandRequest):
    """A kept match to make.

    Attributes
    ----------
    left, right
        ``schema.table``: the first table, with which the match is stored, and the second table.
    table
        ``schema.table`` of the match.
    radius
        Arcseconds.
    kind
        Which pairs are kept.
    epochs
        Epochs of both tables, separated by a comma, each a Julian year or a column of years; 'none': do not apply
        proper motions; '': the epochs of the tables, if both have one and at least one table has proper motions.
    """

    command: Literal["match make"] = "match make"
    left: str
    right: str
    table: str
    radius: float
    kind: Literal["all", "best", "mutual"] = "all"
    epochs: str = ""
