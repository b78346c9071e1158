"""The sharded tables that exist in the engine, of all shardings and of unfinished loads."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from clickhouse_schema.catalogue import TableEntry
from clickhouse_schema.cluster_ddl import drop_sharded_sql
from clickhouse_schema.engine_tables.catalogue_log import read_table_version
from clickhouse_schema.quoting import quote_string
from clickhouse_schema.shard_map import BASE_PATTERN, LOCAL, Sharding
from loaders.cluster.shard_plan import ShardPlan
from loaders.load_error import LoadError
from loaders.storage.gateway_table import APPEND_SUFFIX
from loaders.storage.replica_sync import wait_for_replicas

_BASE_NAME = re.compile(BASE_PATTERN, re.DOTALL)


@dataclass(frozen=True, slots=True)
class _StoredTable:
    """The tables of one base name. ``entry``: None if the catalogue has no such sharded table."""

    database: str
    base_name: str
    name: str
    entry: TableEntry | None
    generation: int
    number: int

    @property
    def qualified_name(self) -> str:
        return f"{self.database}.{self.name}"

    @property
    def advice(self) -> str:
        """What to do about an unfinished load, for a message."""
        if self.base_name.endswith(APPEND_SUFFIX):
            return "any load into the table finishes it"
        return "start it again" + ("" if self.entry else f", or skyhouse drop {self.qualified_name}")


def _find_stored_tables(plan: ShardPlan) -> Iterator[_StoredTable]:
    """Find sharded tables, and the gateways of appends."""
    where = " OR ".join(f"endsWith(name, {quote_string(suffix)})" for suffix in (LOCAL, APPEND_SUFFIX))
    everywhere = plan.topology.all_servers_sql("system.tables")
    sql = f"SELECT DISTINCT database, name FROM {everywhere} WHERE {where} ORDER BY database, name"
    entries = {(entry.schema.name, entry.table.name): entry for entry in plan.entries}
    for row in plan.engine.fetch_table(sql).to_pylist():
        base_name = row["name"].removesuffix(LOCAL)
        parsed = _BASE_NAME.fullmatch(base_name.removesuffix(APPEND_SUFFIX))
        assert parsed is not None  # noqa: S101  the pattern matches any name
        name, generation, number = parsed.groups("0")
        entry = None if base_name.endswith(APPEND_SUFFIX) else entries.get((row["database"], name))
        yield _StoredTable(row["database"], base_name, name, entry, int(generation), int(number))


def refuse_unfinished_loads(plan: ShardPlan) -> None:
    """Raise ``LoadError`` if there is an unfinished load, whose rows would not be moved."""
    for found in _find_stored_tables(plan):
        entry = found.entry
        is_staging = entry is not None and found.generation == plan.current.generation and found.number > entry.number
        if entry is None or is_staging:
            raise LoadError(f"a load into {found.qualified_name} has not ended, so nothing was moved: {found.advice}")


def drop_other_generations(plan: ShardPlan, kept: Sharding) -> None:
    """Drop the tables of all other shardings: earlier shardings and unfinished moves."""
    for found in _find_stored_tables(plan):
        if found.entry is not None and found.generation != kept.generation:
            plan.servers.execute_everywhere(*drop_sharded_sql(found.database, found.base_name, plan.topology))


def read_load_versions(plan: ShardPlan) -> tuple[int, int]:
    """Return two versions that change with every load, append and drop through any server."""
    wait_for_replicas(plan.servers, ["skyhouse.catalogue", "skyhouse.appends"])
    appends = plan.engine.fetch_table("SELECT max(version) AS version FROM skyhouse.appends")
    return read_table_version(plan.engine), int(appends.column(0)[0].as_py())
