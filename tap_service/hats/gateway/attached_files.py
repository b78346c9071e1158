"""The files of one attached table, read in ranges, through a cache of blocks if they are on another machine."""

from __future__ import annotations

import threading
from collections.abc import Iterator

from clickhouse_schema.hats.attachment import AttachedFile, Attachment
from clickhouse_schema.hats.hats_error import HatsError
from tap_service.hats.gateway.block_cache import BlockCache
from tap_service.hats.reading.catalogue_folder import CatalogueFolder, open_folder
from tap_service.hats.reading.folder_backend import FileVersion, Patience

BLOCK_BYTES = 1 << 20

#: maximum number of blocks in one request
_MAX_RUN = 8


class AttachedFiles:
    """The files of one attached table. Thread-safe; the storage is opened at the first read.

    Parameters
    ----------
    table : str
        Name of the table, for messages.
    attachment : Attachment
        The files.
    cache : BlockCache
        The cache of blocks of files on other machines.
    patience : Patience
        How long the storage may take.
    """

    def __init__(self, table: str, attachment: Attachment, cache: BlockCache, patience: Patience) -> None:
        self.table = table
        self.attachment = attachment
        self._key = attachment.key
        self._cache = cache
        self._patience = patience
        self._is_local = "://" not in attachment.address
        self._opening = threading.Lock()
        self._folder: CatalogueFolder | None = None
        self._coming: set[tuple[int, int]] = set()
        self._arrival = threading.Condition()

    def read_range(self, number: int, start: int, end: int) -> Iterator[bytes]:
        """Yield bytes of a file, as it was when it was attached.

        Parameters
        ----------
        number : int
            The number of the file in the attachment.
        start, end : int
            The range of bytes; ``end`` is exclusive.

        Raises
        ------
        StorageUnavailable
            The storage does not answer.
        HatsError
            The file has changed, is missing, or ends too early.
        """
        file = self.attachment.files[number]
        if self._is_local:
            step = _MAX_RUN * BLOCK_BYTES
            for first in range(start, end, step):
                yield self._fetch(file, first, min(end, first + step))
            return
        block, last = start // BLOCK_BYTES, (end - 1) // BLOCK_BYTES
        while block <= last:
            data = self._read_blocks(number, file, block, min(last, block + _MAX_RUN - 1))
            first = block * BLOCK_BYTES
            yield data[max(start - first, 0) : end - first]
            block += -(-len(data) // BLOCK_BYTES)

    def check_properties(self) -> None:
        """Check that the properties of the catalogue are unchanged, without reading them.

        Raises
        ------
        StorageUnavailable
            The storage does not answer.
        HatsError
            They have changed since the catalogue was attached, or are missing.
        """
        pinned = self.attachment.properties_file
        if pinned is None:
            return
        folder = self._open_folder()
        if folder.stat(pinned.path) != (pinned.size, pinned.tag):
            raise HatsError(f"{folder.name(pinned.path)} has changed since it was attached")

    def _read_blocks(self, number: int, file: AttachedFile, block: int, last: int) -> bytes:
        """Return a cached block, or fetch it with the missing blocks after it.

        Two readers never fetch the same block.
        """
        if (kept := self._read_kept(number, file, block)) is not None:
            return kept
        run = self._claim_run(number, file, block, last)
        try:
            if (kept := self._read_kept(number, file, block)) is not None:  # fetched in the meantime
                return kept
            start = block * BLOCK_BYTES
            data = self._fetch(file, start, min(file.size, start + len(run) * BLOCK_BYTES))
            for index in range(len(run)):
                part = data[index * BLOCK_BYTES : (index + 1) * BLOCK_BYTES]
                self._cache.write(self._name_block(number, block + index), part)
        finally:
            with self._arrival:
                self._coming.difference_update(run)
                self._arrival.notify_all()
        return data

    def _claim_run(self, number: int, file: AttachedFile, block: int, last: int) -> list[tuple[int, int]]:
        """Wait while another reader fetches the block.

        Claim it, and the blocks up to the next cached or claimed one.
        """
        followers = range(block + 1, last + 1)
        end = next((each for each in followers if self._read_kept(number, file, each) is not None), last + 1)
        with self._arrival:
            self._arrival.wait_for(lambda: (number, block) not in self._coming)
            run = [(number, block)]
            while block + len(run) < end and (number, block + len(run)) not in self._coming:
                run.append((number, block + len(run)))
            self._coming.update(run)
        return run

    def _read_kept(self, number: int, file: AttachedFile, block: int) -> bytes | None:
        kept = self._cache.read(self._name_block(number, block))
        return kept if kept is not None and len(kept) == min(BLOCK_BYTES, file.size - block * BLOCK_BYTES) else None

    def _name_block(self, number: int, block: int) -> str:
        return f"{self._key}/{number}/{block}"

    def _fetch(self, file: AttachedFile, start: int, end: int) -> bytes:
        return self._open_folder().read(file.path, start, end - start, FileVersion(file.size, file.tag))

    def _open_folder(self) -> CatalogueFolder:
        with self._opening:
            if self._folder is None:
                self._folder = open_folder(self.attachment.address, self._patience)
            return self._folder
