"""Loads the pieces of a mirror in order. They are fetched ahead, and fetched again if they cannot be read."""

from __future__ import annotations

from collections.abc import Callable

from loaders.load_error import LoadError
from loaders.mirror.fetch_ahead import FetchLimit, fetch_ahead
from loaders.mirror.mirror_origin import FetchedPiece, MirrorOrigin
from loaders.mirror.mirror_progress import MirrorProgress
from loaders.progress_reporter import Reporter
from tap_service.readers.read_error import ReadError

LoadPiece = Callable[[FetchedPiece], int]


def load_pieces(
    origin: MirrorOrigin,
    indexes: range,
    load: LoadPiece,
    max_files: int,
    progress: MirrorProgress,
    reporter: Reporter,
) -> None:
    """Fetch the pieces with some indexes, and load them in order.

    Parameters
    ----------
    origin : MirrorOrigin
        Fetches the pieces.
    indexes : range
        The pieces to load.
    load : LoadPiece
        Loads a piece, deletes its files, and returns the number of its rows.
    max_files : int
        Maximum number of fetched pieces on the disk.
    progress : MirrorProgress
        Is called for each loaded piece.
    reporter : Reporter
        Receives messages; may stop the mirror.

    Raises
    ------
    LoadError
        A piece cannot be fetched or loaded; the message names it.
    """
    limit = FetchLimit(max_files)

    def check() -> None:
        limit.check()
        reporter.check()

    def fetch(index: int) -> FetchedPiece:
        return origin.fetch(index, check)

    with fetch_ahead(fetch, indexes, limit) as pieces:
        for piece in pieces:
            progress.add_piece(_load_piece(origin, piece, load, fetch, reporter))
            limit.free_slot()


def _load_piece(
    origin: MirrorOrigin,
    piece: FetchedPiece,
    load: LoadPiece,
    fetch: Callable[[int], FetchedPiece],
    reporter: Reporter,
) -> int:
    try:
        return load(piece)
    except LoadError:
        raise
    except ReadError as error:
        origin.forget(piece.index)
        again = fetch(piece.index)
        if again.digest == piece.digest:
            name = origin.get_name(piece.index)
            raise LoadError(f"{name} cannot be read, even when it is fetched again: {error}") from error
        reporter.message(f"{error}: it was fetched again, with different content")
        return load(again)
