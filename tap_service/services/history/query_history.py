"""The history of users' queries, by /sync and as jobs, also of deleted jobs.

Finished queries are collected in memory, and stored together once a second.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import NamedTuple

from pydantic_core import PydanticSerializationError

from tap_service.models.history_entry import HistoryEntry, first_id_at
from tap_service.models.timestamps import add_seconds, now
from tap_service.service_errors import NotFound, ServiceUnavailable
from tap_service.services.periodic_thread import PeriodicThread, call_and_log
from tap_service.storage.accounts import Accounts
from tap_service.storage.history_store import HistoryStore, HistoryUnavailable

_log = logging.getLogger("skyhouse")

_STORING_SECONDS = 1.0
#: maximum bytes of queries that wait while the store is unavailable; beyond them, the oldest queries are dropped
_MAX_WAITING_BYTES = 16 << 20
_AT_ONCE = 200
#: maximum number of characters that are searched for one page
_MAX_SEARCHED = 50_000_000
_DAY = 86_400
#: maximum number of characters of a query that are stored
MAX_QUERY = 10_000


class _WaitingQuery(NamedTuple):
    user: str
    entry: HistoryEntry
    size: int


@dataclass(frozen=True, slots=True)
class HistoryFilter:
    """A selection of queries that fulfil all conditions.

    Attributes
    ----------
    after, before : datetime or None
        Exclusive bounds of the time at which the query arrived.
    statuses : frozenset of str
        The statuses; empty for all.
    words : tuple of str
        Words in the query, its name, its error or the id of its job, in any case.
    last : int
        The maximum number of queries on a page.
    cursor : str
        The id of the last query that was read for the previous page; '' for the first page.
    """

    after: datetime | None = None
    before: datetime | None = None
    statuses: frozenset[str] = frozenset()
    words: tuple[str, ...] = ()
    last: int = 100
    cursor: str = ""


class QueryHistory:
    """The history of queries. Thread-safe.

    Parameters
    ----------
    store : HistoryStore or None
        The store. Without it there is no history: no query is stored, and requests for the history raise NotFound.
    max_queries, days : int
        The maximum number of queries of a user, and the maximum age of queries.
    accounts : Accounts or None
        The users. Queries of a user who was removed while they ran are not stored, because another user might get the
        same name later.
    """

    def __init__(self, store: HistoryStore | None, max_queries: int, days: int, accounts: Accounts | None) -> None:
        self._store = store
        self._max_queries = max_queries
        self._days = days
        self._accounts = accounts
        self._lock = threading.Lock()
        self._waiting: deque[_WaitingQuery] = deque()
        self._waiting_bytes = 0
        self._storing = threading.Lock()
        self._thread = PeriodicThread(
            "history", _STORING_SECONDS, self._store_waiting, "the history cannot be stored yet"
        )

    def start(self) -> None:
        """Start the thread that stores queries."""
        if self._store is not None:
            self._thread.start()

    def close(self) -> None:
        """Store the waiting queries, and close the store."""
        self._thread.close()
        if self._store is not None:
            call_and_log(self._store_waiting, "the last second of the history is lost")
            self._store.close()

    def add_query(self, user: str, entry: HistoryEntry) -> None:
        """Add a finished query, which is stored within a second. Does nothing without a store.

        Parameters
        ----------
        user : str
            The user.
        entry : HistoryEntry
            The query. The oldest queries are lost if too many bytes wait for an unavailable store.
        """
        if self._store is None:
            return
        try:
            size = len(entry.model_dump_json().encode())
        except PydanticSerializationError as error:  # it would prevent storing the other queries of its batch
            _log.warning("a query of %r cannot be stored in the history: %s", user, error)
            return
        with self._lock:
            self._waiting.append(_WaitingQuery(user, entry, size))
            self._waiting_bytes += size
            self._drop_oldest()

    def _drop_oldest(self) -> None:
        """Drop the oldest queries while too many bytes wait. The lock must be held."""
        while self._waiting_bytes > _MAX_WAITING_BYTES:
            dropped = self._waiting.popleft()
            self._waiting_bytes -= dropped.size
            _log.warning("the history of queries cannot be stored: a query of %r is dropped", dropped.user)

    def list_queries(self, user: str, wanted: HistoryFilter) -> tuple[list[HistoryEntry], str]:
        """Return a page of queries.

        Parameters
        ----------
        user : str
            The user.
        wanted : HistoryFilter
            The selection.

        Returns
        -------
        (list of HistoryEntry, str)
            The queries, newest first, and the cursor of the next page; '' on the last page. A page may be short if few
            of the queries that were searched for it match.

        Raises
        ------
        NotFound, ServiceUnavailable
            There is no history, or its store is unavailable.
        """
        with self._open_store() as store:
            with suppress(HistoryUnavailable):  # a full disk can still be read
                self._store_waiting()
            return _read_page(partial(self._list_entries, store, user), wanted, self._find_oldest())

    def _list_entries(self, store: HistoryStore, user: str, before: str, limit: int) -> list[HistoryEntry]:
        """Return queries as ``HistoryStore.list_entries``, including waiting queries."""
        with self._storing, self._lock:  # while queries are being stored, they do not wait and cannot be read yet
            waiting = [each.entry for each in self._waiting if each.user == user]
        found = {entry.id: entry for entry in waiting if not before or entry.id < before}
        found.update((entry.id, entry) for entry in store.list_entries(user, before, limit))
        return sorted(found.values(), key=lambda entry: entry.id, reverse=True)[:limit]

    def delete_queries(self, user: str) -> None:
        """Delete all queries of a user. Raises NotFound or ServiceUnavailable."""
        with self._open_store() as store:
            self._store_waiting()
            store.delete_entries(user)

    @contextmanager
    def _open_store(self) -> Iterator[HistoryStore]:
        if self._store is None:
            raise NotFound("this service keeps no history of queries; your jobs are in /tap/async")
        try:
            yield self._store
        except HistoryUnavailable as error:
            raise ServiceUnavailable(f"{error}. Try again later") from error

    def _store_waiting(self) -> None:
        """Store the waiting queries; they continue to wait if that fails. Raises HistoryUnavailable."""
        with self._storing:
            if self._store is None or not self._waiting:
                return
            with self._lock:
                taken, self._waiting, self._waiting_bytes = self._waiting, deque(), 0
            try:
                users = {each.user for each in taken if self._accounts is None or self._accounts.is_known(each.user)}
                self._store.add_entries([(user, entry) for user, entry, _ in taken if user in users])
            except Exception:
                with self._lock:
                    self._waiting.extendleft(reversed(taken))
                    self._waiting_bytes += sum(each.size for each in taken)
                    self._drop_oldest()
                raise
            self._store.trim_entries(users, self._max_queries, self._find_oldest())

    def _find_oldest(self) -> str:
        """Return a text that sorts before the ids of all queries that are recent enough to be kept."""
        return first_id_at(add_seconds(now(), -self._days * _DAY))


def _read_page(
    list_entries: Callable[[str, int], list[HistoryEntry]], wanted: HistoryFilter, oldest: str
) -> tuple[list[HistoryEntry], str]:
    """Return a page of queries with ids from ``oldest``, and its cursor."""
    words = [word.casefold() for word in wanted.words]
    limits = [wanted.cursor, first_id_at(wanted.before) if wanted.before else ""]
    before = min(filter(None, limits), default="")
    page: list[HistoryEntry] = []
    searched = 0
    while some := list_entries(before, _AT_ONCE):
        for entry in some:
            if entry.id < oldest or (wanted.after is not None and entry.created <= wanted.after):
                return page, ""
            text = "\n".join((entry.query, entry.run_id, entry.error, entry.job_id or "")).casefold()
            if (not wanted.statuses or entry.status in wanted.statuses) and all(word in text for word in words):
                if len(page) == wanted.last:
                    return page, page[-1].id
                page.append(entry)
            searched += len(text)
            if searched >= _MAX_SEARCHED:
                return page, entry.id
        before = some[-1].id
    return page, ""
