"""The ClickHouse settings that give generated SQL the meaning of ADQL."""

from __future__ import annotations

#: For every query
SETTINGS: dict[str, str | int] = {
    "join_use_nulls": 1,
    "enable_positional_arguments": 0,
    "cast_keep_nullable": 1,
    # the resolver converts chains of = and <> to IN; ClickHouse's conversion would distinguish -0.0 from 0.0
    "optimize_min_equality_disjunction_chain_length": 1 << 31,
    "optimize_min_inequality_conjunction_chain_length": 1 << 31,
    # a pass moves equalities from WHERE to ON if they may be compared by hash
    "query_plan_merge_filter_into_join_condition": 0,
    # 26.9 would cache granules that a join's filter emptied as emptied by WHERE, and skip them in later queries
    "use_query_condition_cache": 0,
    "max_query_size": 64 << 20,
    "max_ast_depth": 10_000,
    "max_parser_depth": 10_000,
    "max_ast_elements": 2_000_000,
    "max_expanded_ast_elements": 5_000_000,
}

#: In addition, on a cluster: query only the shards that a condition selects, and refuse joins that would miss rows of
#: other shards
DISTRIBUTED: dict[str, str | int] = {"optimize_skip_unused_shards": 1, "distributed_product_mode": "deny"}

#: The function in SQL that ends a query on an unusable value
RAISES = "throwIf("

#: In addition, with ``RAISES``: test conditions in the written order, so that a condition can exclude unusable values
#: first. ClickHouse would first test the condition that reads least.
WRITTEN_ORDER: dict[str, str | int] = {"allow_reorder_prewhere_conditions": 0}

#: In addition, for queries whose joins must stay in the written order. (0 would also keep ClickHouse from building its
#: hash table on the smaller side: a join of 1,000 rows with 3 million took 250 ms instead of 60 ms.)
KEEP_JOIN_ORDER: dict[str, str | int] = {
    "query_plan_optimize_join_order_limit": 1,
    # 26.9 removes the last column between two joins, and then reads a column of another type instead
    "query_plan_remove_unused_columns": 0,
}

#: In addition, for queries with a cross-match: no Bloom filter of the keys of one side for the rows of the other, since
#: nearly all cubes occur on both sides
NO_JOIN_FILTERS: dict[str, str | int] = {"enable_join_runtime_filters": 0}

#: For a SELECT with a merge join
MERGE_JOIN: dict[str, str | int] = {"join_algorithm": "full_sorting_merge"}

#: In addition, for queries that look up few rows by an id or an index: read projections of parts from 8,192 rows, not
#: from 1,000,000. Not for other conditions on such columns, which may be true for half of a part and would take twice
#: as long.
LOOK_UP: dict[str, str | int] = {"min_table_rows_to_use_projection_index": 8192}

#: In addition, for long SQL: do not compile expressions. The engine would compile each expression at the fourth
#: run of a query. A compilation cannot be stopped (6 s for 300 square roots), and saves about a tenth of a scan's time.
_INTERPRETED: dict[str, str | int] = {"compile_expressions": 0, "compile_aggregate_expressions": 0}
_MAX_COMPILED_SQL = 4000

#: A query can be stopped only between blocks, so a block with many columns or a long expression gets few rows. Seconds
#: from the kill of a query to its end on a busy machine:
#:
#:     rows of a block                      65,409  16,384   8,192   4,096   2,048
#:     1,000 columns                           6.1     1.2             0.3
#:     1,000 computed columns                  3.7     0.4             0.4
#:     outside of a star of 2,000 vertices    11.9             0.6             0.3
#:     outside of a star of 5,000 vertices    36.5             4.4             1.3
#:     circles of rows, on such a polygon    over 90                           7.4  (1,000 vertices)
#:
#: 65,409 is the engine's default.
_MIN_BLOCK_ROWS = 512
_MAX_BLOCK_VALUES = 4 << 20
_MAX_NARROW_COLUMNS = 64
_MAX_BLOCK_WORK = 1 << 29  # rows times characters of SQL
_MAX_SHORT_SQL = 1 << 14


def choose_size_settings(sql: str, columns: int) -> dict[str, str | int]:
    """Choose the settings that allow a query to be stopped soon.

    Parameters
    ----------
    sql
        The SQL of the query.
    columns
        The number of columns of its result.

    Returns
    -------
    dict[str, str | int]
        The settings; empty for short SQL with few columns.
    """
    settings = dict(_INTERPRETED) if len(sql) > _MAX_COMPILED_SQL else {}
    limits = []
    if len(sql) > _MAX_SHORT_SQL:
        limits.append(max(_MIN_BLOCK_ROWS, _MAX_BLOCK_WORK // len(sql)))
    if columns > _MAX_NARROW_COLUMNS:
        limits.append(_MAX_BLOCK_VALUES // columns)
    return settings | ({"max_block_size": min(limits)} if limits else {})
