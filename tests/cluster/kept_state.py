"""A state of a cluster's tables that tests can restore, in a sixth of the processor time of a load."""

from __future__ import annotations

import itertools
import time
from dataclasses import dataclass

from tap_service.storage.engine.engine import Engine

#: tables of Skyhouse with the records of loaded tables
_OWN = (
    "(database = 'skyhouse' AND name IN ('catalogue', 'density', 'appends', 'additions', 'watched_tables')"
    " OR database = 'TAP_SCHEMA' AND NOT endsWith(name, '__new'))"
)
_NUMBERS = itertools.count()


@dataclass(frozen=True)
class _Table:
    database: str
    name: str
    create_sql: str
    has_parts: bool

    @property
    def storage_sql(self) -> str:
        return f"`{self.database}`.`{self.name}`"

    @property
    def copy_sql(self) -> str:
        """Return a name that loads and moves do not recognise; they find their tables by names and comments."""
        return f"`{self.database}_{self.name}_`"


class KeptState:
    """The definitions and rows of the tables of a database on each server; rows are kept by links to their parts."""

    def __init__(self, engine: Engine, database: str) -> None:
        self._database = database
        self._copies = f"kept_{next(_NUMBERS)}"
        self._tables = [(server, self._list_tables(server)) for server in engine.require_servers()]
        for server, tables in self._tables:
            while server.fetch_table("SELECT 1 AS one FROM system.mutations WHERE NOT is_done").num_rows:
                time.sleep(0.02)  # a copy would have the parts before a running change, such as DROP COLUMN
            server.execute(f"CREATE DATABASE {self._copies}")
            for table in tables:
                if table.has_parts:
                    copy = f"{self._copies}.{table.copy_sql}"
                    server.execute(f"CREATE TABLE {copy} CLONE AS {table.storage_sql}")
                    if table.database == database:
                        server.execute(f"ALTER TABLE {copy} MODIFY COMMENT ''")

    def restore(self) -> None:
        for server, tables in self._tables:
            server.execute(f"DROP DATABASE IF EXISTS {self._database} SYNC")
            if any(table.database == self._database for table in tables):
                server.execute(f"CREATE DATABASE {self._database}")
            for table in tables:
                is_dropped = table.database == self._database
                server.execute(table.create_sql if is_dropped else f"TRUNCATE TABLE {table.storage_sql}")
                if table.has_parts:
                    copy = f"{self._copies}.{table.copy_sql}"
                    server.execute(f"ALTER TABLE {table.storage_sql} ATTACH PARTITION ALL FROM {copy}")

    def forget(self) -> None:
        for server, _ in self._tables:
            server.execute(f"DROP DATABASE {self._copies} SYNC")

    def _list_tables(self, server: Engine) -> list[_Table]:
        """Restore tables before views, which need existing tables."""
        sql = (
            "SELECT database, name, create_table_query AS create_sql, endsWith(engine, 'MergeTree') AS has_parts"
            f" FROM system.tables WHERE database = '{self._database}' OR {_OWN} ORDER BY has_parts DESC, engine"
        )
        return [_Table(**row) for row in server.fetch_table(sql).to_pylist()]
