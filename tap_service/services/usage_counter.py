"""Counts usage by month, table, format and class of users, in memory and every minute in the store.

Counting a query takes a few additions. A process that is killed loses the counts of the last minute.
"""

from __future__ import annotations

import hashlib
import hmac
import threading
from collections.abc import Callable
from datetime import UTC, datetime

from clickhouse_schema.catalogue import TableEntry
from clickhouse_schema.engine_tables.user_table_record import SCHEMA_NAME, SHARED_PREFIX
from tap_service.models.client import Client
from tap_service.models.query_report import QueryReport
from tap_service.models.upload_parameter import UPLOAD_SCHEMA
from tap_service.services.periodic_thread import PeriodicThread, call_and_log
from tap_service.storage.usage.usage_store import (
    UsageAddition,
    UsageCounts,
    UsageKey,
    UsageStore,
    UsageUnavailable,
)

_STORING_SECONDS = 60.0
#: a key for hashes of clients expires after its month; then nobody can find the clients of the hashes
_KEY_SECONDS = 32 * 86400.0
#: maximum number of clients that are counted for one key between two rounds
_MAX_CLIENTS = 100_000

#: schemas with private tables, of which only the schema is counted
_PRIVATE_SCHEMAS = (SCHEMA_NAME, UPLOAD_SCHEMA)

ANONYMOUS, LOCAL = "anonymous", "local"

#: outcomes that are not the end of a query, or not of a query
_NOT_COUNTED = ("REQUEUED", "REFUSED")
_SUCCESSES = ("OK", "OVERFLOW", "REUSED")


class _Tally:
    def __init__(self) -> None:
        self.counts = UsageCounts()
        self.clients: set[str] = set()


class UsageCounter:
    """Counts usage. Thread-safe.

    Parameters
    ----------
    store : UsageStore or None
        The store of counts; without it, nothing is counted.
    count_failure : Callable[[], None]
        Called when counts cannot be stored.
    """

    def __init__(
        self,
        store: UsageStore | None,
        count_failure: Callable[[], None] = lambda: None,
    ) -> None:
        self._store = store
        self._count_failure = count_failure
        self._lock = threading.Lock()
        self._storing = threading.Lock()
        self._tallies: dict[str, dict[UsageKey, _Tally]] = {}
        self._thread = PeriodicThread("usage", _STORING_SECONDS, self.store_counts, "usage cannot be stored yet")

    def start(self) -> None:
        """Start the thread that stores the counts."""
        if self._store is not None:
            self._thread.start()

    def close(self) -> None:
        """Store the counts, and close the store."""
        self._thread.close()
        if self._store is not None:
            call_and_log(self.store_counts, "the last minute of usage is lost")
            self._store.close()

    def count_query(self, report: QueryReport, extension: str, client: Client, *, is_job: bool = False) -> None:
        """Count a finished query for each table that it read.

        Parameters
        ----------
        report : QueryReport
            The outcome of the query.
        extension : str
            The file extension of the output format.
        client : Client
            The client.
        is_job : bool
            Whether the query was a job.
        """
        if self._store is None or report.status in _NOT_COUNTED:
            return
        users = client.user_class or find_origin(client.name)
        keys = {UsageKey("table", _name_table(entry), users) for entry in report.tables}
        keys |= {UsageKey("all", "", users), UsageKey("format", extension, users)}
        seconds = report.seconds.get("engine", 0.0)
        has_failed = report.status not in _SUCCESSES
        counts = UsageCounts(1, int(has_failed), int(is_job), report.rows, report.bytes, seconds)
        month = f"{datetime.now(UTC):%Y-%m}"
        with self._lock:
            tallies = self._tallies.setdefault(month, {})
            for key in keys:
                tally = tallies.setdefault(key, _Tally())
                tally.counts.add(counts)
                if len(tally.clients) < _MAX_CLIENTS:
                    tally.clients.add(client.key)

    def store_counts(self) -> None:
        """Store the counts since the last call; counts that cannot be stored are kept. Raises UsageUnavailable."""
        if self._store is None:
            return
        with self._storing:
            while month := next(iter(self._tallies), ""):
                tallies: dict[UsageKey, _Tally] = {}
                try:
                    key = self._store.find_key(f"clients of {month}", _KEY_SECONDS)
                    with self._lock:
                        tallies = self._tallies.pop(month)
                    self._store.add_usage(month, {each: _seal_tally(tally, key) for each, tally in tallies.items()})
                except UsageUnavailable:
                    self._count_failure()
                    self._take_back(month, tallies)
                    raise

    def _take_back(self, month: str, tallies: dict[UsageKey, _Tally]) -> None:
        with self._lock:
            for key, tally in tallies.items():
                newer = self._tallies.setdefault(month, {}).setdefault(key, _Tally())
                newer.counts.add(tally.counts)
                newer.clients |= tally.clients


def find_origin(owner: str | None) -> str:
    """Return the class of a user without an assigned class: anonymous, local, or the name of the token issuer."""
    if owner is None:
        return ANONYMOUS
    issuer, colon, _ = owner.partition(":")
    return issuer if colon else LOCAL


def _name_table(entry: TableEntry) -> str:
    if entry.schema.name.startswith(SHARED_PREFIX):
        return SCHEMA_NAME
    return entry.schema.name if entry.schema.name in _PRIVATE_SCHEMAS else entry.qualified_name


def _seal_tally(tally: _Tally, key: bytes) -> UsageAddition:
    hashes = (hmac.new(key, client.encode(), hashlib.sha256).digest()[:8] for client in tally.clients)
    return UsageAddition(tally.counts, frozenset(hashes))
