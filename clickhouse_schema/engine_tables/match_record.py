"""Which changes of its two tables a kept match still has to follow, as the catalogue log records it.

A change of a table adds the cells of its rows before it becomes visible; a match that is up to date has no cells. A
match without a record must be recomputed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from pydantic import BaseModel, ConfigDict

#: Maximum number of cells of a record: if there are more, they are replaced by coarser cells
MAX_CELLS = 1000


class MatchRecord(BaseModel):
    """The record of one kept match.

    Attributes
    ----------
    reach
        Greatest separation, in degrees, that the stored positions of a pair have ever had.
    order, cells
        NESTED cells of the rows that were added, changed or deleted since the match was up to date.
    """

    model_config = ConfigDict(frozen=True)

    reach: float
    order: int = 0
    cells: tuple[int, ...] = ()

    @property
    def is_current(self) -> bool:
        """Whether the match is up to date."""
        return not self.cells

    def add_cells(self, order: int, cells: Iterable[int]) -> MatchRecord:
        """Return the record with more cells.

        Parameters
        ----------
        order : int
            Order of the added cells.
        cells : iterable of int
            NESTED indexes in any order.

        Returns
        -------
        MatchRecord
            All cells get the coarser of both orders, or a coarser one if there are more than ``MAX_CELLS``. Without
            added cells, the same record.
        """
        added = tuple(cells)
        if not added:
            return self
        common = min(order, self.order) if self.cells else order
        all_cells = {cell >> (2 * (self.order - common)) for cell in self.cells}
        all_cells |= {cell >> (2 * (order - common)) for cell in added}
        while len(all_cells) > MAX_CELLS and common > 0:
            common -= 1
            all_cells = {cell >> 2 for cell in all_cells}
        return self.model_copy(update={"order": common, "cells": tuple(sorted(all_cells))})


def parse_records(document: str) -> dict[str, MatchRecord]:
    found = json.loads(document) if document else {}
    return {name: MatchRecord.model_validate(record) for name, record in found.items()}


def format_records(records: Mapping[str, MatchRecord]) -> str:
    return json.dumps({name: record.model_dump(mode="json") for name, record in sorted(records.items())})
