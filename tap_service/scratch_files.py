"""Bytes that wait on the local disk, in files without names that vanish with the process, within a budget."""

from __future__ import annotations

import os
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path


class NoRoom(Exception):
    """No more bytes can be held; the message says what the client can do."""


class Budget:
    """Bytes that several holders may have together."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.used = 0
        self._lock = threading.Lock()

    def take_bytes(self, count: int, *, anyway: bool = False) -> bool:
        with self._lock:
            if self.used + count > self.limit and not anyway:
                return False
            self.used += count
            return True

    def return_bytes(self, count: int) -> None:
        with self._lock:
            self.used -= count


class ScratchFile:
    """A file without a name. It closes when the last thread that uses it lets go."""

    def __init__(self, directory: Path) -> None:
        self._descriptor, name = tempfile.mkstemp(prefix="skyhouse-", dir=directory)
        os.unlink(name)

    def write(self, data: bytes | memoryview, at: int) -> None:
        rest = memoryview(data)
        while rest:
            written = os.pwrite(self._descriptor, rest, at)
            rest, at = rest[written:], at + written

    def read(self, count: int, at: int) -> bytes:
        return os.pread(self._descriptor, count, at)

    def __del__(self) -> None:
        if hasattr(self, "_descriptor"):
            os.close(self._descriptor)


@dataclass(frozen=True, slots=True)
class ScratchSpace:
    """Where files may be made, and how many bytes they may hold together."""

    directory: Path
    budget: Budget

    def create_incoming_file(self) -> IncomingFile:
        """Raises OSError."""
        return IncomingFile(self)


class IncomingFile:
    """What a client sends, in a file without a name; its bytes count in the budget until it is closed."""

    def __init__(self, space: ScratchSpace) -> None:
        self._budget = space.budget
        self._file = tempfile.TemporaryFile(dir=space.directory)  # noqa: SIM115 (closed by ``close``)
        self.size = 0

    def write(self, data: bytes | bytearray) -> None:
        """Raises NoRoom, OSError."""
        if not self._budget.take_bytes(len(data)):
            raise NoRoom("as many files of other requests are being read here now")
        self.size += len(data)
        self._file.write(data)

    @property
    def path(self) -> Path:
        """Where the whole of it can be read until it is closed. Raises OSError."""
        self._file.flush()
        return Path(f"/proc/{os.getpid()}/fd/{self._file.fileno()}")

    def close(self) -> None:
        if not self._file.closed:
            self._file.close()
            self._budget.return_bytes(self.size)


#: for those who need none
NO_SCRATCH = ScratchSpace(Path(os.devnull), Budget(0))
