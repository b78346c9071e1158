"""The files of an export. A file is there as a whole, or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from loaders.load_error import LoadError
from loaders.target_files import LOCK, TargetFiles

_PART = ".part"


class ExportTarget(TargetFiles):
    """``address``: a path, or a URL. Raises ``LoadError`` for one that cannot be used."""

    def __init__(self, address: str) -> None:
        super().__init__(address, "an export")

    def list_files(self) -> dict[str, int]:
        """Return the sizes of all files by their names; what a killed export has left of a file is deleted."""
        with self.translate_errors():
            found = self.files.find(self.build_path(), detail=True)
            start = len(self.build_path()) + 1
            sizes = {str(path)[start:]: int(entry["size"]) for path, entry in found.items()}
            for name in [name for name in sizes if name.endswith(_PART)]:
                self.files.rm_file(self.build_path(name))
                del sizes[name]
            sizes.pop(LOCK, None)
            return sizes

    @contextmanager
    def create_file(self, name: str) -> Iterator[Path]:
        """Return the path of a local file to write, which becomes the file ``name`` at the end."""
        if self.is_local:
            path = Path(self.build_path(name))
            part = path.with_name(path.name + _PART)
            with self.translate_errors():
                path.parent.mkdir(parents=True, exist_ok=True)
            yield part
            with self.translate_errors():
                os.replace(part, path)
            return
        with tempfile.TemporaryDirectory(prefix="skyhouse-") as folder:
            part = Path(folder) / "part"
            yield part
            with self.translate_errors():
                self.files.put_file(str(part), self.build_path(name))

    def write_file(self, name: str, content: bytes) -> None:
        with self.create_file(name) as path, self.translate_errors():
            path.write_bytes(content)

    def read_file(self, name: str) -> bytes:
        with self.translate_errors():
            return bytes(self.files.cat_file(self.build_path(name)))

    def delete_all(self, names: Iterable[str]) -> None:
        """Delete files with the folders that they are in."""
        with self.translate_errors():
            for first in {name.partition("/")[0] for name in names}:
                self.delete_folder(first)

    @contextmanager
    def open_parquet(self, name: str) -> Iterator[pq.ParquetFile]:
        """Open a Parquet file whose pages are checked as they are read. Raises ``LoadError``, also for what is read."""
        try:
            with self.files.open(self.build_path(name), "rb") as file:
                yield pq.ParquetFile(file, page_checksum_verification=True)
        except FileNotFoundError as error:
            raise LoadError(f"{name} is missing") from error
        except (OSError, pa.ArrowException) as error:
            raise LoadError(f"{name} is damaged: {error}") from error

    def flush(self) -> None:
        """Bring local files to the disk."""
        if self.is_local:
            os.sync()
