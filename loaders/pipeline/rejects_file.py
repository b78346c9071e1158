"""The rejects file: a CSV line for each bad row, written when it is found. Too many bad rows stop a load."""

from __future__ import annotations

import csv
import os
import threading
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TextIO

from loaders.load_error import LoadError
from loaders.progress_reporter import Reporter
from tap_service.readers.table_source import RejectedRow
from tap_service.readers.time_casts import describe_cut_times

HEADER = ("file", "line_or_row", "column", "value", "reason")


class RejectsFile:
    """The bad rows of one run of a load, in ``path``, which exists only if there are bad rows.

    ``cut_times``: the number of times of each column that were cut to microseconds.
    """

    def __init__(self, path: Path, max_errors: int) -> None:
        self.path = path
        self.count = 0
        self.cut_times: Counter[str] = Counter()
        self._max_errors = max_errors
        self._file: TextIO | None = None
        self._lock = threading.Lock()

    def start(self, kept_bytes: int = 0, kept_rows: int = 0) -> None:
        """Start a new file, or continue one after ``kept_bytes`` with ``kept_rows`` bad rows, if it is long enough."""
        self.close()
        self._file = None
        self.count = kept_rows
        try:
            if kept_bytes and self.size >= kept_bytes:
                os.truncate(self.path, kept_bytes)
            else:
                self.path.unlink(missing_ok=True)
        except OSError as error:
            raise self._build_error(error) from error

    @property
    def size(self) -> int:
        """The size of the file on disk in bytes."""
        if self._file is not None:
            self._file.flush()
        return self.path.stat().st_size if self.path.exists() else 0

    def add_errors(self, file: Path | str, unit: str, errors: Iterable[RejectedRow]) -> None:
        """Write bad rows, from any thread. Raises ``LoadError`` beyond ``max_errors``."""
        with self._lock:
            for reject in errors:
                self._add_error(file, unit, reject)

    def add_cut_times(self, counts: Mapping[str, int]) -> None:
        """Count times that were cut, from any thread."""
        with self._lock:
            self.cut_times.update(counts)

    def report_cut_times(self, reporter: Reporter) -> None:
        for note in describe_cut_times(self.cut_times):
            reporter.message(f"note: {note}")

    def _add_error(self, file: Path | str, unit: str, reject: RejectedRow) -> None:
        self.count += 1
        writer = csv.writer(self._open_file())
        writer.writerow((file, reject.where, reject.column, reject.value, reject.reason))
        if self.count > self._max_errors:
            self.close()
            column = f"column {reject.column}: " if reject.column else ""
            raise LoadError(
                f"more than {self._max_errors} bad rows (--max-errors), the last in {unit} {reject.where} of {file}: "
                f"{column}{reject.value!r} is {reject.reason}; all are in {self.path}. Nothing was changed"
            )

    def close(self) -> None:
        if self._file is not None:
            self._file.close()

    def _open_file(self) -> TextIO:
        if self._file is None:
            try:
                self._file = self.path.open("a", newline="", encoding="utf-8")
            except OSError as error:
                raise self._build_error(error) from error
            if not self._file.tell():
                csv.writer(self._file).writerow(HEADER)
        return self._file

    def _build_error(self, error: OSError) -> LoadError:
        return LoadError(f"cannot write the rejects file {self.path}: {error.strerror} (see --rejects)")
