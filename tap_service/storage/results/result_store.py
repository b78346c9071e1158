"""The result store: one object for each result of a job, which becomes visible when it is complete."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol


class ResultMissing(Exception):
    """There is no result with this key."""


class ResultWriter(Protocol):
    """Writes one result. ``commit`` or ``discard`` ends it."""

    def write(self, data: bytes, *, anyway: bool = False) -> None:
        """Append bytes.

        Parameters
        ----------
        data : bytes
            The bytes.
        anyway : bool
            Ignored: other sinks of a query accept the bytes although a limit is reached.

        Raises
        ------
        OSError
            The store is full or unreachable.
        """

    def commit(self) -> int:
        """Make the result visible and durable; return its size in bytes. Raise OSError."""

    def discard(self) -> None:
        """Delete what was written; do nothing after ``commit``."""


class ResultStore(Protocol):
    """Stores bytes by key: letters, digits and hyphens. Thread-safe; raises OSError if it is unreachable."""

    def create_result(self, key: str, *, is_durable: bool = True) -> ResultWriter:
        """Start a result, which replaces what a dead worker has left under the key.

        Parameters
        ----------
        key : str
            The key of the result.
        is_durable : bool
            Whether ``commit`` waits until the result survives a power cut.

        Returns
        -------
        ResultWriter
            A writer, which the caller ends by ``commit`` or ``discard``.

        Raises
        ------
        OSError
            The store is full or unreachable.
        """

    def read_result(self, key: str, start: int, end: int) -> Iterator[bytes]:
        """Open a result and yield its bytes.

        Parameters
        ----------
        key : str
            The key of the result.
        start, end : int
            The range of bytes; ``end`` is exclusive.

        Returns
        -------
        Iterator[bytes]
            Pieces of the range. A result that is deleted in the meantime can be read to its end.

        Raises
        ------
        ResultMissing
            At the call, before the first piece.
        OSError
            At the call or while the pieces are read.
        """

    def copy_result(self, key: str, to: str) -> None:
        """Copy a result inside the store.

        Parameters
        ----------
        key, to : str
            The keys of the result and of the copy.

        Raises
        ------
        ResultMissing
            There is no such result.
        OSError
            The store is full or unreachable.
        """

    def delete_result(self, key: str) -> None:
        """Delete a result, if it exists. A reader that has opened it can read to its end.

        Parameters
        ----------
        key : str
            The key of the result.

        Raises
        ------
        OSError
            The store is unreachable.
        """

    def list_keys(self, minimum_age: float) -> list[str]:
        """List the results that are in the store, also incomplete ones.

        Parameters
        ----------
        minimum_age : float
            In seconds. Results that were written later are left out, since a worker may still write them.

        Returns
        -------
        list[str]
            Their keys, sorted.

        Raises
        ------
        OSError
            The store is unreachable.
        """

    def check_writable(self) -> None:
        """Raise OSError unless results can be written."""
