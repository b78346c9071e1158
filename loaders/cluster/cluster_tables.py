"""The tables of one logical table on a cluster: their names, parts, and statements for all servers.

Each load creates tables with the next number in their names (``Sharding.base_name``), and becomes visible by one INSERT
into the catalogue: readers see the complete load on all shards, or the previous rows.

A whole table, which is not sharded, has one part without a suffix. Without a Keeper, each server gets its rows like a
shard: ``shards`` are then the servers.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cached_property

from clickhouse_schema.catalogue import Catalogue, TableEntry
from clickhouse_schema.cluster_ddl import create_margin_sql, create_sharded_sql, drop_sharded_sql
from clickhouse_schema.cluster_topology import Statement, Topology
from clickhouse_schema.failpoints import Failpoint
from clickhouse_schema.overlap_sql import Overlap
from clickhouse_schema.quoting import quote_string, quote_table
from clickhouse_schema.schema_model import Table
from clickhouse_schema.servers import Servers
from clickhouse_schema.shard_map import LOCAL, MARGIN, OVERLAP, SHARD_COLUMN, Sharding
from clickhouse_schema.stored_nulls import allow_nulls_sql, find_plain_columns
from clickhouse_schema.table_ddl import create_table_sql
from loaders.load_error import LoadError
from loaders.storage.stored_table import WAIT_SETTINGS, has_table
from tap_service.storage.engine.engine import Engine


class ClusterTables:
    """The tables of ``table``. ``live_number``: number of the tables that queries read; None before the first load."""

    def __init__(self, engine: Engine, schema_name: str, table: Table, catalogue: Catalogue) -> None:
        if catalogue.sharding is None:
            raise ValueError("not a cluster")
        self.engine = engine
        self.schema_name = schema_name
        self.table = table
        self.catalogue = catalogue
        self.sharding: Sharding = catalogue.sharding
        self.servers = Servers(engine)
        self.topology: Topology = self.servers.topology
        entry = catalogue.find_entry(schema_name, table.name)
        self.live_number = entry.number if entry else None

    @cached_property
    def parent(self) -> TableEntry | None:
        """The table whose rows determine the shards of this table's rows. Raises ``LoadError`` if it does not exist."""
        key = self.table.parent_key
        if key is None or not self.table.is_sharded:
            return None
        schema_name, _, name = key.referenced_table.rpartition(".")
        entry = self.catalogue.find_entry(schema_name, name)
        if entry is None:
            raise LoadError(
                f"rows of {self.table.name} are stored with rows of {key.referenced_table}: load that table first"
            )
        return entry

    # --- names --------------------------------------------------------------------------------------------------------

    @property
    def parts(self) -> tuple[str, ...]:
        """The suffixes of the parts, in the order in which they receive rows."""
        return (OVERLAP, LOCAL) if self.table.is_sharded else ("",)

    @property
    def shards(self) -> range:
        """The shards of a sharded table; of a whole table the copies that receive rows separately, from 0."""
        if self.table.is_sharded:
            return range(self.sharding.map.shard_count)
        return range(1 if self.topology.is_replicated else self.topology.shards)

    @property
    def live_base(self) -> str:
        """The base name of the tables that queries read."""
        return self.get_base_name(self.live_number or 0)

    @property
    def next_number(self) -> int:
        return 0 if self.live_number is None else self.live_number + 1

    @property
    def next_base(self) -> str:
        """The base name of the tables that a load fills."""
        return self.get_base_name(self.next_number)

    def get_base_name(self, number: int) -> str:
        return self.sharding.base_name(self.table.name, number, is_sharded=self.table.is_sharded)

    def get_state_name(self, base_name: str) -> str:
        """Return the name of the table whose comment holds the state."""
        return base_name + self.parts[-1]

    def quote_rows_table(self, base_name: str, part: str) -> str:
        return quote_table(self.schema_name, base_name, part)

    def all_rows_sql(self, part: str, base_name: str = "") -> str:
        """Return the SQL of all rows of a part, on all ``shards``; by default of the live table."""
        base_name = base_name or self.live_base
        if len(self.shards) == 1 and not self.table.is_sharded:
            return self.quote_rows_table(base_name, part)
        names = (self.sharding.cluster, self.schema_name, base_name + part)
        return f"cluster({', '.join(map(quote_string, names))})"

    @property
    def shard_number_sql(self) -> str:
        """The SQL of the shard of a row of ``all_rows_sql``."""
        if self.table.is_sharded:
            return SHARD_COLUMN
        return "0" if len(self.shards) == 1 else "toUInt16(_shard_num - 1)"

    def insert_target_sql(self, part: str, base_name: str, shard: int) -> str:
        """Return the target of INSERT for rows of a part. ``shard``: which copy of a whole table receives them."""
        if self.table.is_sharded:
            return self.topology.insert_target_sql(self.schema_name, base_name, part)
        if len(self.shards) == 1:
            return self.quote_rows_table(base_name, part)
        names = ", ".join(map(quote_string, (self.sharding.cluster, self.schema_name, base_name)))
        return f"FUNCTION cluster({names}, toUInt16({shard}))"

    def all_servers_sql(self, system_table: str) -> str:
        """Return the SQL of a system table on all servers."""
        return self.topology.all_servers_sql(f"system.{system_table}")

    # --- overlap ------------------------------------------------------------------------------------------------------

    @cached_property
    def overlap(self) -> Overlap:
        return Overlap(self.sharding.map, self.table.layout.overlap_radius)

    @property
    def has_overlap(self) -> bool:
        return self.table.is_sharded and bool(self.table.layout.position and self.table.layout.overlap_radius)

    # --- statements ---------------------------------------------------------------------------------------------------

    def create_tables(self, table: Table) -> None:
        """Create the tables that the next load fills."""
        self.servers.execute_everywhere(*self._create_sql(table), point=Failpoint.STAGING_CREATE)

    def _create_sql(self, table: Table) -> list[str]:
        if table.is_sharded:
            return create_sharded_sql(table, self.schema_name, self.next_base, self.topology)
        return [create_table_sql(table, quote_table(self.schema_name, self.next_base), self.topology)]

    def find_plain_columns(self, table: Table, base_name: str) -> set[str]:
        """Return the nullable columns that are not Nullable in some table or view of ``base_name``."""
        suffixes = ("", LOCAL, OVERLAP, MARGIN) if self.table.is_sharded else ("",)
        names = [base_name + suffix for suffix in suffixes]
        return find_plain_columns(self.engine, table, self.schema_name, names, self.all_servers_sql("columns"))

    def allow_nulls(self, table: Table, base_name: str, columns: Collection[str]) -> None:
        """Make columns Nullable: first in the tables with the rows, then in the tables and views that read them."""
        change = allow_nulls_sql(table, columns)
        for part in self.parts:
            self.alter_rows(base_name + part, change, WAIT_SETTINGS)
        if self.table.is_sharded:
            self.servers.execute_everywhere(
                create_margin_sql(table, self.schema_name, base_name),
                f"ALTER TABLE {quote_table(self.schema_name, base_name)} {change}",
            )

    def alter_rows(
        self, name: str, change: str, settings: Mapping[str, int], *, point: Failpoint | None = None
    ) -> None:
        """Change rows, columns or indexes of a table; replicas copy the change."""
        target = self.topology.choose_rows_target(is_sharded=self.table.is_sharded)
        statement = Statement(f"ALTER TABLE {quote_table(self.schema_name, name)} {change}", target)
        self.servers.execute_statement(statement, settings, point=point)

    def write_comment(self, name: str, comment_sql: str, *, point: Failpoint) -> None:
        self.servers.execute_everywhere(
            f"ALTER TABLE {quote_table(self.schema_name, name)} MODIFY COMMENT {comment_sql}", point=point
        )

    def drop_base(self, base_name: str) -> None:
        if self.table.is_sharded:
            statements = drop_sharded_sql(self.schema_name, base_name, self.topology)
        else:
            name = quote_table(self.schema_name, base_name)
            statements = [f"DROP TABLE IF EXISTS {name}{self.topology.drop_clause}"]
        self.servers.execute_everywhere(*statements, point=Failpoint.TABLE_DROP)

    def drop_replaced(self) -> None:
        """Drop the tables that the live tables have replaced."""
        for number in range(self.live_number or 0):
            base_name = self.get_base_name(number)
            if has_table(self.engine, self.schema_name, self.get_state_name(base_name)):
                self.drop_base(base_name)
