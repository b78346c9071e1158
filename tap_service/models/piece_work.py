"""The progress of a divided job: part of its record, so that another worker can continue it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Part:
    """The result of a piece: its ``rows``, and the ``size`` in bytes of the part that ``attempt`` stored, if any."""

    attempt: int
    rows: int
    size: int


@dataclass(frozen=True, slots=True)
class PieceWork:
    """The pieces of a query, divided at the order-29 cells ``borders``, and the ``parts`` of the finished first ones.

    ``basis`` identifies query and data; ``changes`` counts the restarts of the job because the data changed.
    """

    basis: str = ""
    borders: tuple[int, ...] = ()
    parts: tuple[Part, ...] = ()
    changes: int = 0
