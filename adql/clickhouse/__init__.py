"""The emitter: writes a bound query as ClickHouse SQL.

The SQL contains only generated aliases (t1, c1 ...), catalogue names and literals, each quoted, and each column is
qualified. The resolver and the passes decide what a node means; the forms write it with the NULLs, division and
overflow of SQL instead of ClickHouse's.

emitter                 queries, relations, and the dispatch of expressions
operator_sql            the table of all forms; operators and predicates
cast_sql                changes of type, CASE
set_function_sql        set functions and windows
partial_aggregate_sql   set functions in two steps
sql_text                types and texts that all forms share
sql_settings            the settings that the SQL requires
sky/                    geometry
"""
