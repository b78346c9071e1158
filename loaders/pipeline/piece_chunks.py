"""Numbers of the chunks of a table that is loaded piece by piece.

The number of the piece determines them, so that an unfinished piece can be deleted or continued after a kill.
"""

from __future__ import annotations

#: Number of chunks that a piece can have: with 64 MB per chunk, 256 GB of rows
CHUNKS_PER_PIECE = 4096


def number_chunks(piece: int) -> range:
    """Return the numbers of the chunks of a piece.

    Parameters
    ----------
    piece : int
        Number of the piece, from 0.

    Returns
    -------
    range
        ``CHUNKS_PER_PIECE`` numbers, from 1; chunk 0 stands for the rows of a live table.
    """
    return range(piece * CHUNKS_PER_PIECE + 1, (piece + 1) * CHUNKS_PER_PIECE + 1)


def find_piece(chunk: int) -> int:
    """Return the piece to which a chunk belongs."""
    return (chunk - 1) // CHUNKS_PER_PIECE
