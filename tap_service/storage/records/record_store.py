"""The record store: texts by table and key, and indexes, which are sorted sets of texts.

The stores of shares, watches, the history and the state of the site are each written once on top of it. A change is a
compare-and-set: it takes effect only if nothing that its step has read has changed since.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from typing import Protocol, TypeVar

T = TypeVar("T")


class RecordReader(Protocol):
    """Reads records and indexes. The members of an index are sorted by score, then by their UTF-8 bytes."""

    def get_record(self, table: str, key: str) -> str | None:
        """Return one record.

        Parameters
        ----------
        table, key : str
            The name of the table and the key of the record in it.

        Returns
        -------
        str | None
            The text of the record, None if there is none.
        """

    def get_records(self, table: str) -> dict[str, str]:
        """Return all records of a table.

        Parameters
        ----------
        table : str
            The name of the table, which need not exist.

        Returns
        -------
        dict[str, str]
            The texts by key, in any order.
        """

    def find_records(self, table: str, keys: Iterable[str]) -> list[str]:
        """Return several records of a table.

        Parameters
        ----------
        table : str
            The name of the table.
        keys : Iterable[str]
            Their keys.

        Returns
        -------
        list[str]
            The texts of the records that exist, in the order of ``keys``.
        """

    def list_members(
        self, index: str, *, descending: bool = False, skip: int = 0, limit: int | None = None
    ) -> list[str]:
        """Return members of an index by rank.

        Parameters
        ----------
        index : str
            The name of the index, which need not exist.
        descending : bool
            Whether the highest score comes first.
        skip : int
            Number of members to skip.
        limit : int | None
            Maximum number of members to return, None for no limit.

        Returns
        -------
        list[str]
            The members, sorted by score and then by their UTF-8 bytes.
        """

    def list_up_to(self, index: str, score: int, limit: int) -> list[str]:
        """Return members of an index with scores up to a limit, the lowest first.

        Parameters
        ----------
        index : str
            The index.
        score : int
            The highest score.
        limit : int
            Maximum number of members to return.
        """

    def list_below(self, index: str, member: str, limit: int | None = None) -> list[str]:
        """Return members of an index whose scores are all 0, in descending order.

        Parameters
        ----------
        index : str
            The index.
        member : str
            Only members below this text.
        limit : int | None
            Maximum number of members to return.
        """

    def read_scores(self, index: str) -> dict[str, int]:
        """Return the score of each member of an index.

        Parameters
        ----------
        index : str
            The name of the index, which need not exist.

        Returns
        -------
        dict[str, int]
            The scores by member.
        """


class RecordChange(RecordReader, Protocol):
    """Reads and changes records and indexes, all or nothing. A step reads first: it may not see its own changes."""

    def put_record(self, table: str, key: str, text: str) -> None:
        """Write a record, or replace it.

        Parameters
        ----------
        table, key : str
            The name of the table and the key of the record in it. A table exists when it has a record.
        text : str
            The new text.
        """

    def delete_records(self, table: str, keys: Iterable[str]) -> None:
        """Delete records of a table.

        Parameters
        ----------
        table : str
            The name of the table.
        keys : Iterable[str]
            Their keys; unknown keys are ignored.
        """

    def add_members(self, index: str, scores: Mapping[str, int]) -> None:
        """Add members to an index, or change their scores.

        Parameters
        ----------
        index : str
            The name of the index. It exists when it has a member.
        scores : Mapping[str, int]
            The score of each member.
        """

    def remove_members(self, index: str, members: Iterable[str]) -> None:
        """Remove members from an index.

        Parameters
        ----------
        index : str
            The name of the index.
        members : Iterable[str]
            The members; texts that are not in the index are ignored.
        """

    def expire_index(self, index: str, seconds: int) -> None:
        """Set the time at which an index expires.

        Parameters
        ----------
        index : str
            The name of the index.
        seconds : int
            Its lifetime from now on. It is deleted then, unless ``expire_index`` is called again before. Has no effect
            on an index without members; an index that loses all members also loses its end.
        """


class RecordStore(Protocol):
    """The records of one store. Thread-safe, and safe for processes that open the same file or Redis.

    If the file or Redis cannot be used, ``read_records`` and ``change_records`` raise the exception type given when the
    store was opened.
    """

    def read_records(self) -> AbstractContextManager[RecordReader]:
        """Return a reader, which sees each change completely or not at all in one call, but not across calls."""

    def change_records(self, step: Callable[[RecordChange], T]) -> T:
        """Make a change atomically.

        Parameters
        ----------
        step : Callable[[RecordChange], T]
            Reads records, then changes them. It is called again if another thread or process has changed what it read.
            If it raises, nothing changes.

        Returns
        -------
        T
            The result of ``step``.
        """

    def close(self) -> None: ...
