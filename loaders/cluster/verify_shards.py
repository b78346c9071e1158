"""Are the rows of a sharded table where they belong: each on its own shard, its copies once where they must be."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from clickhouse_schema.catalogue import Catalogue, TableEntry
from clickhouse_schema.overlap_sql import Overlap
from clickhouse_schema.quoting import quote_identifier, quote_string
from clickhouse_schema.schema_model import Table
from clickhouse_schema.shard_map import LOCAL, SHARD_COLUMN, Sharding, ShardMap
from clickhouse_schema.table_ddl import HPX29, given_columns
from tap_service.storage.engine.engine import Engine


def rows_by_shard(engine: Engine, local: str) -> dict[int, int]:
    """``local`` is SQL of a table of all shards' rows."""
    found = engine.fetch_table(
        f"SELECT {SHARD_COLUMN} AS shard, count() AS rows FROM {local} GROUP BY shard ORDER BY shard"
    )
    return {row["shard"]: row["rows"] for row in found.to_pylist()}


def count_faults(found: Mapping[int, int], density: pa.Table, order: int, shards: ShardMap) -> list[str]:
    """Where a shard has not as many rows as were counted in its cells, of ``order``, when they were loaded."""
    if order < shards.order:
        return []
    cells = density["cell"].to_numpy() >> 2 * (order - shards.order)
    counted = np.bincount(np.array(shards.cells)[cells], density["rows"].to_numpy(), shards.shard_count)
    return [
        f"shard {shard} has {found.get(shard, 0):,} rows where {int(rows):,} were loaded"
        for shard, rows in enumerate(counted)
        if found.get(shard, 0) != int(rows)
    ]


def home_faults(engine: Engine, shards: ShardMap, local: str) -> list[str]:
    """Rows whose shard is not that of their position."""
    is_wrong = f"{SHARD_COLUMN} != {shards.shard_sql(HPX29)}"
    sql = f"SELECT {SHARD_COLUMN} AS shard, count() AS rows FROM {local} WHERE {is_wrong}"
    return [
        f"shard {row['shard']} has {row['rows']:,} rows that belong to others"
        for row in engine.fetch_table(f"{sql} GROUP BY shard ORDER BY shard").to_pylist()
    ]


def server_faults(engine: Engine, part: str) -> list[str]:
    """Rows that are on another server than their shard's; ``part`` is SQL of a table of all shards' rows."""
    is_wrong = f"{SHARD_COLUMN} != _shard_num - 1"
    sql = f"SELECT _shard_num - 1 AS shard, count() AS rows FROM {part} WHERE {is_wrong} GROUP BY shard"
    return [
        f"the servers of shard {row['shard']} have {row['rows']:,} rows with the number of another"
        for row in engine.fetch_table(f"{sql} ORDER BY shard").to_pylist()
    ]


def child_faults(engine: Engine, table: Table, part: str, parent: TableEntry, placement: Sharding) -> list[str]:
    """Rows without a parent on their shard; ``part`` is the quoted name of the shards' own rows."""
    key = table.parent_key
    assert key is not None  # noqa: S101  asked of children alone
    equal = " AND ".join(
        f"c.{quote_identifier(name)} = p.{quote_identifier(other)}"
        for name, other in zip(key.columns, key.referenced_columns, strict=True)
    )
    alone = (
        f"SELECT shardNum() - 1 AS shard, count() AS rows FROM {part} AS c"
        f" LEFT ANTI JOIN {parent.part_sql(LOCAL)} AS p ON {equal} GROUP BY shard"
    )
    sql = f"SELECT shard, rows FROM cluster({quote_string(placement.cluster)}, view({alone})) ORDER BY shard"
    return [
        f"shard {row['shard']} has {row['rows']:,} rows without their row of {key.referenced_table}"
        for row in engine.fetch_table(sql).to_pylist()
    ]


def left_behind(engine: Engine, catalogue: Catalogue, parent: TableEntry, placement: Sharding) -> list[str]:
    """Children that are with a table's rows, and would not be with those that were filled for it: ``parent``."""
    wrong = []
    for child in catalogue.entries:
        key = child.table.parent_key
        if child.is_sharded and key is not None and key.referenced_table == parent.qualified_name:
            faults = child_faults(engine, child.table, child.part_sql(LOCAL), parent, placement)
            wrong += [f"of {child.qualified_name}, {fault}: drop it first" for fault in faults]
    return wrong


def overlap_faults(engine: Engine, table: Table, overlap: Overlap, local: str, copies: str) -> list[str]:
    """What is wrong, by shard. ``local`` and ``copies`` are SQL of tables of all shards' rows and copies.

    Rows are compared by a hash of all columns that they come with: counts and sums of the hashes first, which is one
    pass over the rows; the rows one by one, by their hashes, of shards where those differ.
    """
    row = row_hash(table)
    holder = f"arrayJoin({overlap.copy_shards_sql(HPX29, SHARD_COLUMN)})"
    sums = f"count() AS rows, sum({row}) AS hashes"
    wanted = _by_shard(engine, f"SELECT {holder} AS holder, {sums} FROM {local} GROUP BY holder")
    found = _by_shard(engine, f"SELECT {SHARD_COLUMN} AS holder, {sums} FROM {copies} GROUP BY holder")
    faults = []
    for shard in sorted({s for s in wanted.keys() | found.keys() if wanted.get(s) != found.get(s)}):
        must = f"SELECT {row} AS hash, 1 AS must, 0 AS there FROM {local} WHERE {overlap.has_copy_sql(shard)}"
        there = f"SELECT {row} AS hash, 0 AS must, 1 AS there FROM {copies} WHERE {SHARD_COLUMN} = {shard}"
        [counts] = engine.fetch_table(
            "SELECT sumIf(m - t, m > t) AS missing, sumIf(t, m = 0) AS strange, sumIf(t - m, m > 0 AND t > m) AS double"
            " FROM (SELECT hash, toInt64(sum(must)) AS m, toInt64(sum(there)) AS t"
            f" FROM ({must} UNION ALL {there}) GROUP BY hash)"
        ).to_pylist()
        faults += [
            f"the overlap of shard {shard} {_WORDS[what].format(count)}" for what, count in counts.items() if count
        ]
    return faults


def row_hash(table: Table) -> str:
    """SQL of a hash of all columns that a row comes with; of a tuple, for that of columns is NULL if one of them is."""
    return f"cityHash64(tuple({', '.join(quote_identifier(name) for name in given_columns(table))}))"


_WORDS = {
    "missing": "lacks {:,} copies",
    "double": "has {:,} copies more than once",
    "strange": "has {:,} rows that do not belong there",
}


def _by_shard(engine: Engine, sql: str) -> dict[int, tuple[int, int]]:
    """Rows and sum of hashes by shard."""
    return {row["holder"]: (row["rows"], row["hashes"]) for row in engine.fetch_table(sql).to_pylist()}
