"""Loads the uploaded tables of a query into the engine, and drops them when the query ends."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import BinaryIO

from clickhouse_schema.catalogue import TableEntry
from clickhouse_schema.schema_model import Schema
from clickhouse_schema.table_ddl import create_table_sql
from tap_service.config import Config
from tap_service.models.upload_parameter import UPLOAD_SCHEMA, Upload
from tap_service.service_errors import ServiceUnavailable, UploadError
from tap_service.services.uploads.table_file_reader import TableFileReader, descriptor_path
from tap_service.services.uploads.url_fetch import UrlFetcher
from tap_service.storage.engine.engine import Engine, EngineError
from tap_service.storage.engine.query_tables import drop_table, fill_table, quote_table, upload_table_name

_log = logging.getLogger("skyhouse")

#: the time limit of all tables of a request, as a multiple of the limit of one table
_MAX_SECONDS_FACTOR = 2


@dataclass(slots=True)
class LoadedUploads:
    """The uploaded tables of a query, which are in the engine until ``drop_tables``.

    Attributes
    ----------
    engine : Engine
        The engine.
    entries : tuple of TableEntry
        The tables.
    notes : tuple of str
        Notes for the sender on how the files were read.
    """

    engine: Engine
    entries: tuple[TableEntry, ...] = ()
    notes: tuple[str, ...] = ()
    _names: list[str] = field(default_factory=list)

    def add_table(self, name: str, entry: TableEntry, notes: tuple[str, ...]) -> None:
        """Add a table, which ``drop_tables`` then drops.

        Parameters
        ----------
        name : str
            The unquoted name under which the engine stores it.
        entry : TableEntry
            The table as the query sees it.
        notes : tuple of str
            Notes of the reader, without full stops.
        """
        self._names.append(name)
        self.entries = (*self.entries, entry)
        self.notes += tuple(f"Table {entry.table.name}: {note}." for note in notes)

    def drop_tables(self) -> None:
        """Drop the tables; if that fails, the sweep drops them later."""
        names, self._names = self._names, []
        for name in names:
            try:
                drop_table(self.engine, name)
            except EngineError as error:
                _log.warning("the uploaded table %s cannot be dropped yet: %s", name, error.detail)


class UploadLoader:
    """Loads the uploads of queries. Thread-safe.

    Parameters
    ----------
    config : Config
        The limits.
    engine : Engine
        The engine.
    files : TableFileReader
        Reads the files.
    count : Callable[[str], None]
        Called with the outcome of each table, ``read`` or ``refused``.
    """

    def __init__(self, config: Config, engine: Engine, files: TableFileReader, count: Callable[[str], None]) -> None:
        self._count = count
        self._engine = engine
        self._files = files
        self._seconds = _MAX_SECONDS_FACTOR * config.upload_seconds
        self._fetcher = UrlFetcher(config.spool_path, config.upload_hosts, config.upload_bytes, config.upload_seconds)

    def load_tables(self, uploads: Sequence[Upload], query_id: str) -> LoadedUploads:
        """Load uploads into the engine.

        Parameters
        ----------
        uploads : Sequence[Upload]
            The uploads of the query.
        query_id : str
            The id of the query, a part of the names of the stored tables.

        Returns
        -------
        LoadedUploads
            The tables, which the caller drops by ``drop_tables``. After an error, no table remains.

        Raises
        ------
        UploadError
            A table cannot be fetched or read.
        ServiceUnavailable
            The engine or the disk cannot store tables now.
        """
        loaded = LoadedUploads(self._engine)
        end = time.monotonic() + self._seconds
        try:
            for number, upload in enumerate(uploads):
                if time.monotonic() > end:
                    raise UploadError(
                        f"reading these tables takes more than {self._seconds} seconds: upload fewer at once"
                    )
                name = upload_table_name(query_id, number)
                loaded.add_table(name, *self._load_table(upload, name))
                self._count("read")
        except UploadError:
            loaded.drop_tables()
            self._count("refused")
            raise
        except (EngineError, OSError) as error:
            loaded.drop_tables()
            _log.error("an uploaded table cannot be inserted into the engine: %s", getattr(error, "detail", error))
            raise ServiceUnavailable("the service cannot accept an uploaded table now. Try again later") from error
        except BaseException:
            loaded.drop_tables()
            raise
        return loaded

    def _load_table(self, upload: Upload, name: str) -> tuple[TableEntry, tuple[str, ...]]:
        """Return the table and the notes of its reader."""
        with (
            self._open_source(upload) as (file, content_type),
            self._files.read_table(descriptor_path(file), upload.name, content_type, options=upload.options) as read,
        ):
            stored = quote_table(name)
            fill_table(self._engine, name, create_table_sql(read.table, stored), read.read_batches())
            entry = TableEntry(Schema(name=UPLOAD_SCHEMA), read.table, read.rows, stored_sql=stored)
            return entry, read.notes

    @contextmanager
    def _open_source(self, upload: Upload) -> Iterator[tuple[BinaryIO, str]]:
        if upload.part is None:
            with self._fetcher.fetched_file(upload.address) as fetched:
                yield fetched
        else:
            with upload.part.open() as file:
                yield file, upload.part.content_type
