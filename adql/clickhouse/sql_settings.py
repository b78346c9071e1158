"""The settings with which generated SQL means what ADQL means."""

from __future__ import annotations

#: For every query
SETTINGS: dict[str, str | int] = {
    "join_use_nulls": 1,
    "enable_positional_arguments": 0,
    "cast_keep_nullable": 1,
    # the resolver turns chains of = and <> into IN; ClickHouse's own conversion would tell -0.0 from 0.0
    "optimize_min_equality_disjunction_chain_length": 1 << 31,
    "optimize_min_inequality_conjunction_chain_length": 1 << 31,
    # the resolver moves equalities from WHERE to ON where they may be compared by hash
    "query_plan_merge_filter_into_join_condition": 0,
    # 26.9 records granules that a join's filter emptied as empty by WHERE alone, for all queries that follow
    "use_query_condition_cache": 0,
    "max_query_size": 64 << 20,
    "max_ast_depth": 10_000,
    "max_parser_depth": 10_000,
    "max_ast_elements": 2_000_000,
    "max_expanded_ast_elements": 5_000_000,
}

#: In addition, on a cluster: query only the shards that a condition names, and refuse joins that would miss rows of
#: other shards
DISTRIBUTED: dict[str, str | int] = {"optimize_skip_unused_shards": 1, "distributed_product_mode": "deny"}

#: The function in SQL that ends a query on an unusable value
RAISES = "throwIf("

#: In addition, with ``RAISES``: a condition that excludes such values is tested first if it is written first.
#: ClickHouse would test first what reads less.
WRITTEN_ORDER: dict[str, str | int] = {"allow_reorder_prewhere_conditions": 0}

#: In addition, for queries whose joins must stay in the written order. (0 would also stop ClickHouse from building its
#: hash table on the smaller side: 60 ms became 250 in a join of 1,000 rows with 3 million.)
KEEP_JOIN_ORDER: dict[str, str | int] = {
    "query_plan_optimize_join_order_limit": 1,
    # 26.9 removes the last column between two joins, and then finds a column of another type in its place
    "query_plan_remove_unused_columns": 0,
}
