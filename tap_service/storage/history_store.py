"""The history store: queries of users that have ended.

The index ``history:USER`` has the entries of a user: the id, a space, and the entry in JSON. ``history-oldest`` has the
users by the instant of their oldest entry, or 0 after an addition, until the entries are trimmed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Self

from tap_service.models.history_entry import HistoryEntry
from tap_service.storage.records.open_records import open_records
from tap_service.storage.records.record_format import RecordFormat
from tap_service.storage.records.record_store import RecordChange, RecordStore

#: name of the file in the directory for jobs
HISTORY_FILE = "history.sqlite"

_OLDEST = "history-oldest"
#: users whose old queries are deleted at once
_AT_ONCE = 100
#: digits of the instant in an id
_DIGITS = 15


class HistoryUnavailable(Exception):
    """The history cannot be read or written now; the message says why."""


_FORMAT = RecordFormat(
    file_name=HISTORY_FILE,
    subject="the history of queries",
    unavailable=HistoryUnavailable,
    former_tables="CREATE TABLE queries (user TEXT, id TEXT, record TEXT)",
    conversion="""
INSERT INTO member SELECT 'history:' || user, id || ' ' || record, 0 FROM queries;
INSERT INTO member SELECT 'history-oldest', user, 0 FROM queries GROUP BY user;
DROP TABLE queries
""",
    pragma="journal_mode = WAL",
    reserve_name="history.reserve",
)


class HistoryStore:
    """The store of the history. Safe for threads and processes. All methods but ``close`` raise HistoryUnavailable."""

    def __init__(self, records: RecordStore, seconds: int) -> None:
        self._records = records
        self._seconds = seconds

    @classmethod
    def open(cls, redis_url: str, directory: Path | None, seconds: int) -> Self:
        """Open the history.

        Parameters
        ----------
        redis_url : str
            The Redis that has it; '' for a file.
        directory : Path | None
            The directory of the file.
        seconds : int
            How long queries are kept after the last query of their user.

        Raises
        ------
        HistoryUnavailable, ValueError
            As ``open_records``.
        """
        return cls(open_records(_FORMAT, redis_url, directory), seconds)

    def add_entries(self, entries: Sequence[tuple[str, HistoryEntry]]) -> None:
        """Add queries: all or none.

        Parameters
        ----------
        entries : Sequence[tuple[str, HistoryEntry]]
            Pairs of a user and a query of this user. An entry that is already stored does not change.
        """
        members: defaultdict[str, dict[str, int]] = defaultdict(dict)
        for user, entry in entries:
            members[_index(user)][f"{entry.id} {entry.model_dump_json()}"] = 0

        def add(change: RecordChange) -> None:
            for index, added in members.items():
                change.add_members(index, added)
                change.expire_index(index, self._seconds)
            change.add_members(_OLDEST, {user: 0 for user, _ in entries})

        self._records.change_records(add)

    def list_entries(self, user: str, before: str, limit: int) -> list[HistoryEntry]:
        """Return queries of a user, the newest first.

        Parameters
        ----------
        user : str
            The user.
        before : str
            Only queries with ids below this one; '' for all.
        limit : int
            Maximum number of queries to return.
        """
        with self._records.read_records() as records:
            if before:
                found = records.list_below(_index(user), before, limit)
            else:
                found = records.list_members(_index(user), descending=True, limit=limit)
        return [HistoryEntry.model_validate_json(member.partition(" ")[2]) for member in found]

    def delete_entries(self, user: str) -> None:
        """Delete all queries of a user."""

        def delete(change: RecordChange) -> None:
            change.remove_members(_index(user), change.list_members(_index(user)))
            change.remove_members(_OLDEST, [user])

        self._records.change_records(delete)

    def trim_entries(self, users: Collection[str], keep: int, oldest: str) -> None:
        """Delete old queries, of all users, and surplus ones.

        Parameters
        ----------
        users : Collection[str]
            The users who may have more than ``keep`` queries.
        keep : int
            Maximum number of queries of a user; the newest ones stay.
        oldest : str
            Queries with ids below this one are old (see ``first_id_at``); '' if no query is old.
        """

        def trim(change: RecordChange) -> None:
            due = change.list_up_to(_OLDEST, int(oldest) - 1, _AT_ONCE) if oldest else []
            for user, surplus, rest in [_find_surplus(change, user, keep, oldest) for user in {*users, *due}]:
                change.remove_members(_index(user), surplus)
                if rest:
                    change.add_members(_OLDEST, {user: int(rest[:_DIGITS])})
                else:
                    change.remove_members(_OLDEST, [user])

        self._records.change_records(trim)

    def close(self) -> None:
        self._records.close()


def _find_surplus(change: RecordChange, user: str, keep: int, oldest: str) -> tuple[str, set[str], str]:
    """Return a user with the entries to delete, and the oldest of the others, '' if there is none."""
    index = _index(user)
    surplus = {*change.list_members(index, descending=True, skip=keep), *change.list_below(index, oldest)}
    return user, surplus, "".join(change.list_members(index, skip=len(surplus), limit=1))


def _index(user: str) -> str:
    return f"history:{user}"
