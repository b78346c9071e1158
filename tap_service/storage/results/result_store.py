"""The result store: one object for each result of a job, visible when it is whole and not before."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol


class ResultMissing(Exception):
    """There is no result of this name."""


class ResultWriter(Protocol):
    """A result on its way into the store. ``commit`` or ``discard`` ends it."""

    def write(self, data: bytes, *, anyway: bool = False) -> None:
        """Raises OSError when there is no room or the store cannot be reached. ``anyway`` makes no difference."""

    def end(self) -> None:
        """All is written. Nothing can be seen yet."""

    def commit(self) -> int:
        """Make it visible under its key, whole and safe from a power cut; its size in bytes. Raises OSError."""

    def discard(self) -> None:
        """Leave nothing behind. After ``commit`` it does nothing."""


class ResultStore(Protocol):
    """Safe to call from several threads. ``key`` is letters, digits and hyphens. OSError if it cannot be reached."""

    def create_result(self, key: str, *, lasting: bool = True) -> ResultWriter:
        """What a dead worker left under this key is overwritten. One that is not ``lasting`` may go by a power cut."""

    def read_result(self, key: str, start: int, end: int) -> Iterator[bytes]:
        """The bytes from ``start`` to before ``end``, in pieces; opened at once. Raises ResultMissing, OSError.

        A result that is deleted while it is read is read to its end.
        """

    def copy_result(self, key: str, to: str) -> None:
        """A result under another key too, without reading it. Raises ResultMissing, OSError."""

    def delete_result(self, key: str) -> None:
        """What is not there is deleted already."""

    def list_keys(self, minimum_age: float) -> list[str]:
        """Of results, half ones too, that nobody has written to for ``minimum_age`` seconds: for the sweep."""

    def check_writable(self) -> None:
        """Raise OSError unless a result can be written."""
