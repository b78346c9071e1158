"""The pieces of a mirror, one after the other: fetched ahead, loaded, and fetched again if they cannot be read."""

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
    positions: range,
    load: LoadPiece,
    max_files: int,
    progress: MirrorProgress,
    reporter: Reporter,
) -> None:
    """Fetch the pieces at ``positions`` and call ``load`` for each in turn, which returns its rows and deletes it.

    Raises
    ------
    LoadError
        A piece cannot be fetched or loaded; the message names it.
    """
    limit = FetchLimit(max_files)

    def check() -> None:
        limit.check()
        reporter.check()

    def fetch(position: int) -> FetchedPiece:
        return origin.fetch(position, check)

    with fetch_ahead(fetch, positions, limit) as pieces:
        for piece in pieces:
            progress.add_piece(_load_piece(origin, piece, load, fetch, reporter))
            limit.give_room()


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
        origin.forget(piece.position)
        again = fetch(piece.position)
        if again.digest == piece.digest:
            name = origin.get_name(piece.position)
            raise LoadError(f"{name} cannot be read, also when it is fetched again: {error}") from error
        reporter.message(f"{error}: it was fetched again, with another content")
        return load(again)
