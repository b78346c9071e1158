"""Limits of a query; ``docs/adql.md`` lists them.

A query within all limits is translated in about one second, and the engine plans it in a few seconds; hundreds of
polygons or boxes take longer. Larger queries are refused with a position and a hint. The setting
``translation_seconds`` limits the time of any translation.
"""

from __future__ import annotations

#: Characters and tokens of a query. The setting ``max_query_length`` may be lower.
MAX_CHARACTERS = 1_000_000
MAX_TOKENS = 200_000

#: Brackets, prefix operators and CASEs that are open at one position; a subquery counts as three.
MAX_DEPTH = 100

#: Levels of an expression's tree, or of the joins or set operations of a query. Each operator of a left-associative
#: chain (a - b - c) is a level. Chains of AND, OR, ||, &, ^ and | become balanced trees.
MAX_HEIGHT = 200

#: Tables in all FROM clauses. Each use of a WITH table binds it again, so a chain of WITH tables that each use the
#: previous one twice doubles the number at each step.
MAX_RELATIONS = 500

#: WITH tables that use one another in a chain.
MAX_WITH_DEPTH = 60

#: Columns of the result of a query, or of a subquery. ClickHouse's time for planning grows with them.
MAX_COLUMNS = 10_000

#: Constants of one IN. ClickHouse takes one or two seconds for 50,000.
MAX_IN_VALUES = 100_000

#: Operands of AND and OR. ClickHouse spends more time on planning than on reading; 10,000 cones took 15 minutes.
MAX_CONDITIONS = 1000

#: Branches of CASE that are tested one by one. ClickHouse's planning time grows with the square of their number:
#: 1.5 s for 2,000 and 30 s for 8,000, on one core.
MAX_BRANCHES = 2000

#: Vertices of a polygon.
MAX_VERTICES = 5000

#: Shapes of a region in STC-S, in all its unions and intersections.
MAX_REGION_SHAPES = 1000

#: Parts of one expression, counting the parts that its SQL repeats: a rotation of a computed position repeats it twice.
MAX_EXPRESSION_PARTS = 50_000

#: Characters of the SQL of one expression, and of the query. Some forms repeat an operand, so nesting multiplies it.
MAX_EXPRESSION_SQL = 4 << 20
MAX_SQL = 8 << 20
