"""Reads untrusted table files, each in a sandboxed process: see ``tap_service.readers.sandboxed_reader``."""

from __future__ import annotations

import json
import logging
import os
import signal
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa

from clickhouse_schema.schema_model import Table
from tap_service.config import Config
from tap_service.models.read_options import AS_DETECTED, ReadOptions
from tap_service.models.upload_parameter import name_upload_options
from tap_service.readers.sandboxed_reader import Answer, Limits, Request
from tap_service.service_errors import InternalError, ServiceUnavailable, UploadError
from tap_service.services.uploads.sandbox_client import SandboxClient, SandboxLost, SandboxTimeout

_log = logging.getLogger("skyhouse")

#: wall-clock limit of a reader, as a multiple of its limit of processor time
_WALL_CLOCK_FACTOR = 3

#: number of files read at once in addition to one per query: large files of user tables must not delay uploads
_EXTRA_READERS = 2

#: maximum number of characters of a reader's standard error in the log
_MAX_LOGGED = 4000


@dataclass(frozen=True, slots=True)
class ReadTable:
    """A table that was read from a file.

    Attributes
    ----------
    table : Table
        The table; its columns have the names in the file, and its layout the columns of a position, if any.
    rows : int
        The number of rows.
    notes : tuple of str
        Notes for the sender on how the file was read.
    """

    table: Table
    rows: int
    notes: tuple[str, ...]
    _file: BinaryIO

    def read_batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows, in the table's columns and the hidden shape covers (``Conformer.schema``)."""
        self._file.seek(0)
        yield from pa.ipc.open_stream(self._file)


class TableFileReader:
    """Reads table files in the sandbox. Thread-safe.

    Few files are read at once, because each reader may use all of its memory limit; other files wait.

    Parameters
    ----------
    config : Config
        The limits.
    is_kept_ready : bool
        Whether ``start`` starts the sandbox; otherwise the first file waits a second for it.
    """

    def __init__(self, config: Config, *, is_kept_ready: bool) -> None:
        self._limits = build_upload_limits(config)
        self._directory = config.spool_path
        self._is_kept_ready = is_kept_ready
        self._host = SandboxClient(config.spool_path)
        self._closed = False
        self._slots = threading.BoundedSemaphore(config.concurrent_queries + _EXTRA_READERS)

    def start(self) -> None:
        """Start the sandbox if it is to be kept ready."""
        if self._is_kept_ready:
            self._host.start()

    def close(self) -> None:
        """End all readers."""
        self._closed = True
        self._host.close()

    @contextmanager
    def read_table(
        self,
        path: Path,
        name: str,
        content_type: str = "",
        *,
        table: Table | None = None,
        limits: Limits | None = None,
        options: ReadOptions = AS_DETECTED,
    ) -> Iterator[ReadTable]:
        """Read a table from a file.

        Parameters
        ----------
        path : Path
            The file.
        name : str
            The name of the table.
        content_type : str
            The media type that the client declared, '' for none.
        table : Table, optional
            The table into which the rows must fit, whatever types the file declares.
        limits : Limits, optional
            The limits, by default of uploads.
        options : ReadOptions
            The options of the sender.

        Yields
        ------
        ReadTable
            The table, whose rows can be read within the context.

        Raises
        ------
        UploadError
            The file has no valid table, or exceeds a limit.
        ServiceUnavailable
            The service is shutting down.
        OSError
            No process or file can be created.
        """
        model = "" if table is None else table.model_dump_json(by_alias=True)
        with tempfile.TemporaryFile(dir=self._directory) as file:
            rows = str(descriptor_path(file))
            request = Request(str(path), rows, name, content_type, limits or self._limits, model, options)
            answer = self._ask_sandbox(request)
            if answer.error:
                raise UploadError(f"table {name}: {name_upload_options(answer.error)}")
            notes = tuple(map(name_upload_options, answer.notes))
            yield ReadTable(Table.model_validate_json(answer.table), answer.rows, notes, file)

    def _ask_sandbox(self, request: Request) -> Answer:
        seconds = request.limits.seconds
        with self._slots:
            try:
                status, out, err = self._run_reader(json.dumps(asdict(request)) + "\n", _WALL_CLOCK_FACTOR * seconds)
            except SandboxTimeout:
                return Answer(f"reading it takes more than {seconds} seconds")
        if err:
            _log.warning("the reader of an uploaded table wrote to stderr: %s", err[-_MAX_LOGGED:])
        if out:
            return Answer(**json.loads(out))
        if status == -signal.SIGXCPU:
            return Answer(f"reading it takes more than {seconds} seconds")
        if status < 0:  # killed because of the file's content, or by a system without memory
            return Answer("it is broken, or takes too much memory to read")
        _log.error("the reader of an uploaded table ended with %s", status)
        raise InternalError("the service failed to read an uploaded table because of a bug")

    def _run_reader(self, request: str, seconds: float) -> tuple[int, str, str]:
        """Run the reader, and again if the sandbox process was lost."""
        for _ in range(2):
            if self._closed:
                break
            try:
                return self._host.run_reader(request, seconds)
            except SandboxLost:
                _log.info("the process that reads uploaded tables has ended")
        if self._closed:
            raise ServiceUnavailable("the service is shutting down. Try again later")
        raise InternalError("the service failed to read an uploaded table because of a bug")


def build_upload_limits(config: Config) -> Limits:
    """Return the limits of uploads."""
    return Limits(
        rows=config.upload_rows,
        columns=config.upload_columns,
        cell_bytes=config.upload_cell_bytes,
        unpacked_bytes=4 * config.upload_bytes,
        memory=config.upload_memory,
        seconds=config.upload_seconds,
    )


def build_user_table_limits(config: Config) -> Limits:
    """Return the limits for files of user tables.

    Parameters
    ----------
    config : Config
        ``user_table_file`` (bytes) and ``user_table_seconds`` replace the limits of uploads. The number of rows is not
        limited, because the quota of the user is.
    """
    unpacked_bytes = 4 * config.user_table_file
    seconds = config.user_table_seconds
    return replace(build_upload_limits(config), rows=1 << 40, unpacked_bytes=unpacked_bytes, seconds=seconds)


def descriptor_path(file: BinaryIO) -> Path:
    """Return a path by which other processes of this user can open an anonymous file (Linux).

    Parameters
    ----------
    file : BinaryIO
        The file, which must stay open until it has been opened by the path.
    """
    return Path(f"/proc/{os.getpid()}/fd/{file.fileno()}")
