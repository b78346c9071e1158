"""The progress of a divided job. The record of the job contains it, so that another worker can continue the job."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Part:
    """The stored result of a piece.

    Attributes
    ----------
    attempt : int
        The attempt of the job that stored it.
    rows : int
        The number of rows.
    size : int
        The size in bytes; 0 if nothing is stored.
    """

    attempt: int
    rows: int
    size: int


@dataclass(frozen=True, slots=True)
class PieceWork:
    """The pieces of a query.

    Attributes
    ----------
    basis : str
        Identifies the query and its data.
    borders : tuple of int
        The cells of order 29 at which the query is divided.
    parts : tuple of Part
        The results of the pieces that are finished, which are always the first pieces.
    changes : int
        The number of times that the job started again because its data changed.
    """

    basis: str = ""
    borders: tuple[int, ...] = ()
    parts: tuple[Part, ...] = ()
    changes: int = 0
