"""The rejects file: one CSV line for each bad row, written as it is found, and the count that may stop a load."""

from __future__ import annotations

import csv
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import TextIO

from loaders.load_error import LoadError
from tap_service.readers.table_source import Fault

HEADER = ("file", "line_or_row", "column", "value", "reason")


class Rejects:
    """Bad rows of one run of a load, in ``path``, which exists only if there are any. More than ``limit`` raise."""

    def __init__(self, path: Path, limit: int) -> None:
        self.path = path
        self.count = 0
        self._limit = limit
        self._file: TextIO | None = None
        self._lock = threading.Lock()
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise LoadError(f"cannot write the rejects file {path}: {error.strerror} (see --rejects)") from error

    def add(self, file: Path, unit: str, faults: Iterable[Fault]) -> None:
        """From any thread."""
        with self._lock:
            self._add(file, unit, faults)

    def _add(self, file: Path, unit: str, faults: Iterable[Fault]) -> None:
        for fault in faults:
            self.count += 1
            writer = csv.writer(self._opened())
            writer.writerow((file, fault.where, fault.column, fault.value, fault.reason))
            if self.count > self._limit:
                self.close()
                about = f"column {fault.column}: " if fault.column else ""
                raise LoadError(
                    f"more than {self._limit} bad rows (--max-errors), the last in {unit} {fault.where} of {file}: "
                    f"{about}{fault.value!r} is {fault.reason}; all are in {self.path}. Nothing was changed"
                )

    def close(self) -> None:
        if self._file is not None:
            self._file.close()

    def _opened(self) -> TextIO:
        if self._file is None:
            try:
                self._file = self.path.open("w", newline="", encoding="utf-8")
            except OSError as error:
                raise LoadError(
                    f"cannot write the rejects file {self.path}: {error.strerror} (see --rejects)"
                ) from error
            csv.writer(self._file).writerow(HEADER)
        return self._file
