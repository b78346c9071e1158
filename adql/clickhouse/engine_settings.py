"""The settings that generated SQL needs to mean what ADQL means."""

from __future__ import annotations

#: What makes ClickHouse read the generated SQL as meant.
SETTINGS: dict[str, str | int] = {
    "join_use_nulls": 1,
    "enable_positional_arguments": 0,
    "cast_keep_nullable": 1,
    # chains of = and <> are made IN by the resolver; made by the engine, they tell -0.0 from 0.0
    "optimize_min_equality_disjunction_chain_length": 1 << 31,
    "optimize_min_inequality_conjunction_chain_length": 1 << 31,
    # the resolver puts equalities of WHERE into ON where they may be compared by hash
    "query_plan_merge_filter_into_join_condition": 0,
    # 26.9 writes down granules that a join's filter emptied as empty by WHERE alone, for all queries that follow
    "use_query_condition_cache": 0,
    "max_query_size": 64 << 20,
    "max_ast_depth": 10_000,
    "max_parser_depth": 10_000,
    "max_ast_elements": 2_000_000,
    "max_expanded_ast_elements": 5_000_000,
}

#: In addition, on a cluster: only the shards that a condition names are asked, and a join that needs other shards'
#: rows and does not say so is an error, for it would be wrong.
DISTRIBUTED: dict[str, str | int] = {"optimize_skip_unused_shards": 1, "distributed_product_mode": "deny"}

#: What ends a query whose values do not do, in its SQL
RAISES = "throwIf("

#: In addition, where that may happen: a condition that leaves such values out is tried first if it stands first. The
#: engine would try first what reads less.
WRITTEN_ORDER: dict[str, str | int] = {"allow_reorder_prewhere_conditions": 0}

#: In addition, for queries whose joins must stay as they are written. (0 would also stop the engine from building its
#: hash table on the smaller side: 60 ms became 250 in a join of 1,000 rows with 3 million.)
KEEP_JOIN_ORDER: dict[str, str | int] = {
    "query_plan_optimize_join_order_limit": 1,
    # 26.9 takes away the last column between two of them, and finds that the one in its place has another type
    "query_plan_remove_unused_columns": 0,
}
