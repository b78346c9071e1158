"""Untrusted table files, each read by a process of its own: see ``tap_service.readers.sandboxed_reader``."""

from __future__ import annotations

import json
import logging
import os
import signal
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa

from clickhouse_schema.schema_model import Table
from tap_service.config import Config
from tap_service.readers.sandboxed_reader import Answer, Limits, Request
from tap_service.service_errors import InternalFault, ServiceUnavailable, UploadFault
from tap_service.services.uploads.sandbox_client import SandboxClient, SandboxLost, SandboxTimeout

_log = logging.getLogger("skyhouse")

#: how often as long as its processor time a reader may take by the clock
_PATIENCE = 3

#: so many more files are read at once than queries run: what users keep may be large, and shall not hold up uploads
_SLOW = 2

#: of what a reader says on standard error, in characters
_SHOWN = 4000


@dataclass(frozen=True, slots=True)
class ReadTable:
    """A table as it was read: its columns under the file's names, with the position in its layout if it has one."""

    table: Table
    rows: int
    _file: BinaryIO

    def read_batches(self) -> Iterator[pa.RecordBatch]:
        """The rows, in columns of the table's types and those that are hidden beside shapes (``Conformer.schema``)."""
        self._file.seek(0)
        yield from pa.ipc.open_stream(self._file)


class TableFileReader:
    """Safe to use from several threads. ``at_once``: be ready for the first file, which else waits for a second.

    Few files are read at once, for each may take its limit of memory; the others wait.
    """

    def __init__(self, config: Config, *, is_kept_ready: bool) -> None:
        self._limits = build_upload_limits(config)
        self._directory = config.spool_path
        self._at_once = is_kept_ready
        self._host = SandboxClient(config.spool_path)
        self._closed = False
        self._places = threading.BoundedSemaphore(config.concurrent_queries + _SLOW)

    def start(self) -> None:
        if self._at_once:
            self._host.start()

    def close(self) -> None:
        """Files that are being read are read no further: their readers end."""
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
    ) -> Iterator[ReadTable]:
        """The first table in a file, under this name. Raises UploadFault for what is none, or is beyond the limits.

        Raises ServiceUnavailable when this is closed, and OSError where no process or file can be had.
        With ``table`` the rows have to fit that one, whatever the file says of their types. ``limits``: those of
        uploaded tables, if none are given.
        """
        model = "" if table is None else table.model_dump_json(by_alias=True)
        with tempfile.TemporaryFile(dir=self._directory) as file:
            request = Request(str(path), str(descriptor_path(file)), name, content_type, limits or self._limits, model)
            answer = self._ask_sandbox(request)
            if answer.error:
                raise UploadFault(f"table {name}: {answer.error}")
            yield ReadTable(Table.model_validate_json(answer.table), answer.rows, file)

    def _ask_sandbox(self, request: Request) -> Answer:
        seconds = request.limits.seconds
        with self._places:
            try:
                status, out, err = self._run_reader(json.dumps(asdict(request)) + "\n", _PATIENCE * seconds)
            except SandboxTimeout:
                return Answer(f"reading it takes more than {seconds} seconds")
        if err:
            _log.warning("the reader of an uploaded table says: %s", err[-_SHOWN:])
        if out:
            return Answer(**json.loads(out))
        if status == -signal.SIGXCPU:
            return Answer(f"reading it takes more than {seconds} seconds")
        if status < 0:  # by what is in the file, or by a system that is short of memory
            return Answer("it is broken, or takes too much memory to read")
        _log.error("the reader of an uploaded table ended with %s", status)
        raise InternalFault("the service failed to read an uploaded table; the fault is ours")

    def _run_reader(self, request: str, seconds: float) -> tuple[int, str, str]:
        """Once more where the reader was lost by no fault of its own."""
        for _ in range(2):
            if self._closed:
                break
            try:
                return self._host.run_reader(request, seconds)
            except SandboxLost:
                _log.info("the process that reads uploaded tables has ended")
        if self._closed:
            raise ServiceUnavailable("the service is shutting down. Ask again later")
        raise InternalFault("the service failed to read an uploaded table; the fault is ours")


def build_upload_limits(config: Config) -> Limits:
    return Limits(
        rows=config.upload_rows,
        columns=config.upload_columns,
        cell_bytes=config.upload_cell_bytes,
        unpacked_bytes=4 * config.upload_bytes,
        memory=config.upload_memory,
        seconds=config.upload_seconds,
    )


def build_user_table_limits(config: Config) -> Limits:
    """Of what users keep: the disk that they may fill is what bounds the rows."""
    return Limits(
        rows=1 << 40,
        columns=config.upload_columns,
        cell_bytes=config.upload_cell_bytes,
        unpacked_bytes=4 * config.user_table_file,
        memory=config.upload_memory,
        seconds=config.user_table_seconds,
    )


def descriptor_path(file: BinaryIO) -> Path:
    """A path by which another process of this user can open a file, which needs no name."""
    return Path(f"/proc/{os.getpid()}/fd/{file.fileno()}")
