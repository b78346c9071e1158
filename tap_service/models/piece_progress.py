"""How far a job is that is done in pieces: part of its record, so that another worker can go on with it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Part:
    """What a piece has given: its ``rows``, and the ``size`` in bytes of what ``attempt`` stored. Without rows, 0."""

    attempt: int
    rows: int
    size: int


@dataclass(frozen=True, slots=True)
class PieceWork:
    """``parts`` are those of the first pieces, in order, of a query cut at ``borders``, indexes of order 29.

    ``basis`` is the same as long as query and data are. ``changes``: how often the job began anew for it was not.
    """

    basis: str = ""
    borders: tuple[int, ...] = ()
    parts: tuple[Part, ...] = ()
    changes: int = 0
