"""Moves the rows of one table to their new shards, and verifies them.

The server of each shard fetches its rows from the servers that have them, all in parallel: no row passes through a
third server.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor

from clickhouse_schema.catalogue import TableEntry
from clickhouse_schema.cluster_ddl import create_sharded_sql
from clickhouse_schema.failpoints import Failpoint, reach
from clickhouse_schema.overlap_sql import Overlap
from clickhouse_schema.quoting import quote_identifier, quote_string, quote_table
from clickhouse_schema.shard_map import LOCAL, OVERLAP, SHARD_COLUMN, Sharding
from clickhouse_schema.stored_nulls import find_plain_columns, store_plainly
from clickhouse_schema.table_ddl import HPX29, given_columns
from clickhouse_schema.whole_tables import find_table_comment
from loaders.cluster.shard_plan import ShardPlan
from loaders.cluster.verify_shards import (
    find_home_problems,
    find_overlap_problems,
    find_server_problems,
)
from loaders.load_error import LoadError
from loaders.storage.replica_sync import wait_for_replicas
from loaders.storage.row_sums import fetch_row_sums

#: ClickHouse must not leave rows on their server. A shard may receive nothing for long, while other cells are read.
_MOVE_SETTINGS = {
    "parallel_distributed_insert_select": 0,
    "max_partitions_per_insert_block": 0,
    "receive_timeout": 86400,
}

#: Prefix of the ids of the statements that copy rows
MOVE_PREFIX = "move "

#: Column of a copied row with the HEALPix index that determines its new shard
_HOME_INDEX = "__at"


class TableMover:
    """Moves the rows of ``entry`` from ``plan.current`` to ``plan.wanted``."""

    def __init__(self, plan: ShardPlan, entry: TableEntry) -> None:
        self._plan = plan
        self._engine = plan.engine
        self._topology = plan.topology
        self._entry = entry
        self._schema_name = entry.schema.name
        self._ancestry = plan.find_ancestry(entry)
        layout = entry.table.layout
        self._has_overlap = bool(layout.position and layout.overlap_radius)
        self._overlap = Overlap(plan.wanted.map, layout.overlap_radius)

    def create_tables(self) -> None:
        """Create the tables of the wanted sharding on all servers."""
        base_name = self._get_base_name(self._plan.wanted)
        table = self._entry.table
        plain = find_plain_columns(self._engine, table, self._schema_name, [self._get_base_name(self._plan.current)])
        self._plan.servers.execute_everywhere(
            *create_sharded_sql(store_plainly(table, plain), self._schema_name, base_name, self._topology),
            point=Failpoint.MOVE_CREATE,
        )

    def copy_rows(self) -> None:
        """Copy the rows to their new shards, and from there the copies into the overlaps."""
        plan = self._plan
        self._wait_for_part(plan.current, LOCAL)
        self._fetch_part(LOCAL, self._indexed_rows_sql(), self._is_home_sql)
        if self._has_overlap:
            self._fetch_part(OVERLAP, self._all_rows_sql(plan.wanted), self._overlap.has_copy_sql)
        self._copy_comment()

    def _is_home_sql(self, shard: int) -> str:
        return self._plan.wanted.map.is_shard_sql(_HOME_INDEX, shard)

    def _fetch_part(self, part: str, rows_sql: str, is_of_shard_sql: Callable[[int], str]) -> None:
        """Let each shard fetch its rows of a part, and wait until all servers have them."""
        columns = ", ".join(quote_identifier(name) for name in given_columns(self._entry.table))
        target = quote_table(self._schema_name, self._get_base_name(self._plan.wanted), part)

        def fetch_rows(shard: int) -> None:
            self._plan.servers.get_shard_engine(shard).execute(
                f"INSERT INTO {target} ({columns}, {SHARD_COLUMN})"
                f" SELECT {columns}, toUInt16({shard}) FROM {rows_sql} WHERE {is_of_shard_sql(shard)}",
                _MOVE_SETTINGS,
                query_id=f"{MOVE_PREFIX}{uuid.uuid4().hex}",
            )
            reach(Failpoint.MOVE_FETCH_COPIES if part == OVERLAP else Failpoint.MOVE_FETCH)

        shards = range(self._plan.wanted.map.shard_count)
        with ThreadPoolExecutor(len(shards)) as threads:
            for done in [threads.submit(fetch_rows, shard) for shard in shards]:
                done.result()
        self._wait_for_part(self._plan.wanted, part)

    def _wait_for_part(self, sharding: Sharding, part: str) -> None:
        wait_for_replicas(self._plan.servers, [quote_table(self._schema_name, self._get_base_name(sharding), part)])

    def _indexed_rows_sql(self) -> str:
        """Return the SQL of all rows, each with the HEALPix index of its topmost ancestor."""
        rows = self._indexed_shard_rows_sql(self._ancestry, given_columns(self._entry.table))
        return f"cluster({quote_string(self._plan.current.cluster)}, view({rows}))"

    def _indexed_shard_rows_sql(self, ancestry: list[TableEntry], columns: Iterable[str]) -> str:
        """Return the SQL of a shard's own rows with this index; each shard has the parents of its rows."""
        entry, *ancestors = ancestry
        names = ", ".join(f"t.{quote_identifier(name)} AS {quote_identifier(name)}" for name in columns)
        key = entry.table.parent_key
        if key is None:
            return f"SELECT {names}, t.{HPX29} AS {_HOME_INDEX} FROM {entry.part_sql(LOCAL)} AS t"
        parents = self._indexed_shard_rows_sql(ancestors, key.referenced_columns)
        pairs = zip(key.columns, key.referenced_columns, strict=True)
        is_parent = " AND ".join(f"t.{quote_identifier(one)} = p.{quote_identifier(other)}" for one, other in pairs)
        joined = f"{entry.part_sql(LOCAL)} AS t LEFT ANY JOIN ({parents}) AS p ON {is_parent}"
        return f"SELECT {names}, p.{_HOME_INDEX} AS {_HOME_INDEX} FROM {joined}"

    def _copy_comment(self) -> None:
        old_name = self._get_base_name(self._plan.current) + LOCAL
        comment = find_table_comment(self._engine, self._topology, self._schema_name, old_name)
        name = quote_table(self._schema_name, self._get_base_name(self._plan.wanted), LOCAL)
        described = f"ALTER TABLE {name} MODIFY COMMENT {quote_string(comment)}"
        self._plan.servers.execute_everywhere(described, point=Failpoint.MOVE_DESCRIBE)

    def check_rows(self) -> None:
        """Raise ``LoadError`` unless the new tables have the rows of the old tables, on the right shards."""
        plan, table = self._plan, self._entry.table
        old_rows, new_rows = self._all_rows_sql(plan.current), self._all_rows_sql(plan.wanted)
        errors = []
        if fetch_row_sums(self._engine, table, old_rows) != fetch_row_sums(self._engine, table, new_rows):
            errors.append("the moved rows differ from the original rows")
        if len(self._ancestry) == 1:
            errors += find_home_problems(self._engine, plan.wanted.map, new_rows)
        errors += find_server_problems(self._engine, new_rows)
        if self._has_overlap:
            copies = self._all_rows_sql(plan.wanted, OVERLAP)
            errors += find_overlap_problems(self._engine, table, self._overlap, new_rows, copies)
        if errors:
            name = self._entry.qualified_name
            raise LoadError(f"{name} could not be moved, so nothing was moved: {'; '.join(errors)}")

    def _get_base_name(self, sharding: Sharding) -> str:
        return sharding.base_name(self._entry.table.name, self._entry.number)

    def _all_rows_sql(self, sharding: Sharding, part: str = LOCAL) -> str:
        """Return the SQL of all rows of a part, on all shards."""
        names = (sharding.cluster, self._schema_name, self._get_base_name(sharding) + part)
        return f"cluster({', '.join(map(quote_string, names))})"
