"""The rows of a query as a HATS collection in one document: a ZIP archive, whose members are not compressed again.

A stored result is therefore one object, in which each member is a range of bytes.
"""

from __future__ import annotations

import logging
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from zipfile import ZIP_STORED, ZipFile, ZipInfo

import pyarrow as pa
import pyarrow.parquet as pq

from clickhouse_schema.catalogue import TableEntry
from clickhouse_schema.datatypes import Field
from clickhouse_schema.hats.hats_pixel import DATASET
from tap_service.hats.writing.catalogue_files import METADATA, Collection, write_collection_files, write_footer
from tap_service.hats.writing.catalogue_plan import plan_catalogue
from tap_service.hats.writing.hats_rows import HatsRows
from tap_service.hats.writing.partition_files import write_margin, write_partition
from tap_service.hats.writing.result_table import create_result_table, describe_result_table
from tap_service.scratch_files import NO_SCRATCH, NoRoom, ScratchSpace
from tap_service.serializers import Serializer, Status
from tap_service.serializers.arrow_serializer import OutputBuffer
from tap_service.serializers.serializer import ResultInfo
from tap_service.service_errors import InvalidQueryError
from tap_service.storage.engine.engine import Engine, EngineError, Settings
from tap_service.storage.engine.query_tables import drop_table, quote_table

_log = logging.getLogger("skyhouse")

_PIECE_BYTES = 1 << 20
_BLOCK_BYTES = 32 << 20


class CollectionArchive(Serializer):
    """Puts the rows into a table of the engine, which sorts them, and writes the archive after the last row.

    Parameters
    ----------
    fields, info, scratch
        As for ``Serializer``.
    engine : Engine
        The engine.
    name : str
        Name of the collection, also of the folder in the archive.
    table_name : str
        Name of that table (``query_tables``); ``close`` drops it. Its rows count in the budget of ``scratch``.
    settings : mapping
        Settings of the engine for the queries that read the table.

    Raises
    ------
    HatsError
        The result has no position.
    """

    def __init__(
        self,
        fields: Sequence[Field],
        info: ResultInfo,
        scratch: ScratchSpace = NO_SCRATCH,
        *,
        engine: Engine,
        name: str,
        table_name: str,
        settings: Settings,
    ) -> None:
        super().__init__(fields, info, scratch)
        self._engine = engine.pin_server()
        self._table_name = table_name
        self._settings = settings
        self._size = 0
        self._entry = describe_result_table(name, table_name, self.fields, info.query, info.citations, info.rights)
        self._block: list[pa.RecordBatch] = []

    def write_header(self) -> bytes:
        create_result_table(self._engine, self._table_name, self._entry.table)
        return b""

    def write_rows(self, batch: pa.RecordBatch) -> bytes:
        self._block.append(batch.rename_columns([column.name for column in self._entry.table.columns]))
        if sum(each.nbytes for each in self._block) >= _BLOCK_BYTES:
            self._insert_block()
        return b""

    def write_footer(self, status: Status) -> Iterator[bytes]:
        """Yield the archive; nothing for a failed query.

        Raises
        ------
        InvalidQueryError
            No row has a position.
        EngineError
            The engine cannot sort the rows.
        """
        if status.value == "ERROR":
            return
        self._insert_block()
        rows = HatsRows(self._describe_rows(status))
        plan = plan_catalogue(self._engine, rows, settings=self._settings)
        if not plan.partitions and plan.without_position:
            raise InvalidQueryError("no row of the result has a position: a HATS collection of it would be empty")
        self.warning = " ".join(f"{warning}." for warning in plan.warnings)
        collection = Collection(rows, plan, self.info.request_date)
        yield from _Archive(self._engine, collection, self.scratch.directory, self._settings).write_members()

    def close(self) -> None:
        self.scratch.budget.return_bytes(self._size)
        self._size = 0
        try:
            drop_table(self._engine, self._table_name)
        except EngineError as error:  # the sweep of orphans will drop it
            _log.warning("the table %s cannot be dropped now: %s", self._table_name, error.detail)

    def _describe_rows(self, status: Status) -> TableEntry:
        """Return the entry, whose description mentions rows that the limit has cut."""
        if not status.text:
            return self._entry
        table = self._entry.table
        described = table.model_copy(update={"description": f"{table.description} {status.text}"})
        return replace(self._entry, table=described)

    def _insert_block(self) -> None:
        if not self._block:
            return
        size, budget = sum(batch.nbytes for batch in self._block), self.scratch.budget
        if not budget.take_bytes(size):
            raise NoRoom(
                f"the rows take more than the {budget.limit} bytes that this service reserves for collections and "
                "other formats that cannot be streamed: request fewer rows or columns, or read the table at /hats"
            )
        self._size += size
        self._engine.insert_batches(quote_table(self._table_name), self._block)
        self._block = []


class _Archive:
    """Writes members one after the other; ``write_members`` yields the bytes of the archive."""

    def __init__(self, engine: Engine, collection: Collection, scratch: Path, settings: Settings) -> None:
        self._engine = engine
        self._settings = settings
        self._collection = collection
        self._scratch = scratch
        self._out = OutputBuffer()

    def write_members(self) -> Iterator[bytes]:
        held = self._collection
        with ZipFile(self._out, "w", ZIP_STORED) as archive:
            for path, content in write_collection_files(held).items():
                archive.writestr(self._describe_member(path), content)
            yield self._out.take_bytes()
            yield from self._write_pieces(archive, held.name, write_partition)
            if held.margin_name:
                yield from self._write_pieces(archive, held.margin_name, write_margin)
        yield self._out.take_bytes()

    def _write_pieces(self, archive: ZipFile, name: str, write: Callable[..., pq.FileMetaData]) -> Iterator[bytes]:
        """Write the partitions of a catalogue or of the margin cache, and the file with their footers."""
        held, footers = self._collection, {}
        for pixel in held.list_pixels(name):
            path = pixel.build_path()
            with tempfile.TemporaryDirectory(dir=self._scratch) as folder:
                file = Path(folder, "partition")
                footer = write(self._engine, held.rows, held.plan, pixel, file, settings=self._settings)
                footers[path.removeprefix(f"{DATASET}/")] = footer
                yield from self._copy_file(archive, f"{name}/{path}", file)
        content = write_footer(held.rows.schema, footers)
        archive.writestr(self._describe_member(f"{name}/{METADATA}"), content)
        yield self._out.take_bytes()

    def _copy_file(self, archive: ZipFile, path: str, source: Path) -> Iterator[bytes]:
        member = self._describe_member(path)
        member.file_size = os.stat(source).st_size
        with source.open("rb") as file, archive.open(member, "w") as target:
            while piece := file.read(_PIECE_BYTES):
                target.write(piece)
                yield self._out.take_bytes()
        yield self._out.take_bytes()

    def _describe_member(self, path: str) -> ZipInfo:
        """Return a member with a fixed date, so that equal rows are equal bytes."""
        return ZipInfo(f"{self._collection.name}/{path}")
