"""Anonymous files on the local disk, which disappear with the process, and their limits of disk space."""

from __future__ import annotations

import os
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path
from weakref import WeakValueDictionary


class NoRoom(Exception):
    """The disk space of a budget is exhausted; the message has the reason."""


class Budget:
    """A number of bytes that several users of the budget share. Thread-safe.

    Parameters
    ----------
    limit : int
        The limit in bytes.
    whole : Budget, optional
        A larger budget of which this budget is a part.
    """

    def __init__(self, limit: int, whole: Budget | None = None) -> None:
        self.limit = limit
        self.used = 0
        self._whole = whole
        self._lock = threading.Lock()

    def take_bytes(self, count: int, *, anyway: bool = False) -> bool:
        """Reserve bytes, in the larger budgets too.

        Parameters
        ----------
        count : int
            The number of bytes.
        anyway : bool
            Whether to reserve them even if the budget has no room for them.

        Returns
        -------
        bool
            Whether they are reserved; the caller then returns them by ``return_bytes``.
        """
        with self._lock:
            if self.used + count > self.limit and not anyway:
                return False
            if self._whole is not None and not self._whole.take_bytes(count, anyway=anyway):
                return False
            self.used += count
            return True

    def return_bytes(self, count: int) -> None:
        """Release bytes that ``take_bytes`` has reserved, in the larger budgets too.

        Parameters
        ----------
        count : int
            The number of bytes.
        """
        with self._lock:
            self.used -= count
        if self._whole is not None:
            self._whole.return_bytes(count)


class ScratchFile:
    """An anonymous file, which is closed with its last reference. Methods raise OSError."""

    def __init__(self, directory: Path) -> None:
        self._descriptor, name = tempfile.mkstemp(prefix="skyhouse-", dir=directory)
        os.unlink(name)

    def write(self, data: bytes | memoryview, at: int) -> None:
        """Write bytes.

        Parameters
        ----------
        data : bytes | memoryview
            The bytes. They do not count in a budget: the caller reserves them.
        at : int
            The offset in the file, which may be after its end.

        Raises
        ------
        OSError
            The disk is full.
        """
        rest = memoryview(data)
        while rest:
            written = os.pwrite(self._descriptor, rest, at)
            rest, at = rest[written:], at + written

    def read(self, count: int, at: int) -> bytes:
        """Read bytes.

        Parameters
        ----------
        count : int
            The maximum number of bytes.
        at : int
            The offset in the file.

        Returns
        -------
        bytes
            The bytes, fewer at the end of the file.
        """
        return os.pread(self._descriptor, count, at)

    def __del__(self) -> None:
        if hasattr(self, "_descriptor"):
            os.close(self._descriptor)


@dataclass(frozen=True, slots=True)
class ScratchSpace:
    """A directory for anonymous files, and the budget that they share."""

    directory: Path
    budget: Budget


class IncomingSpace:
    """The disk space for files of requests.

    A client may send a file for days, so without limits a single client could keep all others from sending files.

    Parameters
    ----------
    directory : Path
        The directory of the files.
    limit, client_limit, open_part : int
        The limits in bytes for all files, for the files of one client, and for the files of all anonymous clients.
    """

    def __init__(self, directory: Path, limit: int, client_limit: int, open_part: int) -> None:
        self._directory = directory
        self._client_limit = client_limit
        self._all = Budget(limit)
        self._anonymous = Budget(open_part, self._all)
        self._lock = threading.Lock()
        #: the budget of a client lasts as long as its files
        self._clients: WeakValueDictionary[str, Budget] = WeakValueDictionary()

    def create_file(self, client_key: str, *, is_anonymous: bool) -> IncomingFile:
        """Create a file.

        Parameters
        ----------
        client_key : str
            The key of the client.
        is_anonymous : bool
            Whether the client is anonymous.

        Raises
        ------
        OSError
            The file cannot be created.
        """
        with self._lock:
            budget = self._clients.get(client_key)
            if budget is None:
                budget = Budget(self._client_limit, self._anonymous if is_anonymous else self._all)
                self._clients[client_key] = budget
        return IncomingFile(self._directory, budget)


class IncomingFile:
    """An anonymous file with the bytes that a client sends, which count in the budget until the file is closed."""

    def __init__(self, directory: Path, budget: Budget) -> None:
        self._budget = budget
        self._file = tempfile.TemporaryFile(dir=directory)  # noqa: SIM115 (closed by ``close``)
        self.size = 0

    def write(self, data: bytes | bytearray) -> None:
        """Append bytes.

        Parameters
        ----------
        data : bytes | bytearray
            The bytes, which count in the budget of the client.

        Raises
        ------
        NoRoom
            Files of requests take all the space; nothing was written.
        OSError
            The disk is full.
        """
        if not self._budget.take_bytes(len(data)):
            raise NoRoom("files of other requests take all the space")
        self.size += len(data)
        self._file.write(data)

    @property
    def path(self) -> Path:
        """A path by which the file can be read until it is closed. Raises OSError."""
        self._file.flush()
        return Path(f"/proc/{os.getpid()}/fd/{self._file.fileno()}")

    def close(self) -> None:
        """Delete the file, and release its bytes."""
        if not self._file.closed:
            self._file.close()
            self._budget.return_bytes(self.size)


#: for serializers that need no disk space
NO_SCRATCH = ScratchSpace(Path(os.devnull), Budget(0))
