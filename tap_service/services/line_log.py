"""Logs with one line of JSON per event, in which all text of clients is escaped."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tap_service.config import ConfigError
from tap_service.hangup import on_hangup
from tap_service.services.client_mask import ClientMask

_STANDARD_ERROR = 2

#: interval at which a log checks whether its file was moved, in seconds: SIGHUP makes a Celery worker restart
_LOOKING_SECONDS = 1.0


class LineLog:
    """A log. Thread-safe, and several processes may append to one file. Errors of the log do not fail requests.

    Parameters
    ----------
    target : str
        A file to append to, ``-`` for standard error, '' for no log. SIGHUP reopens the file; so does the next line, at
        most once a second, if the file was moved.
    kind : str
        The value of the key ``kind`` in each line.
    mask : ClientMask or None
        Masks the keys ``client`` and ``user``; None to write them in full.
    count_failure : Callable[[], None]
        Called for each line that could not be written.

    Raises
    ------
    ConfigError
        The file cannot be opened.
    """

    def __init__(self, target: str, kind: str, mask: ClientMask | None, count_failure: Callable[[], None]) -> None:
        self._path = Path(target) if target not in ("", "-") else None
        self._kind = kind
        self._mask = mask
        self._count_failure = count_failure
        self._lock = threading.Lock()
        self._file: int | None = _STANDARD_ERROR if target == "-" else None
        if self._path is not None:
            try:
                self._file = _open_log(self._path)
            except OSError as error:
                raise ConfigError(
                    [
                        f"the {kind} log {self._path} cannot be opened: {error.strerror}; "
                        f"change SKYHOUSE_{kind.upper()}_LOG, or the permissions of the file"
                    ]
                ) from error
        self._looked_at = time.monotonic()
        self._is_cut = False
        self._forget = on_hangup(self.reopen) if self._path else lambda: None

    @property
    def is_on(self) -> bool:
        """Whether lines are written."""
        return self._file is not None

    def write_record(self, **record: Any) -> None:
        """Write a line with these keys, the time and the kind."""
        if not self.is_on:
            return
        instant = datetime.now(UTC).isoformat().replace("+00:00", "Z")
        masked = record if self._mask is None else self._mask.mask_record(record)
        line = json.dumps({**masked, "time": instant, "kind": self._kind}).encode() + b"\n"
        with self._lock:
            if self._file is None:  # closed meanwhile
                return
            try:
                self._follow_file()
                self._write_line(line)
            except OSError:
                self._count_failure()

    def reopen(self) -> None:
        """Reopen the file, which may have been moved. If that fails, the log continues with the old file."""
        if self._path is None:
            return
        with self._lock:
            if self._file is not None:
                self._replace_file(self._path, self._file)

    def close(self) -> None:
        """Stop writing, and close the file."""
        self._forget()
        with self._lock:
            if self._path is not None and self._file is not None:
                os.close(self._file)
            self._file = None

    def _follow_file(self) -> None:
        now = time.monotonic()
        if self._path is None or self._file is None or now - self._looked_at < _LOOKING_SECONDS:
            return
        self._looked_at = now
        try:
            is_same = os.path.samestat(os.stat(self._path), os.fstat(self._file))
        except FileNotFoundError:
            is_same = False
        if not is_same:
            self._replace_file(self._path, self._file)

    def _replace_file(self, path: Path, old: int) -> None:
        try:
            self._file = _open_log(path)
        except OSError:
            self._count_failure()
            return
        os.close(old)

    def _write_line(self, line: bytes) -> None:
        """Append in one call, so that lines of several processes do not mix. A full disk may cut the line."""
        assert self._file is not None  # noqa: S101  checked by ``write_record``, which holds the lock
        if self._is_cut:
            line = b"\n" + line
        written = os.write(self._file, line)
        self._is_cut = written < len(line)
        if self._is_cut:
            self._count_failure()


def _open_log(path: Path) -> int:
    """Open a log for appending; other users of the machine cannot read it."""
    return os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o640)
