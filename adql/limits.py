"""Limits of a query, in one place; ``docs/adql.md`` lists them.

A query within all of them is translated in about a second, and the engine plans it in a few; hundreds of polygons or
boxes take longer. Larger ones are refused with the position and the way out. The setting ``translation_seconds`` holds
whatever the query.
"""

from __future__ import annotations

#: Characters and tokens of a query. The setting ``max_query_length`` may be lower.
MAX_CHARACTERS = 1_000_000
MAX_TOKENS = 200_000

#: Brackets, prefix operators and CASEs open at one position; a subquery counts as three.
MAX_DEPTH = 100

#: Levels of an expression's tree, or of the joins or set operations of a query. Each operator of a left-associative
#: chain (a - b - c) is a level. Chains of AND, OR, ||, &, ^ and | become balanced trees.
MAX_HEIGHT = 200

#: Tables in all FROMs. Every use of a WITH table binds it again: where each uses the one before twice, they double.
MAX_RELATIONS = 500

#: WITH tables that use one another in a chain.
MAX_WITH_DEPTH = 60

#: Columns of the result of a query, or of a subquery. ClickHouse's time for planning grows with them.
MAX_COLUMNS = 10_000

#: Constants of one IN. 50,000 take ClickHouse a second or two.
MAX_IN_VALUES = 100_000

#: Operands of AND and OR. ClickHouse spends more time on planning than on reading; 10,000 cones took it 15 minutes.
MAX_CONDITIONS = 1000

#: Branches of CASE that are tested one by one. ClickHouse's planning time grows with the square of their number:
#: 1.5 s for 2,000 and 30 s for 8,000, on one core.
MAX_BRANCHES = 2000

#: Vertices of a polygon.
MAX_VERTICES = 5000

#: Shapes of a region in STC-S, in all its unions and intersections.
MAX_REGION_SHAPES = 1000

#: Parts of one expression with those that its SQL repeats: each rotation of a computed position repeats it twice.
MAX_EXPRESSION_PARTS = 50_000

#: Characters of one expression's SQL, and of the whole query's. Some forms repeat an operand, so nesting multiplies it.
MAX_EXPRESSION_SQL = 4 << 20
MAX_SQL = 8 << 20
