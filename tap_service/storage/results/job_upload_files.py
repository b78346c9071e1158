"""The uploaded files of a job, which are in the result store until the job runs."""

from __future__ import annotations

import hashlib
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from tap_service.models.upload_parameter import Part
from tap_service.models.uws_job import JobFile
from tap_service.storage.results.result_store import ResultMissing, ResultStore

_PIECE = 1 << 20


def store_upload_file(results: ResultStore, key: str, name: str, part: Part) -> JobFile:
    """Store an uploaded file of a request.

    Parameters
    ----------
    results : ResultStore
        The store.
    key : str
        The key of the file in it.
    name : str
        The name of the uploaded table.
    part : Part
        The file.

    Returns
    -------
    JobFile
        The record of the stored file, with its size and its SHA-256 checksum.

    Raises
    ------
    OSError
        The store is full or unreachable.
    """
    writer = results.create_result(key)
    digest = hashlib.sha256()
    try:
        with part.open() as file:
            while piece := file.read(_PIECE):
                digest.update(piece)
                writer.write(piece)
        return JobFile(name, key, writer.commit(), part.content_type, digest.hexdigest())
    finally:
        writer.discard()


@dataclass(frozen=True, slots=True)
class StoredPart:
    """A stored file as an upload of a request; ``open`` copies it to an anonymous file in ``directory``."""

    results: ResultStore
    file: JobFile
    directory: Path

    @property
    def content_type(self) -> str:
        return self.file.content_type

    @property
    def size(self) -> int:
        return self.file.size

    def open(self) -> BinaryIO:
        copy = tempfile.TemporaryFile(dir=self.directory)  # noqa: SIM115 (the caller's to close)
        try:
            for piece in self.results.read_result(self.file.key, 0, self.file.size):
                copy.write(piece)
            copy.seek(0)
        except ResultMissing as error:
            copy.close()
            raise FileNotFoundError(f"the file {self.file.key} is missing") from error
        except BaseException:
            copy.close()
            raise
        return copy
