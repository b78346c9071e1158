"""The origin of the rows of a mirror: numbered pieces, each in one or several files."""

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
    """A fetched piece. ``index``: counts from 0; ``digest``: SHA-256 of its content."""

    index: int
    paths: tuple[Path, ...]
    digest: str

    def delete(self) -> None:
        for path in self.paths:
            path.unlink(missing_ok=True)


class MirrorOrigin(Protocol):
    """The pieces of a table. ``fetch`` is called on another thread than the other methods."""

    def get_name(self, index: int) -> str:
        """Return the address of a piece, for messages."""

    def fetch(self, index: int, check: Callable[[], None]) -> FetchedPiece:
        """Fetch a piece, or find it on the disk. Raises ``LoadError``."""

    def forget(self, index: int) -> None:
        """Delete the fetched files of a piece."""


class FileMirrorOrigin:
    """The files of an origin, fetched into ``folder``."""

    def __init__(self, client: OriginClient, files: Sequence[OriginFile], folder: Path) -> None:
        self._client = client
        self._files = files
        self._folder = folder

    def get_name(self, index: int) -> str:
        return self._files[index].address

    def fetch(self, index: int, check: Callable[[], None]) -> FetchedPiece:
        path = self._choose_path(index)
        return FetchedPiece(index, (path,), self._open(index, check).fetch())

    def forget(self, index: int) -> None:
        self._open(index, lambda: None).forget()

    def _open(self, index: int, check: Callable[[], None]) -> Download:
        return Download(self._client, self._files[index], self._choose_path(index), check)

    def _choose_path(self, index: int) -> Path:
        """Return the path of a file, which ends with its name at the origin, because that may show its format."""
        name = "".join(letter if letter.isalnum() or letter in "._-" else "_" for letter in self._files[index].name)
        return self._folder / f"{index:06d}_{name[-150:]}"
