"""Checks whether each row of a sharded table is on its shard, and its copies once in each overlap that needs them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping

import numpy as np
import pyarrow as pa

from clickhouse_schema.catalogue import Catalogue, TableEntry
from clickhouse_schema.overlap_sql import Overlap
from clickhouse_schema.quoting import quote_identifier, quote_string
from clickhouse_schema.schema_model import Table
from clickhouse_schema.shard_map import LOCAL, SHARD_COLUMN, Sharding, ShardMap
from clickhouse_schema.table_ddl import HPX29
from loaders.storage.row_sums import RowSums, fetch_sums_of_groups, row_hash_sql
from tap_service.storage.engine.engine import Engine

_COPY_PROBLEMS = {
    "missing": "lacks {:,} copies",
    "strange": "has {:,} rows that do not belong there",
    "double": "has {:,} copies more than once",
}


def count_rows_by_shard(engine: Engine, rows_sql: str) -> dict[int, int]:
    """Return the number of rows by shard. ``rows_sql``: the SQL of the rows of all shards."""
    sql = f"SELECT {SHARD_COLUMN} AS shard, count() AS rows FROM {rows_sql} GROUP BY shard ORDER BY shard"
    return {row["shard"]: row["rows"] for row in engine.fetch_table(sql).to_pylist()}


def find_count_problems(row_counts: Mapping[int, int], density: pa.Table, order: int, shard_map: ShardMap) -> list[str]:
    """Compare the number of rows of each shard with the density of its cells of ``order``."""
    if order < shard_map.order:
        return []
    cells = density["cell"].to_numpy() >> 2 * (order - shard_map.order)
    counted = np.bincount(np.array(shard_map.cells)[cells], density["rows"].to_numpy(), shard_map.shard_count)
    return [
        f"shard {shard} has {row_counts.get(shard, 0):,} rows where {int(rows):,} were loaded"
        for shard, rows in enumerate(counted)
        if row_counts.get(shard, 0) != int(rows)
    ]


def find_home_problems(engine: Engine, shard_map: ShardMap, rows_sql: str) -> list[str]:
    """Find rows that are not on the shard of their position."""
    is_wrong = f"{SHARD_COLUMN} != {shard_map.shard_sql(HPX29)}"
    sql = f"SELECT {SHARD_COLUMN} AS shard, count() AS rows FROM {rows_sql} WHERE {is_wrong}"
    return [
        f"shard {row['shard']} has {row['rows']:,} rows that belong to other shards"
        for row in engine.fetch_table(f"{sql} GROUP BY shard ORDER BY shard").to_pylist()
    ]


def find_server_problems(engine: Engine, rows_sql: str) -> list[str]:
    """Find rows on servers of another shard. ``rows_sql``: the SQL of the rows of all shards."""
    is_wrong = f"{SHARD_COLUMN} != _shard_num - 1"
    sql = f"SELECT _shard_num - 1 AS shard, count() AS rows FROM {rows_sql} WHERE {is_wrong} GROUP BY shard"
    return [
        f"the servers of shard {row['shard']} have {row['rows']:,} rows with the number of another shard"
        for row in engine.fetch_table(f"{sql} ORDER BY shard").to_pylist()
    ]


def find_unequal_servers(
    engine: Engine, table: Table, rows_sql: str, server_sql: str, numbers: Collection[int]
) -> list[str]:
    """Find servers whose rows of a whole table differ from the rows of most servers.

    Parameters
    ----------
    engine : Engine
        The connected server.
    table : Table
        The table.
    rows_sql : str
        The SQL of the rows of all servers.
    server_sql : str
        The SQL of the number of a row's server.
    numbers : collection of int
        The numbers of all servers.

    Returns
    -------
    list of str
        A sentence for each server that differs.
    """
    found = fetch_sums_of_groups(engine, table, server_sql, rows_sql)
    sums = {number: found.get(number, RowSums(0, 0)) for number in numbers}
    usual = max(Counter(sums.values()).items(), key=lambda pair: pair[1])[0]
    return [
        f"the server of shard {number} differs from the other servers ({rows:,} rows, not {usual[0]:,}):"
        " skyhouse shards prepare copies them"
        for number, (rows, hashes) in sums.items()
        if (rows, hashes) != usual
    ]


def find_child_problems(
    engine: Engine, table: Table, part_sql: str, parent: TableEntry, sharding: Sharding
) -> list[str]:
    """Find rows without a parent on their shard. ``part_sql``: quoted name of the tables with the shards' own rows."""
    key = table.parent_key
    assert key is not None  # noqa: S101  called for child tables only
    is_parent = " AND ".join(
        f"c.{quote_identifier(name)} = p.{quote_identifier(other)}"
        for name, other in zip(key.columns, key.referenced_columns, strict=True)
    )
    orphans = (
        f"SELECT shardNum() - 1 AS shard, count() AS rows FROM {part_sql} AS c"
        f" LEFT ANTI JOIN {parent.part_sql(LOCAL)} AS p ON {is_parent} GROUP BY shard"
    )
    sql = f"SELECT shard, rows FROM cluster({quote_string(sharding.cluster)}, view({orphans})) ORDER BY shard"
    return [
        f"shard {row['shard']} has {row['rows']:,} rows without their parent row of {key.referenced_table}"
        for row in engine.fetch_table(sql).to_pylist()
    ]


def find_separated_children(engine: Engine, catalogue: Catalogue, parent: TableEntry, sharding: Sharding) -> list[str]:
    """Find child rows that would no longer be on the shard of their parent if ``parent`` were published."""
    errors = []
    for child in catalogue.entries:
        key = child.table.parent_key
        if child.is_sharded and key is not None and key.referenced_table == parent.qualified_name:
            found = find_child_problems(engine, child.table, child.part_sql(LOCAL), parent, sharding)
            errors += [f"{child.qualified_name}: {error}: drop that table first" for error in found]
    return errors


def find_overlap_problems(engine: Engine, table: Table, overlap: Overlap, rows_sql: str, copies_sql: str) -> list[str]:
    """Compare the copies in the overlaps with the rows.

    Rows are compared by a hash of all columns. One pass over the rows compares counts and sums of the hashes; single
    rows are compared only in shards where these differ.

    Parameters
    ----------
    engine : Engine
        The connected server.
    table : Table
        The table.
    overlap : Overlap
        Says which shards have copies of a row.
    rows_sql, copies_sql : str
        The SQL of the rows, and of the copies, of all shards.

    Returns
    -------
    list of str
        A sentence for each problem.
    """
    row = row_hash_sql(table)
    holder = f"arrayJoin({overlap.copy_shards_sql(HPX29, SHARD_COLUMN)})"
    wanted = fetch_sums_of_groups(engine, table, holder, rows_sql)
    found = fetch_sums_of_groups(engine, table, SHARD_COLUMN, copies_sql)
    errors = []
    for shard in sorted({s for s in wanted.keys() | found.keys() if wanted.get(s) != found.get(s)}):
        must = f"SELECT {row} AS hash, 1 AS must, 0 AS there FROM {rows_sql} WHERE {overlap.has_copy_sql(shard)}"
        there = f"SELECT {row} AS hash, 0 AS must, 1 AS there FROM {copies_sql} WHERE {SHARD_COLUMN} = {shard}"
        [counts] = engine.fetch_table(
            "SELECT sumIf(m - t, m > t) AS missing, sumIf(t, m = 0) AS strange, sumIf(t - m, m > 0 AND t > m) AS double"
            " FROM (SELECT hash, toInt64(sum(must)) AS m, toInt64(sum(there)) AS t"
            f" FROM ({must} UNION ALL {there}) GROUP BY hash)"
        ).to_pylist()
        errors += [
            f"the overlap of shard {shard} {_COPY_PROBLEMS[error].format(count)}"
            for error, count in counts.items()
            if count
        ]
    return errors
