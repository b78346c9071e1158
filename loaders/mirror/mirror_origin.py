"""Where the rows of a mirror come from: pieces by their positions, each in one file or a few."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from loaders.mirror.download import Download
from loaders.mirror.file_list import OriginFile
from loaders.origin.origin_client import OriginClient


@dataclass(frozen=True, slots=True)
class FetchedPiece:
    """A piece on the disk. ``digest``: SHA-256 of its content."""

    position: int
    paths: tuple[Path, ...]
    digest: str

    def delete(self) -> None:
        for path in self.paths:
            path.unlink(missing_ok=True)


class MirrorOrigin(Protocol):
    """The pieces of a table. ``fetch`` is called on another thread than the rest."""

    def get_name(self, position: int) -> str:
        """Return the address of a piece, for messages."""

    def fetch(self, position: int, check: Callable[[], None]) -> FetchedPiece:
        """Fetch a piece, or find it on the disk. Raises ``LoadError``."""

    def forget(self, position: int) -> None:
        """Delete what was fetched of a piece."""


class FileMirrorOrigin:
    """The files of an origin, fetched into ``folder``."""

    def __init__(self, client: OriginClient, files: Sequence[OriginFile], folder: Path) -> None:
        self._client = client
        self._files = files
        self._folder = folder

    def get_name(self, position: int) -> str:
        return self._files[position].address

    def fetch(self, position: int, check: Callable[[], None]) -> FetchedPiece:
        path = self._choose_path(position)
        return FetchedPiece(position, (path,), self._open(position, check).fetch())

    def forget(self, position: int) -> None:
        self._open(position, lambda: None).forget()

    def _open(self, position: int, check: Callable[[], None]) -> Download:
        return Download(self._client, self._files[position], self._choose_path(position), check)

    def _choose_path(self, position: int) -> Path:
        """Return the path of a file: its own name is the end, by which its format may be known."""
        name = "".join(letter if letter.isalnum() or letter in "._-" else "_" for letter in self._files[position].name)
        return self._folder / f"{position:06d}_{name[-150:]}"
