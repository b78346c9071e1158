"""Anonymous files on the local disk, which disappear with the process, within a budget."""

from __future__ import annotations

import os
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path
from weakref import WeakValueDictionary


class NoRoom(Exception):
    """The budget is exhausted; the message names the reason."""


class Budget:
    """A limit of bytes that several holders share; what they take is also taken of ``whole``, if there is one."""

    def __init__(self, limit: int, whole: Budget | None = None) -> None:
        self.limit = limit
        self.used = 0
        self._whole = whole
        self._lock = threading.Lock()

    def take_bytes(self, count: int, *, anyway: bool = False) -> bool:
        """Reserve bytes if there is room, or ``anyway``; return whether they are reserved."""
        with self._lock:
            if self.used + count > self.limit and not anyway:
                return False
            if self._whole is not None and not self._whole.take_bytes(count, anyway=anyway):
                return False
            self.used += count
            return True

    def return_bytes(self, count: int) -> None:
        with self._lock:
            self.used -= count
        if self._whole is not None:
            self._whole.return_bytes(count)


class ScratchFile:
    """An anonymous file, which closes with its last reference."""

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
    """A directory for anonymous files and the budget that they share."""

    directory: Path
    budget: Budget


class IncomingSpace:
    """The disk for files of requests: limits for all, for one client, and for all anonymous clients together.

    A client may send for days, so without them a single one could keep all others from sending files.
    """

    def __init__(self, directory: Path, limit: int, client_limit: int, open_part: int) -> None:
        self._directory = directory
        self._client_limit = client_limit
        self._all = Budget(limit)
        self._anonymous = Budget(open_part, self._all)
        self._lock = threading.Lock()
        #: a client's budget lasts as long as its files
        self._clients: WeakValueDictionary[str, Budget] = WeakValueDictionary()

    def create_file(self, client_key: str, *, is_anonymous: bool) -> IncomingFile:
        """Create a file for a client's bytes. Raise OSError."""
        with self._lock:
            budget = self._clients.get(client_key)
            if budget is None:
                budget = Budget(self._client_limit, self._anonymous if is_anonymous else self._all)
                self._clients[client_key] = budget
        return IncomingFile(self._directory, budget)


class IncomingFile:
    """The bytes that a client sends, in an anonymous file; they count in the budget until it closes."""

    def __init__(self, directory: Path, budget: Budget) -> None:
        self._budget = budget
        self._file = tempfile.TemporaryFile(dir=directory)  # noqa: SIM115 (closed by ``close``)
        self.size = 0

    def write(self, data: bytes | bytearray) -> None:
        """Append bytes. Raise NoRoom, OSError."""
        if not self._budget.take_bytes(len(data)):
            raise NoRoom("files of other requests take all the space")
        self.size += len(data)
        self._file.write(data)

    @property
    def path(self) -> Path:
        """A path by which the file can be read until it closes. Raises OSError."""
        self._file.flush()
        return Path(f"/proc/{os.getpid()}/fd/{self._file.fileno()}")

    def close(self) -> None:
        if not self._file.closed:
            self._file.close()
            self._budget.return_bytes(self.size)


#: for serializers that need no space
NO_SCRATCH = ScratchSpace(Path(os.devnull), Budget(0))
