"""Divide a long query into pieces by ranges of HEALPix cells, and merge the groups of the pieces."""

from adql.division.piece_borders import choose_borders, find_middle
from adql.division.query_division import Division, Piece, Undivided, divide_query

__all__ = ["Division", "Piece", "Undivided", "choose_borders", "divide_query", "find_middle"]
