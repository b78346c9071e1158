"""Drops user tables that have not been used for long, and storage that dead processes have left."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from datetime import UTC, date, datetime, time, timedelta

from clickhouse_schema.engine_tables import user_table_record, visible_user_tables
from clickhouse_schema.engine_tables.user_table_record import STAGING_PREFIX, UserTable
from tap_service.config import Config
from tap_service.constants import FILLING_SECONDS
from tap_service.models.timestamps import now
from tap_service.services.user_tables.user_table_storage import UserTableStorage
from tap_service.storage.engine.engine import Engine

_log = logging.getLogger("skyhouse")


def expiry_time(record: UserTable, last_use: str | None, days: int) -> datetime | None:
    """Return when a user table expires unless it is used.

    Parameters
    ----------
    record : UserTable
        The table.
    last_use : str or None
        The date of the last use, in ISO 8601; None if it was never used.
    days : int
        The lifetime of unused tables, 0 for no limit.

    Returns
    -------
    datetime or None
        The expiry; None if the table never expires.
    """
    if not days:
        return None
    last = record.changed
    if last_use:
        end_of_day = datetime.combine(date.fromisoformat(last_use), time(), UTC) + timedelta(days=1)
        last = max(last, end_of_day)
    return last + timedelta(days=days)


class UserTableExpiry:
    """The sweep of user tables by a process."""

    def __init__(self, config: Config, engine: Engine) -> None:
        self._engine = engine
        self._storage = UserTableStorage(config, engine)
        self._days = config.user_table_days
        self._seen_before: set[str] = set()

    def sweep_tables(self, *, alone: bool = False) -> None:
        """Drop expired tables, and storage without a table.

        A query that was translated earlier may still read storage without a table, so such storage is dropped by the
        second sweep that finds it.

        Parameters
        ----------
        alone : bool
            Whether no other process is running, so that the first sweep can drop it.

        Raises
        ------
        EngineError, JobStoreUnavailable
            The engine does not answer, or the lock is unavailable.
        """
        with self._storage.change_lock():
            records = tuple(self._drop_expired(user_table_record.read_all_user_tables(self._engine)))
            servers = [
                (each, user_table_record.find_unknown_storage(each, records)) for each in self._engine.list_servers()
            ]
            ids = user_table_record.find_unknown_descriptions(self._engine, records)
            visible_user_tables.forget_readers(self._engine, records)
        gone = []
        for server, tables in servers:
            over = [name for name, age in tables.items() if alone or self._is_abandoned(name, age)]
            for name in over:
                if not user_table_record.is_storage_read(server, name):
                    user_table_record.drop_storage(server, name)
                    gone.append(name)
        user_table_record.forget_user_tables(self._engine, ids if alone else ids & self._seen_before, gone)
        self._seen_before = {*ids, *(name for _, tables in servers for name in tables)}

    def _drop_expired(self, records: Iterable[UserTable]) -> Iterable[UserTable]:
        records = tuple(records)
        uses = user_table_record.read_last_uses(self._engine, [record.described for record in records])
        for record in records:
            end = expiry_time(record, uses.get(record.described), self._days)
            if end is None or end > now():
                yield record
            else:
                _log.warning(
                    "dropping the table %s of %r, which has not been used since its retention period began",
                    record.qualified_name,
                    record.owner,
                )
                user_table_record.remove_user_table(self._engine, record.owner, record.table.name)

    def _is_abandoned(self, name: str, age: int) -> bool:
        return age >= FILLING_SECONDS if name.startswith(STAGING_PREFIX) else name in self._seen_before
