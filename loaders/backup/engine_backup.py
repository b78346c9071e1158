"""The tables of a backup, by ClickHouse's own BACKUP and RESTORE.

ClickHouse copies the rows that each table has when BACKUP starts, while the tables are read and changed. The copies of
all tables must be of one moment: the list of tables and the number of appended rows are compared before BACKUP and
when it has started to copy. If a load was published meanwhile, BACKUP is started again. The copied state is therefore
one that a power cut could leave, and that the next start repairs.

    embedded, one server       one BACKUP
    a cluster                  one for each server, which has its own tables
    a cluster with a Keeper    one ON CLUSTER: the replicas share the copying
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from clickhouse_schema.quoting import quote_identifier, quote_string
from clickhouse_schema.servers import Servers
from clickhouse_schema.shard_map import CLUSTER_NAME
from clickhouse_schema.tap_schema import TAP_SCHEMA
from clickhouse_schema.working_tables import STAGING_SUFFIX
from loaders.backup.backup_manifest import EngineBackup
from loaders.load_error import LoadError
from loaders.progress_reporter import Reporter
from tap_service.storage.engine.engine import Engine, EngineError
from tap_service.storage.engine.engine_errors import translate_error
from tap_service.storage.engine.merge_tables import MERGE_TABLE_PREFIX
from tap_service.storage.engine.query_tables import DATABASE, RESULT_OF_EXPORT, UPLOAD_OF_JOB, UPLOAD_OF_SYNC

#: Databases of ClickHouse itself, and databases that are rebuilt at each start
_LEFT_OUT = ("system", "information_schema", "INFORMATION_SCHEMA", TAP_SCHEMA.name)

_QUERY_TABLES = " OR ".join(
    f"startsWith(name, {quote_string(prefix)})"
    for prefix in (UPLOAD_OF_JOB, UPLOAD_OF_SYNC, RESULT_OF_EXPORT, MERGE_TABLE_PREFIX)
)

#: The tables of a backup: without tables of queries, and without stopped loads, which can be started again
_TABLES_SQL = f"""
SELECT database, name, toString(uuid) AS id, comment FROM system.tables
WHERE NOT is_temporary AND database NOT IN ({", ".join(quote_string(name) for name in _LEFT_OUT)})
AND NOT (database = {quote_string(DATABASE)} AND ({_QUERY_TABLES}))
AND NOT endsWith(name, {quote_string(STAGING_SUFFIX)}) ORDER BY database, name
"""

#: Versions that change with each change of rows by loads and users
_VERSIONS_SQL = " UNION ALL ".join(
    f"SELECT max(version) AS version FROM skyhouse.{name}" for name in ("appends", "catalogue", "user_tables")
)

#: How often BACKUP is tried while loads are published
_MAX_TRIES = 5
_POLL_SECONDS = 0.1

#: Comment of a database whose restore is not finished
_RESTORING = "skyhouse restore is not finished"
#: Comment of a restored database: ClickHouse cannot remove a comment (26.9).
_RESTORED = "restored by skyhouse"


@dataclass(frozen=True, slots=True)
class _State:
    """The names of the tables by server, and a ``stamp`` that changes with every change of the tables."""

    tables: tuple[tuple[str, ...], ...]
    databases: frozenset[str]
    stamp: tuple[object, ...]


def list_backup_servers(servers: Servers[Engine]) -> list[Engine]:
    """Return the servers that execute a BACKUP or RESTORE, in the order of the shards."""
    if servers.topology.is_replicated or not servers.topology.is_cluster:
        return [servers.engine]
    return sorted(servers.list_engines(), key=servers.get_shard)


def back_up_tables(
    servers: Servers[Engine], build_location: Callable[[str], str], bases: Sequence[str], reporter: Reporter
) -> tuple[frozenset[str], tuple[EngineBackup, ...]]:
    """Copy all tables.

    Parameters
    ----------
    servers : Servers[Engine]
        All servers must answer.
    build_location : callable
        Returns the SQL of a folder of this backup.
    bases : sequence of str
        The SQL of the folders of the full backup to which this one adds, one for each server; empty for a full backup.
    reporter : Reporter
        Receives messages.

    Returns
    -------
    tuple
        The databases, and what was written by each of ``list_backup_servers``.

    Raises
    ------
    LoadError
        Loads are published too often.
    EngineError
        ClickHouse cannot write to the target. The embedded engine does not notice a full disk.
    """
    engines = list_backup_servers(servers)
    for number in range(_MAX_TRIES):
        before = _read_state(engines)
        folders = [f"tables-{number}-{server}" for server in range(len(engines))]
        try:
            with _running_operations(engines) as operations:
                for index, (operation, folder) in enumerate(zip(operations, folders, strict=True)):
                    of_base = f"base_backup = {bases[index]}" if bases else ""
                    tables = ", ".join(f"TABLE {name}" for name in before.tables[index])
                    target = build_location(folder)
                    operation.start(f"BACKUP {tables}{_on_cluster(servers)} TO {target}", of_base)
                for operation in operations:
                    operation.wait_until_copying(reporter)
                if _read_state(engines).stamp == before.stamp:
                    sizes = [operation.wait_until_done(reporter) for operation in operations]
                    written = (EngineBackup(folder=name, bytes=size) for name, size in zip(folders, sizes, strict=True))
                    return before.databases, tuple(written)
        except EngineError:
            if _read_state(engines).stamp == before.stamp:
                raise
        reporter.message("a table was changed meanwhile: copying the tables again")
    raise LoadError("tables keep changing: stop the loads, and start the backup again")


def restore_tables(
    servers: Servers[Engine], databases: Sequence[str], folders: Sequence[str], bases: Sequence[str], reporter: Reporter
) -> None:
    """Restore the tables of a backup on servers without tables of Skyhouse.

    Parameters
    ----------
    servers : Servers[Engine]
        All servers must answer, and must be set up like the servers of the backup.
    databases : sequence of str
        The databases of the backup. What a stopped restore left in them is deleted.
    folders, bases : sequence of str
        The SQL of the folders of the backup, and of the full backup to which it adds, one for each server.
    reporter : Reporter
        Receives messages.

    Raises
    ------
    LoadError
        A database of the backup exists.
    EngineError
        ClickHouse cannot read the backup.
    """
    engines = list_backup_servers(servers)
    names = ", ".join(quote_string(name) for name in databases)
    for engine in servers.list_engines():
        found = engine.fetch_table(f"SELECT name, comment FROM system.databases WHERE name IN ({names})").to_pylist()
        existing = [row["name"] for row in found if row["comment"] != _RESTORING]
        if existing:
            raise LoadError(
                f"a ClickHouse server has the databases {', '.join(existing)} already: restore into servers without"
                " tables, or drop these databases first"
            )
    for name in databases:
        quoted = quote_identifier(name)
        servers.execute_everywhere(
            f"DROP DATABASE IF EXISTS {quoted} SYNC",
            f"CREATE DATABASE {quoted} ENGINE = Atomic COMMENT {quote_string(_RESTORING)}",
        )
    with _running_operations(engines) as operations:
        for index, operation in enumerate(operations):
            of_base = f"base_backup = {bases[index]}" if bases else ""
            operation.start(f"RESTORE ALL{_on_cluster(servers)} FROM {folders[index]}", of_base)
        for operation in operations:
            operation.wait_until_done(reporter)
    for name in databases:
        servers.execute_everywhere(f"ALTER DATABASE {quote_identifier(name)} MODIFY COMMENT {quote_string(_RESTORED)}")


class _Operation:
    """A BACKUP or RESTORE on one server, whose progress is read from system.backups."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._id = f"skyhouse-{uuid.uuid4()}"
        self._is_started = False

    def start(self, sql: str, settings: str) -> None:
        given = ", ".join(filter(None, (settings, f"id = {quote_string(self._id)}")))
        self._is_started = True
        self._engine.execute(f"{sql} SETTINGS {given} ASYNC")

    def wait_until_copying(self, reporter: Reporter) -> None:
        """Wait until ClickHouse has listed and locked the files to copy. Raises ``EngineError`` if that fails."""
        while (row := self._read_row())["status"] == "CREATING_BACKUP" and not row["num_files"]:
            _pause(reporter)

    def wait_until_done(self, reporter: Reporter) -> int:
        """Return the number of bytes written. Raises ``EngineError`` if the operation fails."""
        while self._is_running(row := self._read_row()):
            _pause(reporter)
        return int(row["bytes"])

    def stop(self) -> None:
        """Stop the operation if it is running, and wait for its end."""
        while self._is_started:
            rows = self._find_rows()
            if not rows or not self._is_running(rows[0]):
                return
            self._engine.execute(f"KILL QUERY WHERE query_id = {quote_string(rows[0]['query_id'])} ASYNC")
            time.sleep(_POLL_SECONDS)

    @staticmethod
    def _is_running(row: dict[str, Any]) -> bool:
        return row["status"] in ("CREATING_BACKUP", "RESTORING")

    def _read_row(self) -> dict[str, Any]:
        row = self._find_rows()[0]
        if row["error"]:
            raise translate_error(str(row["error"]).partition(", Stack trace")[0])
        return row

    def _find_rows(self) -> list[dict[str, Any]]:
        columns = "toString(status) AS status, query_id, num_files, compressed_size AS bytes, error"
        sql = f"SELECT {columns} FROM system.backups WHERE id = {quote_string(self._id)}"
        found: list[dict[str, Any]] = self._engine.fetch_table(sql).to_pylist()
        return found


@contextmanager
def _running_operations(engines: Sequence[Engine]) -> Iterator[list[_Operation]]:
    """Stop operations that still run at the end, after an error or the user's interrupt."""
    operations = [_Operation(engine) for engine in engines]
    try:
        yield operations
    finally:
        for operation in operations:
            operation.stop()


def _read_state(engines: Sequence[Engine]) -> _State:
    found = [engine.fetch_table(_TABLES_SQL).to_pylist() for engine in engines]
    tables = tuple(
        tuple(f"{quote_identifier(row['database'])}.{quote_identifier(row['name'])}" for row in rows) for rows in found
    )
    versions = [sorted(engine.fetch_table(_VERSIONS_SQL).column(0).to_pylist()) for engine in engines]
    databases = frozenset(row["database"] for rows in found for row in rows)
    return _State(tables, databases, (str(found), str(versions)))


def _on_cluster(servers: Servers[Engine]) -> str:
    return f" ON CLUSTER {quote_identifier(CLUSTER_NAME)}" if servers.topology.is_replicated else ""


def _pause(reporter: Reporter) -> None:
    reporter.check()
    time.sleep(_POLL_SECONDS)
