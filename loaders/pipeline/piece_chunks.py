"""Numbers of the chunks of a table that is loaded piece by piece.

They follow from the number of the piece, so that a piece that was begun can be deleted, or go on, after a kill.
"""

from __future__ import annotations

#: Numbers that a piece has: at 64 MB a chunk, 256 GB of rows
CHUNKS_PER_PIECE = 4096


def number_chunks(piece: int) -> range:
    """Return the numbers of the chunks of a piece; 0 are the rows of a live table."""
    return range(piece * CHUNKS_PER_PIECE + 1, (piece + 1) * CHUNKS_PER_PIECE + 1)


def find_piece(chunk: int) -> int:
    """Return the piece that a chunk is of."""
    return (chunk - 1) // CHUNKS_PER_PIECE
