"""Random queries over three small tables, each written twice: as ADQL and as DuckDB's SQL."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from tests.adql.twins import BOOL, FLOAT, INT, TEXT, TIME, VALUES, Columns, Twin, Values, fill_template, join_twins


@dataclass(frozen=True)
class Table:
    """A relation of a FROM clause: its text, and its columns by the names that the query uses."""

    text: Twin
    columns: tuple[Twin, ...]


_STORED = {
    "small.stars": {
        "id": INT, "name": TEXT, "mag": FLOAT, "parallax": FLOAT, "n_obs": INT, "variable": BOOL, '"Mixed Case"': INT,
    },
    "small.spectra": {"id": INT, "star": INT, "flux": FLOAT, "name": TEXT},
    "small.visits": {"id": INT, "star": INT, "begun": TIME, "ended": TIME},
}  # fmt: skip
_OPERATORS = ("UNION", "UNION ALL", "EXCEPT", "EXCEPT ALL", "INTERSECT", "INTERSECT ALL")
_CASTS = {INT: "BIGINT", FLOAT: "DOUBLE", TEXT: "VARCHAR", TIME: "TIMESTAMP"}
_DUCK = {INT: "{}::BIGINT", FLOAT: "{}::DOUBLE", TEXT: "{}", TIME: "{}", BOOL: "{}"}


def _column(reference: str, kind: str) -> Twin:
    return Twin(reference, f"({_DUCK[kind].format(reference)})", kind)


@dataclass
class QueryGenerator(Values):
    """A generator of queries; ``common`` has the columns of the tables of WITH so far."""

    common: dict[str, list[tuple[str, str]]] = field(default_factory=dict)

    # --- tables

    def make_leaf(self) -> Table:
        """Return a stored table, a derived table or a table of WITH."""
        alias = self.make_name("t")
        form = self.draw_count(0, 5)
        if form == 5 and self.room:
            self.room -= 1
            kinds = [self.pick(VALUES) for _ in range(self.draw_count(1, 3))]
            names = [self.make_name("c") for _ in kinds]
            query = self.make_query(kinds, names)
            columns = tuple(_column(f"{alias}.{n}", k) for n, k in zip(names, kinds, strict=True))
            return Table(fill_template(f"({{0}}) AS {alias}", query), columns)
        if form == 4 and self.common:
            table = self.pick(sorted(self.common))
            stored = self.common[table]
        else:
            table = self.pick(tuple(_STORED))
            stored = list(_STORED[table].items())
        text = f"{table} AS {alias}"
        return Table(Twin(text, text), tuple(_column(f"{alias}.{n}", k) for n, k in stored))

    def make_joins(self) -> Table:
        """Return one table, or a tree of joins by any condition."""
        table = self.make_leaf()
        for _ in range(self.pick((0, 0, 1, 1, 2))):
            right = self.make_leaf()
            if self.draw_chance(4):
                right = self._make_join(right, self.make_leaf(), nested=True)
            table = self._make_join(table, right)
        return table

    def _make_join(self, left: Table, right: Table, nested: bool = False) -> Table:
        kind = self.pick(("JOIN", "LEFT JOIN", "INNER JOIN", "RIGHT JOIN", "FULL OUTER JOIN"))
        columns = left.columns + right.columns
        on = self._make_key(left, right) if not self.draw_chance(4) else self.make_condition(Columns(columns), 1)
        if self.draw_chance(3):
            on = fill_template("({0} AND {1})", on, self.make_condition(Columns(columns), 1))
        text = fill_template(f"{{0}} {kind} {{1}} ON {{2}}", left.text, right.text, on)
        return Table(fill_template("({0})", text) if nested else text, columns)

    def _make_key(self, left: Table, right: Table) -> Twin:
        kinds = [k for k in VALUES if Columns(left.columns).of(k) and Columns(right.columns).of(k)]
        if not kinds:
            return self.make_condition(Columns(left.columns + right.columns), 1)
        kind = self.pick(kinds)
        a, b = self.pick(Columns(left.columns).of(kind)), self.pick(Columns(right.columns).of(kind))
        return fill_template("({0} = {1})", a, b)

    def make_merged_joins(self) -> Table:
        """Return a chain of joins by USING or NATURAL, of tables that share column k and no other name."""
        table = self._make_shared()
        for _ in range(self.draw_count(1, 2)):
            right = self._make_shared()
            kind = self.pick(("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"))
            form = self.pick((f"{{0}} {kind} {{1}} USING (k)", f"{{0}} NATURAL {kind} {{1}}"))
            table = Table(fill_template(form, table.text, right.text), table.columns + right.columns[1:])
        return table

    def _make_shared(self) -> Table:
        table = self.pick(("small.stars", "small.spectra"))
        key, other = ("star", "flux") if table == "small.spectra" else ("n_obs", "mag")
        key = self.pick(("id", key))
        names = [self.make_name("c"), self.make_name("c")]
        alias = self.make_name("t")
        text = f"(SELECT {key}{{}} AS k, {other} AS {names[0]}, name AS {names[1]} FROM {table}) AS {alias}"
        return Table(
            Twin(text.format(""), text.format("::BIGINT")),
            (_column("k", INT), _column(names[0], FLOAT), _column(names[1], TEXT)),
        )

    def make_from(self) -> Table:
        form = self.draw_count(0, 7)
        if form == 6:
            return self.make_merged_joins()
        table = self.make_joins()
        if form == 7:
            other = self.make_leaf()
            return Table(fill_template("{0}, {1}", table.text, other.text), table.columns + other.columns)
        return table

    # --- queries

    def make_where(self, columns: Columns) -> Twin:
        return fill_template(" WHERE {0}", self.make_condition(columns)) if self.draw_chance(2) else Twin("", "")

    def make_extreme(self, kind: str) -> Twin:
        self.room -= 1
        table = self.make_leaf()
        column = self.make_value(kind, Columns(table.columns), 1)
        what = fill_template(self.pick(("MAX({})", "MIN({})")), column)
        return fill_template("(SELECT {0} FROM {1}{2})", what, table.text, self.make_where(Columns(table.columns)))

    def make_select(self, kinds: Sequence[str], names: Sequence[str] = (), limited: bool = False) -> Twin:
        """Return one SELECT with outputs of these kinds; a limited one has TOP, OFFSET and a total order."""
        table = self.make_from()
        columns = Columns(table.columns)
        where = self.make_where(columns)
        groups = Twin("", "")
        if self.draw_chance(3):
            outputs, groups, columns = self._make_groups(columns, kinds)
        else:
            outputs = [self.make_value(k, columns) for k in kinds]
        if self.draw_chance(4) and not any(" OVER (" in leaf.adql for leaf in columns.leaves):
            outputs[0] = self._make_windowed(kinds[0], columns)
        aliased = [
            Twin(f"{o.adql} AS {n}", f"{o.sql} AS {n}")
            for o, n in zip(outputs, names or self._make_names(kinds), strict=True)
        ]
        quantifier = self.pick(("", "", "DISTINCT "))
        top, tail = Twin("", ""), Twin("", "")
        if limited:
            by = [] if quantifier or not self.draw_chance(2) else self._make_order_key(columns)
            top, tail = self._make_limit(len(kinds), by)
        return fill_template(
            f"SELECT {quantifier}{{0}}{{1}} FROM {{2}}{{3}}{{4}}{{5}}",
            top, join_twins(aliased), table.text, where, groups, tail,
        )  # fmt: skip

    def _make_order_key(self, columns: Columns) -> list[Twin]:
        """Return an expression that DuckDB does not read as a literal."""
        leaf = self.pick(columns.leaves)
        return (
            []
            if leaf.kind == BOOL
            else [fill_template("COALESCE({0}, {1})", self.make_value(leaf.kind, columns, 1), leaf)]
        )

    def _make_limit(self, count: int, by: Sequence[Twin] = ()) -> tuple[Twin, Twin]:
        """Return TOP, and ORDER BY with OFFSET or LIMIT; rows with equal keys have equal outputs."""
        limit, offset = self.draw_count(0, 6), self.pick((None, 0, 1, 4))
        terms = [*by, *(Twin(str(number), str(number)) for number in range(1, count + 1))]
        skip = "" if offset is None else f" OFFSET {offset}"
        order = self._make_order(terms)
        tail = Twin(f" ORDER BY {order.adql}{skip}", f" ORDER BY {order.sql} LIMIT {limit}{skip}")
        return Twin(f"TOP {limit} ", ""), tail

    def _make_order(self, terms: Sequence[Twin]) -> Twin:
        directions = [self.pick(("", " ASC", " DESC")) for _ in terms]
        return join_twins(
            [
                Twin(f"{term.adql}{direction}", f"{term.sql}{direction} NULLS LAST")
                for term, direction in zip(terms, directions, strict=True)
            ]
        )

    def _make_names(self, kinds: Sequence[str]) -> list[str]:
        return [self.make_name("c") for _ in kinds]

    def _make_groups(self, columns: Columns, kinds: Sequence[str]) -> tuple[list[Twin], Twin, Columns]:
        """Return the outputs, GROUP BY with HAVING, and the operands of the outputs."""
        keys = [self._make_group_key(columns) for _ in range(self.draw_count(0, 2))]
        functions = [self._make_set_function(kind, columns) for kind in (*VALUES, self.pick(VALUES))]
        leaves = Columns((*keys, *functions))
        outputs = [self.make_value(kind, leaves, 1) for kind in kinds]
        if not keys:  # without GROUP BY, a set function makes the SELECT a grouped one
            plain = self._make_set_function(kinds[0], columns)
            outputs[0] = plain
            groups = Twin("", "")
        else:
            groups = fill_template(" GROUP BY {0}", join_twins(keys))
        if self.draw_chance(3):
            groups = fill_template("{0} HAVING {1}", groups, self.make_condition(leaves, 1))
        return outputs, groups, leaves

    def _make_group_key(self, columns: Columns) -> Twin:
        """Return an expression with a column: DuckDB reads a literal as the number of an output."""
        leaf = self.pick([c for c in columns.leaves if c.kind != BOOL])
        if leaf.kind == INT and self.draw_chance(3):
            return fill_template("({0} / {1})", leaf, self.make_literal(INT), sql="({0} // {1})")
        if leaf.kind == TEXT and self.draw_chance(3):
            return fill_template("UPPER({0})", leaf)
        return leaf

    def _make_set_function(self, kind: str, columns: Columns) -> Twin:
        distinct = self.pick(("", "", "DISTINCT "))
        value = self.make_value(kind, columns, 1)
        options = [fill_template(f"MIN({distinct}{{0}})", value), fill_template(f"MAX({distinct}{{0}})", value)]
        if kind == INT:
            counted = self.make_value(self.pick(VALUES), columns, 1)
            options += [
                fill_template(f"COUNT({distinct}{{0}})", counted, kind=INT),
                Twin("COUNT(*)", "COUNT(*)", INT),
                fill_template(f"SUM({distinct}{{0}})", value, sql=f"SUM({distinct}{{0}})::BIGINT"),
            ]
        if kind == FLOAT:
            number = self.pick(columns.of(FLOAT) or [self.make_literal(FLOAT)])
            options += [fill_template(f"SUM({distinct}{{0}})", number), fill_template(f"AVG({distinct}{{0}})", number)]
            options += [fill_template("MEDIAN({0})", number)]
        return self.pick(options)

    # --- windows

    def _make_windowed(self, kind: str, columns: Columns) -> Twin:
        """Return a window function, perhaps within another form. Rows with equal keys are equal in all columns."""
        room, self.room = self.room, 0  # DuckDB accepts no subqueries with windows inside a window
        windowed = self._make_window(kind, columns)
        self.room = room
        return (
            fill_template("COALESCE({0}, {1})", windowed, self.make_literal(kind)) if self.draw_chance(4) else windowed
        )

    def _make_window(self, kind: str, columns: Columns) -> Twin:
        partition = Twin("", "")
        if self.draw_chance(2):
            partition = fill_template(
                "PARTITION BY {0} ",
                join_twins([self.make_value(self.pick(VALUES), columns, 1) for _ in range(self.draw_count(1, 2))]),
            )
        if kind == INT and self.draw_chance(3):
            order = self._make_order([self.make_value(self.pick(VALUES), columns, 1)])
            function = self.pick(("RANK()", "DENSE_RANK()", "COUNT(*)"))
            return fill_template(f"{function} OVER ({{0}}ORDER BY {{1}})", partition, order, kind=INT)
        if self.draw_chance(4):
            return self._make_range_window(kind, columns, partition)
        function, framed = self._make_window_function(kind, columns)
        order = self._make_order([self.make_value(self.pick(VALUES), columns, 1), *columns.leaves])
        frame = self._make_frame() if framed else ""
        windowed = fill_template(f"{{0}} OVER ({{1}}ORDER BY {{2}}{frame})", function, partition, order)
        if kind == INT:
            windowed = fill_template("{0}", windowed, sql="CAST({0} AS BIGINT)")
        return windowed

    def _make_range_window(self, kind: str, columns: Columns, partition: Twin) -> Twin:
        """Return a set function of the rows whose keys are close to the current row's key."""
        before, after = self.pick(("2 PRECEDING", "0 PRECEDING")), self.pick(("CURRENT ROW", "3 FOLLOWING"))
        function = self._make_set_function(kind, columns)
        order = self._make_order([self.make_value(self.pick((INT, FLOAT)), columns, 1)])
        return fill_template(
            f"{{0}} OVER ({{1}}ORDER BY {{2}} RANGE BETWEEN {before} AND {after})",
            Twin(function.adql, function.sql.removesuffix("::BIGINT"), kind), partition, order,
            sql=f"CAST({{0}} OVER ({{1}}ORDER BY {{2}} RANGE BETWEEN {before} AND {after}) AS {_CASTS[kind]})",
        )  # fmt: skip

    def _make_window_function(self, kind: str, columns: Columns) -> tuple[Twin, bool]:
        """Return the call, and whether it takes a frame."""
        value, other = (self.make_value(kind, columns, 1) for _ in range(2))
        n = self.draw_count(1, 3)
        grouped = self._make_set_function(kind, columns)
        framed = [Twin(grouped.adql, grouped.sql.removesuffix("::BIGINT"), kind)] + [
            fill_template(form, value) for form in ("FIRST_VALUE({0})", "LAST_VALUE({0})", f"NTH_VALUE({{0}}, {n})")
        ]
        plain = [fill_template(f"{f}({{0}}, {n}, {{1}})", value, other) for f in ("LAG", "LEAD")]
        plain += [fill_template("LAG({0})", value), fill_template("LEAD({0})", value)]
        if kind == INT:
            plain += [Twin(text, text, INT) for text in ("ROW_NUMBER()", f"NTILE({n})")]
        if kind == FLOAT:
            plain += [Twin(text, text, FLOAT) for text in ("PERCENT_RANK()", "CUME_DIST()")]
        return (self.pick(framed), True) if self.draw_chance(2) else (self.pick(plain), False)

    def _make_frame(self) -> str:
        bounds = ("UNBOUNDED PRECEDING", "{} PRECEDING", "CURRENT ROW", "{} FOLLOWING", "UNBOUNDED FOLLOWING")
        start = self.draw_count(0, 3)
        end = self.draw_count(max(start, 1), 4)
        near, far = sorted((self.draw_count(0, 3), self.draw_count(0, 3)))
        first, last = (far, near) if end == 1 else (near, far)
        between = f"{bounds[start].format(first)} AND {bounds[end].format(last)}"
        unit = "RANGE" if {start, end}.isdisjoint({1, 3}) else "ROWS"
        return self.pick(("", f" {unit} BETWEEN {between}"))

    # --- whole queries

    def make_query(self, kinds: Sequence[str], names: Sequence[str] = ()) -> Twin:
        """Return a SELECT, perhaps limited in a total order, or a set operation."""
        if self.room and self.draw_chance(4):
            return self._make_set_operation(kinds, names)
        return self.make_select(kinds, names, limited=self.draw_chance(3))

    def _make_set_operation(self, kinds: Sequence[str], names: Sequence[str]) -> Twin:
        self.room -= 1
        operator = self.pick(_OPERATORS)
        left = self.make_select(kinds, names)
        right = self.make_select([self.pick((FLOAT, INT)) if k == FLOAT else k for k in kinds])
        text = fill_template(
            f"{{0}} {operator} {{1}}", left, fill_template("({0})", right) if self.draw_chance(2) else right
        )
        if self.room and self.draw_chance(3):
            form = self.pick(("({{0}}) {} {{1}}", "{{0}} {} {{1}}"))
            text = fill_template(form.format(self.pick(_OPERATORS)), text, self.make_select(kinds))
        return text

    def make_statement(self) -> Twin:
        """Return a query, perhaps with WITH."""
        tables = []
        for _ in range(self.pick((0, 0, 0, 1, 2, 3))):
            name = self.make_name("w")
            kinds = [self.pick(VALUES) for _ in range(self.draw_count(1, 3))]
            names = self._make_names(kinds)
            tables.append(fill_template(f"{name} AS ({{0}})", self.make_query(kinds, names)))
            self.common[name] = list(zip(names, kinds, strict=True))
        query = self.make_query(
            [*(self.pick(VALUES) for _ in range(self.draw_count(1, 4))), *self.pick(((), (), (BOOL,)))]
        )
        return fill_template("WITH {0} {1}", join_twins(tables), query) if tables else query


@st.composite
def queries(draw: Callable[[st.SearchStrategy[Any]], Any]) -> Twin:
    return QueryGenerator(draw).make_statement()
