"""Table files that anybody may have sent, read by a process of its own each: see ``tap_service.readers.apart``."""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa

from clickhouse_schema.model import Table
from tap_service.config import Config
from tap_service.exceptions import InternalFault, ServiceUnavailable, UploadFault
from tap_service.readers.apart import Answer, Limits, Request

_log = logging.getLogger("skyhouse")

#: what the reader gets of the environment: no setting of the service, for these hold passwords
_KEPT = ("PATH", "PYTHONPATH", "LANG", "LC_ALL", "HOME")
#: one thread and plain memory: these reserve more address space than they use
_FRUGAL = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "ARROW_DEFAULT_MEMORY_POOL": "system"}

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

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The rows, in columns of the table's types and those that are hidden beside shapes (``Conformer.schema``)."""
        self._file.seek(0)
        yield from pa.ipc.open_stream(self._file)


class TableFiles:
    """Safe to use from several threads. ``spare``: keep a process ready, for it takes a second to start.

    Few files are read at once, for each may take its limit of memory; the others wait.
    """

    def __init__(self, config: Config, *, spare: bool) -> None:
        self._limits = upload_limits(config)
        self._directory = config.spool_path
        self._keeps_spare = spare
        self._spare: subprocess.Popen[str] | None = None
        self._running: set[subprocess.Popen[str]] = set()
        self._closed = False
        self._lock = threading.Lock()
        self._places = threading.BoundedSemaphore(config.concurrent_queries + _SLOW)

    def start(self) -> None:
        if self._keeps_spare:
            with self._lock:
                self._spare = self._started()

    def close(self) -> None:
        """Files that are being read are read no further: their readers end."""
        with self._lock:
            self._closed = True
            spare, self._spare = self._spare, None
            for process in self._running:
                process.kill()
        if spare is not None:
            _end(spare)

    @contextmanager
    def read(
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
            request = Request(str(path), str(path_of(file)), name, content_type, limits or self._limits, model)
            answer = self._asked(request)
            if answer.error:
                raise UploadFault(f"table {name}: {answer.error}")
            yield ReadTable(Table.model_validate_json(answer.table), answer.rows, file)

    def _asked(self, request: Request) -> Answer:
        seconds = request.limits.seconds
        is_late = False
        with self._places:
            process = self._taken()
            try:
                out, err = process.communicate(json.dumps(asdict(request)) + "\n", _PATIENCE * seconds)
            except subprocess.TimeoutExpired:
                out, err, is_late = "", "", True
            finally:
                with self._lock:
                    self._running.discard(process)
                _end(process)
        if err:
            _log.warning("the reader of an uploaded table says: %s", err[-_SHOWN:])
        if out:
            return Answer(**json.loads(out))
        if self._closed:
            raise ServiceUnavailable("the service is shutting down. Ask again later")
        if is_late or process.returncode == -signal.SIGXCPU:
            return Answer(f"reading it takes more than {seconds} seconds")
        if process.returncode < 0:  # by what is in the file, or by a system that is short of memory
            return Answer("it is broken, or takes too much memory to read")
        _log.error("the reader of an uploaded table ended with %s", process.returncode)
        raise InternalFault("the service failed to read an uploaded table; the fault is ours")

    def _taken(self) -> subprocess.Popen[str]:
        """A process that is ready, and another one for the next."""
        with self._lock:
            if self._closed:
                raise ServiceUnavailable("the service is shutting down. Ask again later")
            process, self._spare = self._spare, None
            if process is not None and process.poll() is not None:
                _end(process)
                process = None
            process = process or self._started()
            self._running.add(process)
            if self._keeps_spare:
                self._spare = self._started()
        return process

    def _started(self) -> subprocess.Popen[str]:
        kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
        return subprocess.Popen(
            [sys.executable, "-W", "ignore", "-m", "tap_service.readers.apart"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**kept, **_FRUGAL, "TMPDIR": str(self._directory)},
        )


def upload_limits(config: Config) -> Limits:
    return Limits(
        rows=config.upload_rows,
        columns=config.upload_columns,
        cell_bytes=config.upload_cell_bytes,
        unpacked_bytes=4 * config.upload_bytes,
        memory=config.upload_memory,
        seconds=config.upload_seconds,
    )


def table_limits(config: Config) -> Limits:
    """Of what users keep: the disk that they may fill is what bounds the rows."""
    return Limits(
        rows=1 << 40,
        columns=config.upload_columns,
        cell_bytes=config.upload_cell_bytes,
        unpacked_bytes=4 * config.user_table_file,
        memory=config.upload_memory,
        seconds=config.user_table_seconds,
    )


def path_of(file: BinaryIO) -> Path:
    """A path by which another process of this user can open a file, which needs no name."""
    return Path(f"/proc/{os.getpid()}/fd/{file.fileno()}")


def _end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()
