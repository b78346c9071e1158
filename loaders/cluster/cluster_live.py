"""The live tables of a cluster, which queries read and to which rows are appended."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from clickhouse_schema.engine_tables.catalogue_log import is_move_announced, read_sharding
from clickhouse_schema.engine_tables.density_table import read_density
from clickhouse_schema.quoting import quote_table
from clickhouse_schema.schema_model import Table
from clickhouse_schema.shard_map import LOCAL, OVERLAP
from clickhouse_schema.whole_tables import find_table_comment
from loaders.cluster import verify_shards
from loaders.cluster.cluster_tables import ClusterTables
from loaders.cluster.row_sender import RowSender
from loaders.load_error import LoadError
from loaders.storage.gateway_table import APPEND_SUFFIX, Gateway, drop_gateway
from loaders.storage.load_state import TableState, parse_state


class ClusterLiveTable:
    """The ``LiveTable`` of a cluster."""

    def __init__(self, tables: ClusterTables) -> None:
        self._tables = tables
        self._engine = tables.engine

    @property
    def name(self) -> str:
        return self._tables.get_state_name(self._tables.live_base) if self.has_table() else ""

    @property
    def rows_sql(self) -> str:
        tables = self._tables
        return tables.all_rows_sql(LOCAL) if tables.table.is_sharded else tables.quote_rows_table(tables.live_base, "")

    @property
    def is_one_table(self) -> bool:
        return not self._tables.table.is_sharded

    @property
    def storage_names(self) -> list[str]:
        return [self._tables.quote_rows_table(self._tables.live_base, part) for part in self._tables.parts]

    def has_table(self) -> bool:
        return self._tables.live_number is not None

    def read_state(self) -> TableState | None:
        tables = self._tables
        comment = find_table_comment(self._engine, tables.topology, tables.schema_name, self.name)
        state = parse_state(comment)
        if state is None:
            return None
        return state.model_copy(update={"entry": state.entry.model_copy(update={"tables": (tables.table,)})})

    def check_shards(self) -> tuple[list[str], list[str]]:
        tables = self._tables
        if not tables.table.is_sharded:
            return [], verify_shards.find_unequal_servers(
                self._engine, tables.table, tables.all_rows_sql(""), tables.shard_number_sql, tables.shards
            )
        local, copies = tables.all_rows_sql(LOCAL), tables.all_rows_sql(OVERLAP)
        row_counts, copy_counts = (verify_shards.count_rows_by_shard(self._engine, part) for part in (local, copies))
        lines = [
            f"shard {shard}: {row_counts.get(shard, 0):,} rows,"
            f" {copy_counts.get(shard, 0):,} copies of rows of other shards"
            for shard in tables.shards
        ]
        errors = verify_shards.find_server_problems(self._engine, local)
        errors += verify_shards.find_server_problems(self._engine, copies)
        errors += self._find_home_problems(row_counts, local)
        if tables.has_overlap:
            errors += verify_shards.find_overlap_problems(self._engine, tables.table, tables.overlap, local, copies)
        elif copy_counts:
            errors.append(f"{sum(copy_counts.values()):,} copies are in overlaps that should be empty")
        return lines, errors

    def _find_home_problems(self, row_counts: Mapping[int, int], local: str) -> list[str]:
        tables = self._tables
        if tables.parent is not None:
            part = quote_table(tables.schema_name, tables.live_base, LOCAL)
            return verify_shards.find_child_problems(self._engine, tables.table, part, tables.parent, tables.sharding)
        density = read_density(self._engine, tables.schema_name, tables.table.name)
        order = tables.table.layout.healpix_order
        shard_map = tables.sharding.map
        count_problems = verify_shards.find_count_problems(row_counts, density, order, shard_map)
        return count_problems + verify_shards.find_home_problems(self._engine, shard_map, local)

    def drop_table(self) -> None:
        tables = self._tables
        drop_gateway(tables.servers, tables.schema_name, tables.table.name + APPEND_SUFFIX)
        tables.drop_replaced()
        tables.drop_base(tables.live_base)


class ClusterAppendTarget:
    """The ``AppendTarget`` of a cluster."""

    def __init__(self, tables: ClusterTables, sender: RowSender) -> None:
        self._tables = tables
        self._sender = sender
        self._engine = tables.engine

    def open_gateway(self, table: Table) -> Gateway:
        tables = self._tables
        name = tables.table.name + APPEND_SUFFIX
        return Gateway(tables.servers, tables.schema_name, name, table, tables.parent, is_kept=True)

    def count_part_rows(self) -> dict[str, int]:
        """Return the number of rows by part and shard."""
        tables = self._tables
        self._sender.wait_for_rows(tables.live_base)
        counts = {_get_part_key(part, shard): 0 for part in tables.parts for shard in tables.shards}
        for part in tables.parts:
            shard, rows = tables.shard_number_sql, tables.all_rows_sql(part)
            counted = self._engine.fetch_table(f"SELECT {shard} AS shard, count() AS rows FROM {rows} GROUP BY shard")
            counts |= {_get_part_key(part, row["shard"]): row["rows"] for row in counted.to_pylist()}
        return counts

    def sum_own_rows(self, part_rows: Mapping[str, int]) -> int:
        tables = self._tables
        rows = [part_rows.get(_get_part_key(tables.parts[-1], shard), 0) for shard in tables.shards]
        return sum(rows) if tables.table.is_sharded else min(rows)

    def find_plain_columns(self, table: Table) -> set[str]:
        return self._tables.find_plain_columns(table, self._tables.live_base)

    def allow_nulls(self, table: Table, columns: Collection[str]) -> None:
        self._tables.allow_nulls(table, self._tables.live_base, columns)

    def insert_rows(self, gateway: Gateway, parts: Collection[str]) -> None:
        base_name = self._tables.live_base
        for part in self._tables.parts:
            shards = [shard for shard in self._tables.shards if _get_part_key(part, shard) in parts]
            self._sender.send_rows(gateway, part, base_name, shards)
            self._sender.wait_for_copies(base_name, part)  # copies must be on all servers before the rows are

    def refuse_moved_shards(self) -> None:
        refuse_moved_shards(self._tables)


def refuse_moved_shards(tables: ClusterTables) -> None:
    """Raise ``LoadError`` if the shards were moved since ``tables`` was created, or are about to be.

    A move looks for loads after its announcement, so the move or the load notices the other.
    """
    if is_move_announced(tables.engine):
        raise LoadError(
            f"the shards are being moved, so {tables.table.name} was not changed: start the load again when skyhouse"
            " shards move has ended. If that was stopped, start it again"
        )
    if read_sharding(tables.engine) != tables.sharding:
        raise LoadError(
            f"the shards were moved during the load, so {tables.table.name} was not changed: start the load again"
        )


def _get_part_key(part: str, shard: int) -> str:
    return f"{part} {shard}"
