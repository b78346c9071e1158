"""One version of a table as a HATS collection: the list of its files, and how they are made on request."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol

import pyarrow as pa
import pyarrow.parquet as pq

from clickhouse_schema.catalogue import TableEntry
from clickhouse_schema.hats.folder_listing import list_folder
from clickhouse_schema.hats.hats_pixel import DATASET
from tap_service.hats.writing.catalogue_files import METADATA, Collection, write_collection_files, write_footer
from tap_service.hats.writing.index_files import name_index_file, write_index
from tap_service.hats.writing.partition_files import write_margin, write_partition
from tap_service.services.hats.partition_selection import PartitionSelection, parse_selection, write_selection
from tap_service.services.queries.run_errors import translate_errors
from tap_service.storage.engine.engine import Engine, Settings
from tap_service.storage.file_cache import FileCache, OpenFile

#: ``_metadata`` contains the footers of all partitions, which must be made for it; with more partitions than this, only
#: an exported copy has the file
_MAX_METADATA_PARTITIONS = 64


class _Content(Protocol):
    size: int

    def read_bytes(self, start: int, end: int) -> Iterator[bytes]: ...


class _Bytes:
    def __init__(self, content: bytes) -> None:
        self.size = len(content)
        self._content = content

    def read_bytes(self, start: int, end: int) -> Iterator[bytes]:
        yield self._content[start:end]


@dataclass(frozen=True, slots=True)
class HatsFile:
    """A file of the collection of a table.

    Attributes
    ----------
    entry : TableEntry
        The table.
    content : _Content
        The bytes.
    etag : str
        The entity tag, without quotes.
    rows : int or None
        The rows of a partition or a margin; 0 for other files made from rows; None for files made from the plan alone.
    """

    entry: TableEntry
    content: _Content
    etag: str
    rows: int | None = None


@dataclass(frozen=True, slots=True)
class WantedFile:
    """A file that is made from rows.

    Attributes
    ----------
    name : str
        The name in the cache.
    write : Callable[[Path], object]
        Writes the file to a path.
    rows : int or None
        The rows of the complete partition or margin, even for a selection; None for other files.
    selection : str
        The key of the selection, the same for all partitions; '' for complete files.
    """

    name: str
    write: Callable[[Path], object]
    rows: int | None
    selection: str = ""


class ServedCollection:
    """The files of one version of a table. Thread-safe.

    Parameters
    ----------
    engine : Engine
        The engine.
    cache : FileCache
        Keeps the files that were made.
    collection : Collection
        The plan of the collection.
    version : str
        The version of the table, which changes whenever its rows may have changed.
    settings : Settings
        The engine's settings of the queries that make files.
    """

    def __init__(
        self, engine: Engine, cache: FileCache, collection: Collection, version: str, settings: Settings
    ) -> None:
        self._engine = engine
        self._cache = cache
        self._collection = collection
        self._entry = collection.rows.entry
        self._version = version
        self._settings = settings
        self._small_files = write_collection_files(collection)
        self._made_files = dict(self._list_made_files())

    @property
    def n_files(self) -> int:
        """The number of files that are made from rows."""
        return len(self._made_files)

    def list_folder(self, path: str) -> list[str]:
        """Return the names in a folder; names of folders end with a slash. Empty if there is no such folder."""
        return list_folder((*self._small_files, *self._made_files), path)

    def find_small_file(self, path: str) -> HatsFile | None:
        """Return a file that is made from the plan alone, None for other paths."""
        content = self._small_files.get(path)
        return None if content is None else HatsFile(self._entry, _Bytes(content), self._name_version(path))

    def find_wanted(self, path: str, columns: str, filters: str) -> WantedFile | None:
        """Return the file to make for a path, with the selected columns and rows; None if there is no such file."""
        wanted = self._made_files.get(path)
        if wanted is None or wanted.rows is None:
            return wanted
        selection = parse_selection(columns, filters, self._collection.rows.schema)
        if not selection:
            return wanted
        name = self._name_version(f"{path}?{selection.key}")
        write = partial(self._write_selection, wanted, selection)
        return WantedFile(name, write, wanted.rows, f"{self._version}/{selection.key}")

    def find_kept(self, wanted: WantedFile) -> HatsFile | None:
        """Return the file from the cache, None if it is not there."""
        kept = self._cache.find_file(self._cache_name(wanted))
        return None if kept is None else self._describe_file(wanted, kept)

    def make_file(self, wanted: WantedFile) -> HatsFile:
        """Make a file, which may take seconds. Raises ServiceError."""
        with translate_errors(f"hats-{wanted.name}"):
            return self._describe_file(wanted, self._make(wanted))

    def _describe_file(self, wanted: WantedFile, made: OpenFile) -> HatsFile:
        rows = pq.read_metadata(made.path).num_rows if wanted.selection else wanted.rows or 0
        return HatsFile(self._entry, made, wanted.name, rows)

    def _make(self, wanted: WantedFile) -> OpenFile:
        return self._cache.make_file(self._cache_name(wanted), wanted.write)

    def _cache_name(self, wanted: WantedFile) -> str:
        return f"{self._version}/{wanted.name}"

    def _name_version(self, name: str) -> str:
        return hashlib.sha256(f"{self._version} {name}".encode()).hexdigest()[:32]

    def _list_made_files(self) -> Iterator[tuple[str, WantedFile]]:
        """Yield the files that are made from rows, by path."""
        held, engine = self._collection, self._engine
        rows, plan = held.rows, held.plan
        write: Callable[[Path], object]
        for pixel, count in plan.partitions.items():
            write = partial(write_partition, engine, rows, plan, pixel, settings=self._settings)
            yield self._describe(f"{held.name}/{pixel.build_path()}", write, count)
        for pixel, count in plan.margins.items():
            write = partial(write_margin, engine, rows, plan, pixel, settings=self._settings)
            yield self._describe(f"{held.margin_name}/{pixel.build_path()}", write, count)
        if held.index_name:
            yield self._describe(f"{held.index_name}/{name_index_file(0)}", self._write_index)
            write = partial(self._write_metadata, held.index_name, [name_index_file(0)], rows.index_schema)
            yield self._describe(f"{held.index_name}/{METADATA}", write)
        for name in filter(None, (held.name, held.margin_name)):
            paths = [pixel.build_path() for pixel in held.list_pixels(name)]
            if len(paths) <= _MAX_METADATA_PARTITIONS:
                write = partial(self._write_metadata, name, paths, held.rows.schema)
                yield self._describe(f"{name}/{METADATA}", write)

    def _describe(self, path: str, write: Callable[[Path], object], rows: int | None = None) -> tuple[str, WantedFile]:
        return path, WantedFile(self._name_version(path), write, rows)

    def _write_index(self, target: Path) -> None:
        write_index(self._engine, self._collection, lambda _: nullcontext(target), settings=self._settings)

    def _write_selection(self, wanted: WantedFile, selection: PartitionSelection, target: Path) -> None:
        rows = self._collection.rows
        schema = rows.select_schema(selection.columns) if selection.columns else rows.schema
        whole = self._make(wanted)  # the path is valid as long as the object
        write_selection(whole.path, selection, schema, target)

    def _write_metadata(self, name: str, paths: Sequence[str], schema: pa.Schema, target: Path) -> None:
        footers = {}
        for path in paths:
            whole = self._make(self._made_files[f"{name}/{path}"])
            footers[path.removeprefix(f"{DATASET}/")] = pq.read_metadata(whole.path)
        target.write_bytes(write_footer(schema, footers))
