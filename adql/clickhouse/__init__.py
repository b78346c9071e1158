"""The emitter: a bound query as ClickHouse SQL.

It writes only generated aliases (t1, c1 ...), catalogue names and literals, each quoted; every column is qualified.
What a node means is decided before; here is how ClickHouse says it, with SQL's NULLs, division and overflow instead of
its own.
"""
