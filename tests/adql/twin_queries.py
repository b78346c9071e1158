"""Random queries over three small tables, each printed twice: as ADQL and as DuckDB's SQL."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from tests.adql.twins import BOOL, FLOAT, INT, TEXT, TIME, VALUES, Columns, Twin, Values, listed, made


@dataclass(frozen=True)
class Table:
    """A relation of a FROM clause: its text and its columns as they are named outside of it."""

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
class Maker(Values):
    """``common``: the WITH tables so far, with their columns."""

    common: dict[str, list[tuple[str, str]]] = field(default_factory=dict)

    # --- tables

    def leaf(self) -> Table:
        """A stored table, a derived one or one of WITH."""
        alias = self.name("t")
        form = self.count(0, 5)
        if form == 5 and self.room:
            self.room -= 1
            kinds = [self.pick(VALUES) for _ in range(self.count(1, 3))]
            names = [self.name("c") for _ in kinds]
            query = self.query(kinds, names)
            columns = tuple(_column(f"{alias}.{n}", k) for n, k in zip(names, kinds, strict=True))
            return Table(made(f"({{0}}) AS {alias}", query), columns)
        if form == 4 and self.common:
            table = self.pick(sorted(self.common))
            stored = self.common[table]
        else:
            table = self.pick(tuple(_STORED))
            stored = list(_STORED[table].items())
        text = f"{table} AS {alias}"
        return Table(Twin(text, text), tuple(_column(f"{alias}.{n}", k) for n, k in stored))

    def joined(self) -> Table:
        """One table, or a tree of joins with any condition."""
        table = self.leaf()
        for _ in range(self.pick((0, 0, 1, 1, 2))):
            right = self.leaf()
            if self.chance(4):
                right = self._join(right, self.leaf(), nested=True)
            table = self._join(table, right)
        return table

    def _join(self, left: Table, right: Table, nested: bool = False) -> Table:
        kind = self.pick(("JOIN", "LEFT JOIN", "INNER JOIN", "RIGHT JOIN", "FULL OUTER JOIN"))
        columns = left.columns + right.columns
        on = self._key(left, right) if not self.chance(4) else self.condition(Columns(columns), 1)
        if self.chance(3):
            on = made("({0} AND {1})", on, self.condition(Columns(columns), 1))
        text = made(f"{{0}} {kind} {{1}} ON {{2}}", left.text, right.text, on)
        return Table(made("({0})", text) if nested else text, columns)

    def _key(self, left: Table, right: Table) -> Twin:
        kinds = [k for k in VALUES if Columns(left.columns).of(k) and Columns(right.columns).of(k)]
        if not kinds:
            return self.condition(Columns(left.columns + right.columns), 1)
        kind = self.pick(kinds)
        a, b = self.pick(Columns(left.columns).of(kind)), self.pick(Columns(right.columns).of(kind))
        return made("({0} = {1})", a, b)

    def merged(self) -> Table:
        """A chain of joins by USING or NATURAL: all tables share column k and no other name."""
        table = self._shared()
        for _ in range(self.count(1, 2)):
            right = self._shared()
            kind = self.pick(("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"))
            form = self.pick((f"{{0}} {kind} {{1}} USING (k)", f"{{0}} NATURAL {kind} {{1}}"))
            table = Table(made(form, table.text, right.text), table.columns + right.columns[1:])
        return table

    def _shared(self) -> Table:
        table = self.pick(("small.stars", "small.spectra"))
        key, other = ("star", "flux") if table == "small.spectra" else ("n_obs", "mag")
        key = self.pick(("id", key))
        names = [self.name("c"), self.name("c")]
        alias = self.name("t")
        text = f"(SELECT {key}{{}} AS k, {other} AS {names[0]}, name AS {names[1]} FROM {table}) AS {alias}"
        return Table(
            Twin(text.format(""), text.format("::BIGINT")),
            (_column("k", INT), _column(names[0], FLOAT), _column(names[1], TEXT)),
        )

    def from_(self) -> Table:
        form = self.count(0, 7)
        if form == 6:
            return self.merged()
        table = self.joined()
        if form == 7:
            other = self.leaf()
            return Table(made("{0}, {1}", table.text, other.text), table.columns + other.columns)
        return table

    # --- queries

    def where(self, columns: Columns) -> Twin:
        return made(" WHERE {0}", self.condition(columns)) if self.chance(2) else Twin("", "")

    def extreme(self, kind: str) -> Twin:
        self.room -= 1
        table = self.leaf()
        column = self.value(kind, Columns(table.columns), 1)
        what = made(self.pick(("MAX({})", "MIN({})")), column)
        return made("(SELECT {0} FROM {1}{2})", what, table.text, self.where(Columns(table.columns)))

    def select(self, kinds: Sequence[str], names: Sequence[str] = (), limited: bool = False) -> Twin:
        """One SELECT with outputs of these kinds; ``limited``: with TOP, OFFSET and a total order."""
        table = self.from_()
        columns = Columns(table.columns)
        where = self.where(columns)
        groups = Twin("", "")
        if self.chance(3):
            outputs, groups, columns = self._grouped(columns, kinds)
        else:
            outputs = [self.value(k, columns) for k in kinds]
        if self.chance(4) and not any(" OVER (" in leaf.adql for leaf in columns.leaves):
            outputs[0] = self._windowed(kinds[0], columns)
        aliased = [
            Twin(f"{o.adql} AS {n}", f"{o.sql} AS {n}")
            for o, n in zip(outputs, names or self._names(kinds), strict=True)
        ]
        quantifier = self.pick(("", "", "DISTINCT "))
        top, tail = Twin("", ""), Twin("", "")
        if limited:
            by = [] if quantifier or not self.chance(2) else self._order_key(columns)
            top, tail = self._limited(len(kinds), by)
        return made(
            f"SELECT {quantifier}{{0}}{{1}} FROM {{2}}{{3}}{{4}}{{5}}",
            top, listed(aliased), table.text, where, groups, tail,
        )  # fmt: skip

    def _order_key(self, columns: Columns) -> list[Twin]:
        """An expression that DuckDB takes for no literal."""
        leaf = self.pick(columns.leaves)
        return [] if leaf.kind == BOOL else [made("COALESCE({0}, {1})", self.value(leaf.kind, columns, 1), leaf)]

    def _limited(self, count: int, by: Sequence[Twin] = ()) -> tuple[Twin, Twin]:
        """TOP or nothing, and what stands at the end: ORDER BY, OFFSET or LIMIT; equals are equal in all outputs."""
        limit, offset = self.count(0, 6), self.pick((None, 0, 1, 4))
        terms = [*by, *(Twin(str(place), str(place)) for place in range(1, count + 1))]
        skip = "" if offset is None else f" OFFSET {offset}"
        order = self._ordered(terms)
        tail = Twin(f" ORDER BY {order.adql}{skip}", f" ORDER BY {order.sql} LIMIT {limit}{skip}")
        return Twin(f"TOP {limit} ", ""), tail

    def _ordered(self, terms: Sequence[Twin]) -> Twin:
        directions = [self.pick(("", " ASC", " DESC")) for _ in terms]
        return listed(
            [
                Twin(f"{term.adql}{direction}", f"{term.sql}{direction} NULLS LAST")
                for term, direction in zip(terms, directions, strict=True)
            ]
        )

    def _names(self, kinds: Sequence[str]) -> list[str]:
        return [self.name("c") for _ in kinds]

    def _grouped(self, columns: Columns, kinds: Sequence[str]) -> tuple[list[Twin], Twin, Columns]:
        """Outputs, GROUP BY with HAVING, and what the outputs are made of."""
        keys = [self._group_key(columns) for _ in range(self.count(0, 2))]
        functions = [self._set_function(kind, columns) for kind in (*VALUES, self.pick(VALUES))]
        leaves = Columns((*keys, *functions))
        outputs = [self.value(kind, leaves, 1) for kind in kinds]
        if not keys:  # without GROUP BY, a set function makes the group
            plain = self._set_function(kinds[0], columns)
            outputs[0] = plain
            groups = Twin("", "")
        else:
            groups = made(" GROUP BY {0}", listed(keys))
        if self.chance(3):
            groups = made("{0} HAVING {1}", groups, self.condition(leaves, 1))
        return outputs, groups, leaves

    def _group_key(self, columns: Columns) -> Twin:
        """A column or an expression that holds one, for DuckDB takes a literal as a place."""
        leaf = self.pick([c for c in columns.leaves if c.kind != BOOL])
        if leaf.kind == INT and self.chance(3):
            return made("({0} / {1})", leaf, self.literal(INT), sql="({0} // {1})")
        if leaf.kind == TEXT and self.chance(3):
            return made("UPPER({0})", leaf)
        return leaf

    def _set_function(self, kind: str, columns: Columns) -> Twin:
        distinct = self.pick(("", "", "DISTINCT "))
        value = self.value(kind, columns, 1)
        options = [made(f"MIN({distinct}{{0}})", value), made(f"MAX({distinct}{{0}})", value)]
        if kind == INT:
            counted = self.value(self.pick(VALUES), columns, 1)
            options += [
                made(f"COUNT({distinct}{{0}})", counted, kind=INT),
                Twin("COUNT(*)", "COUNT(*)", INT),
                made(f"SUM({distinct}{{0}})", value, sql=f"SUM({distinct}{{0}})::BIGINT"),
            ]
        if kind == FLOAT:
            number = self.pick(columns.of(FLOAT) or [self.literal(FLOAT)])
            options += [made(f"SUM({distinct}{{0}})", number), made(f"AVG({distinct}{{0}})", number)]
            options += [made("MEDIAN({0})", number)]
        return self.pick(options)

    # --- windows

    def _windowed(self, kind: str, columns: Columns) -> Twin:
        """A window function, maybe inside of another form. Rows that are equals in its order are equal altogether."""
        room, self.room = self.room, 0  # DuckDB takes no subqueries with windows in a window
        windowed = self._window(kind, columns)
        self.room = room
        return made("COALESCE({0}, {1})", windowed, self.literal(kind)) if self.chance(4) else windowed

    def _window(self, kind: str, columns: Columns) -> Twin:
        partition = Twin("", "")
        if self.chance(2):
            partition = made(
                "PARTITION BY {0} ",
                listed([self.value(self.pick(VALUES), columns, 1) for _ in range(self.count(1, 2))]),
            )
        if kind == INT and self.chance(3):
            order = self._ordered([self.value(self.pick(VALUES), columns, 1)])
            function = self.pick(("RANK()", "DENSE_RANK()", "COUNT(*)"))
            return made(f"{function} OVER ({{0}}ORDER BY {{1}})", partition, order, kind=INT)
        if self.chance(4):
            return self._within_range(kind, columns, partition)
        function, framed = self._window_function(kind, columns)
        order = self._ordered([self.value(self.pick(VALUES), columns, 1), *columns.leaves])
        frame = self._frame() if framed else ""
        windowed = made(f"{{0}} OVER ({{1}}ORDER BY {{2}}{frame})", function, partition, order)
        if kind == INT:
            windowed = made("{0}", windowed, sql="CAST({0} AS BIGINT)")
        return windowed

    def _within_range(self, kind: str, columns: Columns, partition: Twin) -> Twin:
        """A set function of the rows whose key is near that of this one."""
        before, after = self.pick(("2 PRECEDING", "0 PRECEDING")), self.pick(("CURRENT ROW", "3 FOLLOWING"))
        function = self._set_function(kind, columns)
        order = self._ordered([self.value(self.pick((INT, FLOAT)), columns, 1)])
        return made(
            f"{{0}} OVER ({{1}}ORDER BY {{2}} RANGE BETWEEN {before} AND {after})",
            Twin(function.adql, function.sql.removesuffix("::BIGINT"), kind), partition, order,
            sql=f"CAST({{0}} OVER ({{1}}ORDER BY {{2}} RANGE BETWEEN {before} AND {after}) AS {_CASTS[kind]})",
        )  # fmt: skip

    def _window_function(self, kind: str, columns: Columns) -> tuple[Twin, bool]:
        """The call, and whether it takes a frame."""
        value, other = (self.value(kind, columns, 1) for _ in range(2))
        n = self.count(1, 3)
        grouped = self._set_function(kind, columns)
        framed = [Twin(grouped.adql, grouped.sql.removesuffix("::BIGINT"), kind)] + [
            made(form, value) for form in ("FIRST_VALUE({0})", "LAST_VALUE({0})", f"NTH_VALUE({{0}}, {n})")
        ]
        plain = [made(f"{f}({{0}}, {n}, {{1}})", value, other) for f in ("LAG", "LEAD")]
        plain += [made("LAG({0})", value), made("LEAD({0})", value)]
        if kind == INT:
            plain += [Twin(text, text, INT) for text in ("ROW_NUMBER()", f"NTILE({n})")]
        if kind == FLOAT:
            plain += [Twin(text, text, FLOAT) for text in ("PERCENT_RANK()", "CUME_DIST()")]
        return (self.pick(framed), True) if self.chance(2) else (self.pick(plain), False)

    def _frame(self) -> str:
        bounds = ("UNBOUNDED PRECEDING", "{} PRECEDING", "CURRENT ROW", "{} FOLLOWING", "UNBOUNDED FOLLOWING")
        start = self.count(0, 3)
        end = self.count(max(start, 1), 4)
        near, far = sorted((self.count(0, 3), self.count(0, 3)))
        first, last = (far, near) if end == 1 else (near, far)
        between = f"{bounds[start].format(first)} AND {bounds[end].format(last)}"
        unit = "RANGE" if {start, end}.isdisjoint({1, 3}) else "ROWS"
        return self.pick(("", f" {unit} BETWEEN {between}"))

    # --- whole queries

    def query(self, kinds: Sequence[str], names: Sequence[str] = ()) -> Twin:
        """A SELECT or a set operation of several, maybe limited in a total order."""
        if self.room and self.chance(4):
            return self._set_operation(kinds, names)
        return self.select(kinds, names, limited=self.chance(3))

    def _set_operation(self, kinds: Sequence[str], names: Sequence[str]) -> Twin:
        self.room -= 1
        operator = self.pick(_OPERATORS)
        left = self.select(kinds, names)
        right = self.select([self.pick((FLOAT, INT)) if k == FLOAT else k for k in kinds])
        text = made(f"{{0}} {operator} {{1}}", left, made("({0})", right) if self.chance(2) else right)
        if self.room and self.chance(3):
            form = self.pick(("({{0}}) {} {{1}}", "{{0}} {} {{1}}"))
            text = made(form.format(self.pick(_OPERATORS)), text, self.select(kinds))
        return text

    def statement(self) -> Twin:
        """A whole query, with its WITH tables."""
        tables = []
        for _ in range(self.pick((0, 0, 0, 1, 2, 3))):
            name = self.name("w")
            kinds = [self.pick(VALUES) for _ in range(self.count(1, 3))]
            names = self._names(kinds)
            tables.append(made(f"{name} AS ({{0}})", self.query(kinds, names)))
            self.common[name] = list(zip(names, kinds, strict=True))
        query = self.query([*(self.pick(VALUES) for _ in range(self.count(1, 4))), *self.pick(((), (), (BOOL,)))])
        return made("WITH {0} {1}", listed(tables), query) if tables else query


@st.composite
def queries(draw: Callable[[st.SearchStrategy[Any]], Any]) -> Twin:
    return Maker(draw).statement()
