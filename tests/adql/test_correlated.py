"""Correlated subqueries equal DuckDB's, and never reach the engine."""

from __future__ import annotations

import os
import random
from dataclasses import dataclass, field

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adql.errors import AdqlError
from adql.ir import SUBQUERIES, Query, find_free_columns, walk_expr, walk_select_expressions, walk_selects
from adql.translation import translate
from clickhouse_schema.catalogue import Catalogue
from tap_service.storage.engine.engine import Engine, EngineValueError
from tests.support.adql_rows import Ask, make_comparable, query_rows

#: Set FUZZ_EXAMPLES=20000 for more
EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "80"))


def assert_uncorrelated(query: Query | None) -> None:
    assert query is not None
    assert not find_free_columns(query)
    for select in walk_selects(query):
        for expr in walk_select_expressions(select):
            for part in walk_expr(expr):
                assert not (isinstance(part, SUBQUERIES) and find_free_columns(part.query))


# --- chosen queries ---------------------------------------------------------------------------------------------------

QUERIES = {
    "semi join": "SELECT id FROM small.stars AS s WHERE EXISTS (SELECT * FROM small.spectra AS p WHERE p.star = s.id)",
    "anti join": "SELECT id FROM small.stars AS s WHERE NOT EXISTS (SELECT 1 FROM small.spectra AS p WHERE p.star = s.id)",
    "tied by an inequality": "SELECT id FROM small.stars AS s WHERE NOT EXISTS (SELECT * FROM small.spectra AS p WHERE p.flux < s.mag)",
    "tied by a condition of the outer row": "SELECT id FROM small.stars AS s WHERE NOT EXISTS (SELECT * FROM small.spectra AS p WHERE s.mag > 2)",
    "IN": "SELECT id FROM small.stars AS s WHERE name IN (SELECT p.name FROM small.spectra AS p WHERE p.star = s.id)",
    "NOT IN with NULLs": "SELECT id FROM small.stars AS s WHERE name NOT IN (SELECT p.name FROM small.spectra AS p WHERE p.id > s.id)",
    "NOT IN of a constant": "SELECT id FROM small.stars AS s WHERE s.id NOT IN (SELECT 1 FROM small.spectra AS p WHERE p.star = s.id)",
    "below OR": "SELECT id FROM small.stars AS s WHERE id > 5 OR EXISTS (SELECT * FROM small.spectra AS p WHERE p.star = s.id)",
    "IN below CASE": "SELECT id, CASE WHEN name IN (SELECT p.name FROM small.spectra AS p WHERE p.id > s.id) THEN 1"
    " WHEN NOT name IN (SELECT p.name FROM small.spectra AS p WHERE p.id > s.id) THEN 2 ELSE 3 END AS c FROM small.stars AS s",
    "values": "SELECT id, EXISTS (SELECT * FROM small.spectra AS p WHERE p.star = s.id) AS e,"
    " name IN (SELECT p.name FROM small.spectra AS p WHERE p.id > s.id) AS i FROM small.stars AS s",
    "IN of a set function": "SELECT id FROM small.stars AS s WHERE n_obs IN (SELECT COUNT(*) FROM small.spectra AS p WHERE p.star = s.id)",
    "COUNT of no rows": "SELECT id, (SELECT COUNT(*) FROM small.spectra AS p WHERE p.star = s.id) AS n FROM small.stars AS s",
    "an expression of no rows": "SELECT id, (SELECT COALESCE(MAX(flux), -5) + s.id FROM small.spectra AS p WHERE p.star = s.id) AS n FROM small.stars AS s",
    "HAVING removes the row": "SELECT id, (SELECT COUNT(*) FROM small.spectra AS p WHERE p.star = s.id HAVING COUNT(*) = 0) AS n FROM small.stars AS s",
    "EXISTS of a set function": "SELECT id FROM small.stars AS s WHERE EXISTS (SELECT COUNT(*) FROM small.spectra AS p WHERE p.star = s.id HAVING COUNT(*) = 0)",
    "EXISTS of groups": "SELECT id FROM small.stars AS s WHERE EXISTS (SELECT star FROM small.spectra AS p WHERE p.star = s.id GROUP BY star HAVING COUNT(*) > 1)",
    "scalar of an inequality": "SELECT id, (SELECT COUNT(*) FROM small.spectra AS p WHERE p.flux < s.mag) AS n FROM small.stars AS s",
    "scalar without a set function": "SELECT id, (SELECT p.flux FROM small.spectra AS p WHERE p.id = s.id) AS n FROM small.stars AS s",
    "scalar in WHERE": "SELECT id FROM small.stars AS s WHERE mag > (SELECT AVG(t.mag) FROM small.stars AS t WHERE t.id < s.id)",
    "two levels": "SELECT id FROM small.stars AS s WHERE EXISTS (SELECT * FROM small.spectra AS p WHERE p.star = s.id"
    " AND EXISTS (SELECT * FROM small.stars AS t WHERE t.id > p.star AND t.mag > s.mag))",
    "for all": "SELECT id FROM small.stars AS s WHERE NOT EXISTS (SELECT * FROM small.spectra AS p"
    " WHERE NOT EXISTS (SELECT * FROM small.stars AS t WHERE t.id > p.star AND t.mag > s.mag))",
    "HAVING": "SELECT name, COUNT(*) AS n FROM small.stars AS s GROUP BY name HAVING EXISTS (SELECT * FROM small.spectra AS p WHERE p.name = s.name)",
    "of groups": "SELECT name, (SELECT COUNT(*) FROM small.spectra AS p WHERE p.name = s.name) AS m, COUNT(*) AS n FROM small.stars AS s GROUP BY name",
    "groups by an output": "SELECT (SELECT COUNT(*) FROM small.spectra AS p WHERE p.star = s.id) AS n, COUNT(*) AS m FROM small.stars AS s GROUP BY n HAVING COUNT(*) > 1",
    "groups by an output, and of groups": "SELECT EXISTS (SELECT 1 FROM small.spectra AS p WHERE p.star = s.id) AS n, s.name,"
    " (SELECT COUNT(*) FROM small.spectra AS q WHERE q.name = s.name) AS m FROM small.stars AS s GROUP BY n, s.name",
    "groups by a condition": "SELECT id IN (SELECT star FROM small.spectra) AS n, COUNT(*) AS m FROM small.stars GROUP BY n",
    "inside of a set function": "SELECT SUM((SELECT COUNT(*) FROM small.spectra AS p WHERE p.star = s.id)) AS m FROM small.stars AS s",
    "ON": "SELECT s.id, p.id FROM small.stars AS s JOIN small.spectra AS p ON p.star = s.id AND EXISTS (SELECT * FROM small.stars AS t WHERE t.name = p.name)",
    "ON of an outer join, of the kept side": "SELECT s.id, p.id FROM small.stars AS s LEFT JOIN small.spectra AS p ON p.star = s.id"
    " AND p.flux = (SELECT MAX(q.flux) FROM small.spectra AS q WHERE q.star = s.id)",
    "ON of an outer join, of the other": "SELECT s.id, p.id FROM small.stars AS s LEFT JOIN small.spectra AS p"
    " ON NOT EXISTS (SELECT * FROM small.visits AS v WHERE v.star = p.star) AND s.id IN (SELECT v.star FROM small.visits AS v WHERE v.id < s.id)",
    "ON of a full join": "SELECT s.id, p.id FROM small.stars AS s FULL JOIN small.spectra AS p ON p.star = s.id"
    " AND EXISTS (SELECT * FROM small.visits AS v WHERE v.star = p.star) WHERE p.id IS NULL OR EXISTS (SELECT * FROM small.visits AS v WHERE v.id = p.id)",
    "ON of a nested join": "SELECT s.id, p.id FROM small.stars AS s LEFT JOIN (small.spectra AS p JOIN small.visits AS v"
    " ON v.star = p.star AND EXISTS (SELECT * FROM small.stars AS t WHERE t.id = v.star)) ON p.star = s.id",
    "ORDER BY": "SELECT id FROM small.stars AS s ORDER BY (SELECT COUNT(*) FROM small.spectra AS p WHERE p.star = s.id), id",
    "set operation": "SELECT id FROM small.stars AS s WHERE EXISTS (SELECT star FROM small.spectra AS p WHERE p.star = s.id"
    " INTERSECT SELECT star FROM small.spectra AS p WHERE p.flux > s.mag)",
    "derived table": "SELECT id, (SELECT SUM(n) FROM (SELECT COUNT(*) AS n FROM small.spectra AS p WHERE p.star = s.id) AS q) AS n FROM small.stars AS s",
    "outer join inside": "SELECT id, (SELECT COUNT(t.id) FROM small.spectra AS p LEFT JOIN small.stars AS t ON t.id = p.star AND t.mag < s.mag) AS n FROM small.stars AS s",
    "outer join outside": "SELECT a.id, (SELECT COUNT(*) FROM small.spectra AS q WHERE q.flux > p.flux AND q.id < a.id) AS n"
    " FROM small.stars AS a LEFT JOIN small.spectra AS p ON p.star = a.id",
    "window outside": "SELECT id, ROW_NUMBER() OVER (ORDER BY (SELECT COUNT(*) FROM small.spectra AS p WHERE p.star = s.id), id) AS n FROM small.stars AS s",
    "types that differ": "SELECT id FROM small.stars AS s WHERE EXISTS (SELECT * FROM small.spectra AS p WHERE p.flux = s.big OR p.flux = s.n_obs)",
    "used in what is selected alone": "SELECT id FROM small.stars AS s WHERE id = 2 OR EXISTS (SELECT s.mag FROM small.spectra AS p)",
    "used twice, at two depths": "SELECT id FROM small.stars AS s WHERE n_obs IN (SELECT COUNT(*) FROM"
    " (SELECT p.star AS star FROM small.spectra AS p WHERE s.id IS NOT NULL) AS q WHERE q.star = s.id)",
    "negative zero": "SELECT id FROM small.stars AS s WHERE EXISTS (SELECT * FROM small.spectra AS p WHERE p.flux = s.mag AND p.id = 8)",
}


@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES.keys())
def test_answers_equal_duckdbs(query: str, ask: Ask, small: Catalogue, other: duckdb.DuckDBPyConnection) -> None:
    assert_uncorrelated(translate(query, small).query)
    expected = make_comparable(other.execute(query).fetchall())
    answer = make_comparable(ask(query))
    assert (answer if "ORDER BY (" in query else sorted(answer, key=repr)) == (
        expected if "ORDER BY (" in query else sorted(expected, key=repr)
    )


def test_top_is_per_outer_row(ask: Ask, other: duckdb.DuckDBPyConnection) -> None:
    scalar = "SELECT id, (SELECT {} p.id FROM small.spectra AS p WHERE p.star {} s.id ORDER BY p.flux DESC, p.id {}) AS n FROM small.stars AS s"
    for tie in ("=", "<"):
        expected = other.execute(scalar.format("", tie, "LIMIT 1").replace("DESC", "DESC NULLS LAST")).fetchall()
        assert sorted(ask(scalar.format("TOP 1", tie, ""))) == sorted(expected)
        expected = other.execute(
            scalar.format("", tie, "LIMIT 1 OFFSET 1").replace("DESC", "DESC NULLS LAST")
        ).fetchall()
        assert sorted(ask(scalar.format("TOP 1", tie, "OFFSET 1"))) == sorted(expected)


def test_several_rows_for_a_value_are_an_error(engine: Engine, small: Catalogue) -> None:
    query = "SELECT (SELECT p.flux FROM small.spectra AS p WHERE p.star = s.id) FROM small.stars AS s"
    with pytest.raises(EngineValueError, match="more than one row"):
        query_rows(engine, small, query)


def test_usage_of_merged_columns(ask: Ask) -> None:
    query = (
        "SELECT id FROM small.stars JOIN small.spectra USING (id)"
        " WHERE EXISTS (SELECT * FROM small.spectra AS q WHERE q.star = id AND q.id > 100) OR id = 3"
    )
    # the inner table has an id, which hides the outer table's id
    assert ask(query) == [(3,)]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (
            "SELECT s.id FROM small.stars AS s LEFT JOIN small.spectra AS p"
            " ON EXISTS (SELECT * FROM small.stars AS t WHERE t.id = p.star AND t.mag = s.mag)",
            "a subquery in the ON of an outer join uses columns of several joined tables",
        ),
        (
            "SELECT id FROM (SELECT TOP 5 * FROM small.stars) AS s"
            " WHERE (SELECT COUNT(*) FROM small.spectra AS p WHERE p.flux < s.mag) > 1",
            "rows that may differ each time they are read",
        ),
        (
            "SELECT id FROM small.stars AS s WHERE (SELECT SUM(s.mag) FROM small.spectra AS p) > 1",
            "SUM of columns of the outer query",
        ),
        (
            "SELECT name FROM small.stars AS s GROUP BY name HAVING EXISTS (SELECT * FROM small.spectra AS p WHERE p.star = s.id)",
            "column id is neither in GROUP BY nor in a set function",
        ),
        (
            "SELECT s.id FROM small.stars AS s, (SELECT * FROM small.spectra AS p WHERE p.star = s.id) AS q",
            "there is no table s in this FROM clause",
        ),
    ],
)
def test_what_cannot_be_joined_is_refused(query: str, message: str, small: Catalogue) -> None:
    with pytest.raises(AdqlError, match=message) as caught:
        translate(query, small)
    assert caught.value.describe(query).startswith("line 1, column ")


# --- random queries ---------------------------------------------------------------------------------------------------

#: Table -> column -> kind: n for numbers, t for texts
COLUMNS = {
    "stars": {"id": "n", "mag": "n", "parallax": "n", "n_obs": "n", "name": "t"},
    "spectra": {"id": "n", "star": "n", "flux": "n", "name": "t"},
}


@dataclass
class Generator:
    """A generator of random queries; ``scopes`` has alias -> table of each open query, the innermost last."""

    dice: random.Random
    scopes: list[dict[str, str]] = field(default_factory=list)
    aliases: int = 0

    def make_query(self) -> str:
        table, where = self.make_from(), self.make_condition(3)
        items = ["id0"] if self.dice.random() < 0.4 else ["id0", f"{self.make_scalar(2)} AS v"]
        alias = next(iter(self.scopes[-1]))
        outputs = ", ".join(f"{alias}.id AS id" if item == "id0" else item for item in items)
        return f"SELECT {outputs} FROM {table} WHERE {where}"

    def make_from(self) -> str:
        parts = []
        scope: dict[str, str] = {}
        for _ in range(1 if self.dice.random() < 0.8 else 2):
            self.aliases += 1
            table = self.dice.choice(list(COLUMNS))
            scope[f"a{self.aliases}"] = table
            parts.append(f"small.{table} AS a{self.aliases}")
        self.scopes.append(scope)
        if len(parts) == 1:
            return parts[0]
        kind = self.dice.choice(["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"])
        return f"{parts[0]} {kind} {parts[1]} ON {self.make_tie(*list(scope))}{self.make_on_subquery(self.dice.choice(list(scope)))}"

    def make_on_subquery(self, alias: str) -> str:
        """Return a condition of ON with a subquery that uses a joined table, or nothing."""
        if self.dice.random() < 0.7:
            return ""
        self.aliases += 1
        own, table = f"a{self.aliases}", self.dice.choice(list(COLUMNS))
        self.scopes.append({own: table})
        condition = self.dice.choice(["{0} > 1", "{0} IS NULL", "2 IN (SELECT 2 {1})", "EXISTS (SELECT 1 {1})"])
        rows = f"FROM small.{table} AS {own} WHERE {self.make_tie(own, alias)}"
        value = f"(SELECT MAX({self.pick_column(own, 'n')}) {rows})"
        self.scopes.pop()
        return f" AND {self.dice.choice(['', 'NOT '])}{condition.format(value, rows)}"

    def pick_column(self, alias: str, kind: str) -> str:
        table = next(scope[alias] for scope in self.scopes if alias in scope)
        names = [name for name, of in COLUMNS[table].items() if of == kind]
        return f"{alias}.{self.dice.choice(names)}"

    def make_tie(self, one: str, two: str) -> str:
        kind = "n" if self.dice.random() < 0.8 else "t"
        op = self.dice.choice(["=", "=", "=", "<", ">=", "<>"]) if kind == "n" else "="
        return f"{self.pick_column(one, kind)} {op} {self.pick_column(two, kind)}"

    def pick_outer_alias(self) -> str:
        """Return an alias of an outer query, mostly of the nearest."""
        scopes = self.scopes[:-1] or self.scopes
        scope = scopes[-1] if self.dice.random() < 0.75 else self.dice.choice(scopes)
        return self.dice.choice(list(scope))

    def pick_alias(self) -> str:
        return self.dice.choice(list(self.scopes[-1]))

    def make_condition(self, depth: int) -> str:
        roll = self.dice.random()
        if depth and roll < 0.25:
            return (
                f"({self.make_condition(depth - 1)} {self.dice.choice(['AND', 'OR'])} {self.make_condition(depth - 1)})"
            )
        if depth and roll < 0.75:
            word = "NOT " if self.dice.random() < 0.4 else ""
            if self.dice.random() < 0.5:
                return f"{word}EXISTS ({self.make_rows(depth - 1, '1')})"
            kind = "n" if self.dice.random() < 0.7 else "t"
            return f"{self.pick_column(self.pick_alias(), kind)} {word}IN ({self.make_rows(depth - 1, kind)})"
        if depth and roll < 0.85:
            return f"{self.make_scalar(depth - 1)} {self.dice.choice(['=', '<', '>='])} {self.dice.choice(['1', '2', '0'])}"
        column = self.pick_column(self.pick_alias(), "n")
        return self.dice.choice([f"{column} > 2", f"{column} IS NULL", f"{column} IS NOT NULL", f"{column} < 5"])

    def make_rows(self, depth: int, output: str) -> str:
        table = self.make_from()
        where = [
            self.make_tie(self.pick_alias(), self.pick_outer_alias()) for _ in range(self.dice.choice([0, 1, 1, 1, 2]))
        ]
        if self.dice.random() < 0.4:
            where.append(self.make_condition(depth))
        shown = (
            output
            if output == "1"
            else self.pick_column(self.pick_alias() if self.dice.random() < 0.9 else self.pick_outer_alias(), output)
        )
        tail = f" WHERE {' AND '.join(where)}" if where else ""
        if output == "n" and self.dice.random() < 0.2:
            shown = self.dice.choice(["COUNT(*)", f"MAX({self.pick_column(self.pick_alias(), 'n')})"])
        text = f"SELECT {self.dice.choice(['', '', 'DISTINCT '])}{shown} FROM {table}{tail}"
        self.scopes.pop()
        return text

    def make_scalar(self, depth: int) -> str:
        table = self.make_from()
        where = [self.make_tie(self.pick_alias(), self.pick_outer_alias()) for _ in range(self.dice.choice([1, 1, 2]))]
        if self.dice.random() < 0.25:
            where.append(self.make_condition(depth))
        column = self.pick_column(self.pick_alias(), "n")
        value = self.dice.choice(
            ["COUNT(*)", f"COUNT({column})", f"MAX({column})", f"COALESCE(MIN({column}), -1)", "COUNT(*) + 1"]
        )
        having = f" HAVING {self.dice.choice(['COUNT(*) > 1', 'COUNT(*) = 0'])}" if self.dice.random() < 0.15 else ""
        text = f"(SELECT {value} FROM {table} WHERE {' AND '.join(where)}{having})"
        self.scopes.pop()
        return text


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 2**32))
def test_random_answers_equal_duckdbs(
    seed: int, engine: Engine, small: Catalogue, other: duckdb.DuckDBPyConnection
) -> None:
    query = Generator(random.Random(seed)).make_query()
    assert_uncorrelated(translate(query, small).query)
    answer = sorted(make_comparable(query_rows(engine, small, query)), key=repr)
    assert answer == sorted(make_comparable(other.execute(query).fetchall()), key=repr), query
