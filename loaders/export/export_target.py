"""The files of an export. A file exists completely or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from loaders.load_error import LoadError
from loaders.target_files import LOCK, TargetFiles

_PART = ".part"


class ExportTarget(TargetFiles):
    """The files at ``address``, a path or a URL. Raises ``LoadError`` if it cannot be used."""

    def __init__(self, address: str) -> None:
        super().__init__(address, "an export")

    def list_files(self) -> dict[str, int]:
        """Return the sizes in bytes of all complete files by their names."""
        sizes = self._list_sizes()
        return {name: size for name, size in sizes.items() if name != LOCK and not name.endswith(_PART)}

    def has_file(self, name: str) -> bool:
        with self.translate_errors():
            return bool(self.files.exists(self.build_path(name)))

    def delete_parts(self, is_own: Callable[[str], bool]) -> None:
        """Delete unfinished files of a killed export; ``is_own`` says whether the export writes a file of this name."""
        with self.translate_errors():
            for name in self._list_sizes():
                if name.endswith(_PART) and is_own(name.removesuffix(_PART)):
                    self.files.rm_file(self.build_path(name))

    def _list_sizes(self) -> dict[str, int]:
        with self.translate_errors():
            found = self.files.find(self.build_path(), detail=True)
        start = len(self.build_path(".")) - 1
        return {str(path)[start:]: int(entry["size"]) for path, entry in found.items()}

    @contextmanager
    def create_file(self, name: str) -> Iterator[Path]:
        """Return the path of a local file to write, which becomes the file ``name``; on failure it is deleted."""
        if self.is_local:
            path = Path(self.build_path(name))
            part = path.with_name(path.name + _PART)
            with self.translate_errors():
                path.parent.mkdir(parents=True, exist_ok=True)
            try:
                yield part
                with self.translate_errors():
                    _flush_file(part)  # after a power cut, a file that has its final name is complete
                    os.replace(part, path)
            except BaseException:
                with suppress(OSError):  # the first error is the reason
                    part.unlink()
                raise
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

    def delete_all(self, names: Collection[str], is_own: Callable[[str], bool]) -> None:
        """Delete files together with their topmost folders.

        ``names``: all complete files except the files to keep. Raises ``LoadError`` if one of them is not
        ``is_own``.
        """
        topmost = {name.partition("/")[0] for name in names}
        parts = [name.removesuffix(_PART) for name in self._list_sizes() if name.endswith(_PART)]
        threatened = [*names, *(name for name in parts if name.partition("/")[0] in topmost)]
        foreign = [name for name in threatened if not is_own(name)]
        if foreign:
            raise LoadError(
                f"{self.address} has files that this export has not written, such as {min(foreign)}, which would have "
                "to be deleted: move them elsewhere, or name an empty target"
            )
        with self.translate_errors():
            for name in topmost:
                self.delete_folder(name)

    @contextmanager
    def open_parquet(self, name: str) -> Iterator[pq.ParquetFile]:
        """Open a Parquet file whose pages are checked as they are read. Raises ``LoadError``, also while it is read."""
        try:
            with self.files.open(self.build_path(name), "rb") as file:
                yield pq.ParquetFile(file, page_checksum_verification=True)
        except FileNotFoundError as error:
            raise LoadError(f"{name} is missing") from error
        except (OSError, pa.ArrowException) as error:
            raise LoadError(f"{name} is damaged: {error}") from error

    def flush(self) -> None:
        """Write cached data of local files to the disk."""
        if self.is_local:
            os.sync()


def _flush_file(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())


def open_file_target(address: str) -> tuple[ExportTarget, str]:
    """Return the folder of a file, and its name there. Raises ``LoadError`` if the address names no file."""
    folder, slash, name = address.rpartition("/")
    if not name or folder.endswith(":/"):
        raise LoadError(f"{address} names no file")
    return ExportTarget(folder or slash), name
