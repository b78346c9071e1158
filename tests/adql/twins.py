"""Random queries, each piece of which is printed twice: as ADQL and as the SQL of DuckDB that means the same.

Integers are BIGINT and reals DOUBLE in DuckDB, as they are in ADQL's arithmetic. Values stay exact in both (small
numbers, powers of two below the point), so that both engines must give the same ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from hypothesis import strategies as st

Thing = TypeVar("Thing")

INT, FLOAT, TEXT, BOOL = "int", "float", "text", "bool"
VALUES = (INT, FLOAT, TEXT)


@dataclass(frozen=True)
class Twin:
    adql: str
    sql: str
    kind: str = ""


def made(template: str, *parts: Twin, sql: str = "", kind: str = "") -> Twin:
    """``template`` filled with the parts in both spellings; ``sql`` is DuckDB's template where it differs."""
    return Twin(
        template.format(*(p.adql for p in parts)),
        (sql or template).format(*(p.sql for p in parts)),
        kind or (parts[0].kind if parts else ""),
    )


def listed(parts: Sequence[Twin], separator: str = ", ") -> Twin:
    return Twin(separator.join(p.adql for p in parts), separator.join(p.sql for p in parts))


@dataclass(frozen=True)
class Columns:
    """What an expression may be made of: columns, or in a grouped query its keys and set functions."""

    leaves: tuple[Twin, ...]

    def of(self, kind: str) -> list[Twin]:
        return [leaf for leaf in self.leaves if leaf.kind == kind]


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
}  # fmt: skip
_DUCK = {INT: "{}::BIGINT", FLOAT: "{}::DOUBLE", TEXT: "{}", BOOL: "{}"}
_TEXTS = ("'alpha'", "'a'", "''", "'Éta_é'", "'it''s'", "'b%'", "'back\\slash'")
_PATTERNS = ("'%a%'", "'_%'", "''", "'%'", "'a____'", "'%\\%'", "'É%\\_é'", "'%''%'", "'B%'")
_REALS = ("0.5", "-0.0", "1.5", "2.0", "-3.25", "7.0", "1e10", "0.0")
_COMPARISONS = ("=", "<>", "<", "<=", ">", ">=")


def _column(reference: str, kind: str) -> Twin:
    return Twin(reference, f"({_DUCK[kind].format(reference)})", kind)


@dataclass
class Maker:
    """Draws the pieces; ``room`` is how many more SELECTs the query may have."""

    draw: Callable[[st.SearchStrategy[Any]], Any]
    room: int = 3
    common: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    numbers: int = 0

    def pick(self, options: Sequence[Thing]) -> Thing:
        choice: Thing = self.draw(st.sampled_from(options))
        return choice

    def count(self, least: int, most: int) -> int:
        number: int = self.draw(st.integers(least, most))
        return number

    def chance(self, one_in: int) -> bool:
        return self.count(0, one_in - 1) == one_in - 1

    def name(self, stem: str) -> str:
        self.numbers += 1
        return f"{stem}{self.numbers}"

    # --- values

    def value(self, kind: str, columns: Columns, depth: int = 2) -> Twin:
        if kind == BOOL:
            return self.condition(columns, depth)
        leaves = columns.of(kind)
        if depth == 0 or self.chance(3):
            return self.pick(leaves) if leaves and not self.chance(4) else self.literal(kind)
        makers = {INT: self._int, FLOAT: self._float, TEXT: self._text}
        return self._any(kind, columns, depth) if self.chance(4) else makers[kind](columns, depth)

    def literal(self, kind: str) -> Twin:
        if kind == INT:
            number = str(self.count(-3, 12))
            return Twin(number, f"({number}::BIGINT)", INT)
        if kind == FLOAT:
            number = self.pick(_REALS)
            return Twin(number, f"({number}::DOUBLE)", FLOAT)
        text = self.pick(_TEXTS)
        return Twin(text, text, TEXT)

    def _any(self, kind: str, columns: Columns, depth: int) -> Twin:
        """Forms that all kinds have."""
        a, b = (self.value(kind, columns, depth - 1) for _ in range(2))
        form = self.count(0, 4)
        if form == 0:
            return made("COALESCE({0}, {1})", a, b)
        if form == 1:
            return made("CASE WHEN {1} THEN {0} ELSE {2} END", a, self.condition(columns, depth - 1), b)
        if form == 2:
            return made("CASE WHEN {1} THEN {0} END", a, self.condition(columns, depth - 1))
        if form == 3:
            tested, equal = (self.value(self.pick(VALUES[:2]), columns, depth - 1) for _ in range(2))
            return made("CASE {1} WHEN {2} THEN {0} WHEN NULL THEN {3} ELSE NULL END", a, tested, equal, b)
        return self._scalar(kind) if self.room else a

    def _scalar(self, kind: str) -> Twin:
        """A subquery of one row: a minimum or maximum without groups."""
        self.room -= 1
        table = self.leaf()
        column = self.value(kind, Columns(table.columns), 1)
        what = made(self.pick(("MAX({})", "MIN({})")), column)
        where = self.where(Columns(table.columns))
        return made("(SELECT {0} FROM {1}{2})", what, table.text, where)

    def _int(self, columns: Columns, depth: int) -> Twin:
        a, b = (self.value(INT, columns, depth - 1) for _ in range(2))
        real = self.pick(columns.of(FLOAT) or [self.literal(FLOAT)])
        small = self.literal(INT)
        return self.pick(
            (
                made("({0} + {1})", a, b),
                made("({0} - {1})", a, b),
                made("({0} * {1})", a, small),
                made("({0} / {1})", a, b, sql="({0} // {1})"),
                made("MOD({0}, {1})", a, b),
                made("(- {0})", a),
                made("ABS({0})", a),
                made("({0} & {1})", a, b),
                made("({0} | {1})", a, b),
                made("({0} ^ {1})", a, b, sql="xor({0}, {1})"),
                made("~{0}", a, sql="(~{0})"),
                made("CAST({0} AS BIGINT)", real, sql="CAST(trunc({0}) AS BIGINT)", kind=INT),
            )
        )

    def _float(self, columns: Columns, depth: int) -> Twin:
        a, b = self.value(FLOAT, columns, depth - 1), self.value(self.pick((FLOAT, INT)), columns, depth - 1)
        i = self.value(INT, columns, depth - 1)
        return self.pick(
            (
                made("({0} + {1})", a, b),
                made("({1} - {0})", a, b),
                made("({0} * {1})", a, b),
                made("({0} / {1})", a, b, sql="({0} / nullif({1}, 0))"),
                made("({1} / {0})", a, b, sql="({1} / nullif({0}, 0))"),
                made("(- {0})", a),
                made("ABS({0})", a),
                made("FLOOR({0})", a),
                made("CEILING({0})", a),
                made("ROUND({0})", a),
                made("TRUNCATE({0})", a, sql="trunc({0})"),
                made("SQRT(ABS({0}))", a),
                made("CAST({0} AS DOUBLE PRECISION)", i, kind=FLOAT),
            )
        )

    def _text(self, columns: Columns, depth: int) -> Twin:
        a, b = (self.value(TEXT, columns, depth - 1) for _ in range(2))
        i = self.value(INT, columns, depth - 1)
        return self.pick(
            (
                made("({0} || {1})", a, b),
                made("LOWER({0})", a),
                made("UPPER({0})", a),
                made("CAST({0} AS VARCHAR)", i, kind=TEXT),
                made("CAST({0} AS CHAR(3))", a, sql="substring({0}, 1, 3)"),
            )
        )

    # --- conditions

    def condition(self, columns: Columns, depth: int = 2) -> Twin:
        flags = columns.of(BOOL)
        if depth == 0 or self.chance(3):
            return self.pick(flags) if flags and self.chance(5) else self._comparison(columns, 0)
        form = self.count(0, 8)
        if form <= 2:
            a, b = (self.condition(columns, depth - 1) for _ in range(2))
            return made(self.pick(("({0} AND {1})", "({0} OR {1})")), a, b, kind=BOOL)
        if form == 3:
            return made("(NOT {0})", self.condition(columns, depth - 1), kind=BOOL)
        if form == 4:
            return self._membership(columns, depth - 1)
        if form == 5:
            return self._like(columns, depth - 1)
        if form == 6:
            kind = self.pick(VALUES)
            a = self.value(kind, columns, depth - 1)
            return made(self.pick(("({0} IS NULL)", "({0} IS NOT NULL)")), a, kind=BOOL)
        if form == 7 and self.room:
            self.room -= 1
            exists = made("EXISTS ({0})", self.select([self.pick(VALUES)]), kind=BOOL)
            return made("(NOT {0})", exists, kind=BOOL) if self.chance(2) else exists
        return self._comparison(columns, depth - 1)

    def _comparison(self, columns: Columns, depth: int) -> Twin:
        kind = self.pick(VALUES)
        a, b, c = (self.value(kind, columns, depth) for _ in range(3))
        if self.chance(12):
            b = Twin("NULL", "NULL")
        if self.chance(4):
            return made(self.pick(("({0} BETWEEN {1} AND {2})", "({0} NOT BETWEEN {1} AND {2})")), a, b, c, kind=BOOL)
        return made(f"({{0}} {self.pick(_COMPARISONS)} {{1}})", a, b, kind=BOOL)

    def _membership(self, columns: Columns, depth: int) -> Twin:
        kind = self.pick(VALUES)
        other = FLOAT if kind == INT and self.chance(4) else kind
        a = self.value(kind, columns, depth)
        negation = self.pick(("", " NOT"))
        if self.room and self.chance(2):
            self.room -= 1
            return made(f"({{0}}{negation} IN ({{1}}))", a, self.select([other]), kind=BOOL)
        plain = self.chance(2)
        items = [self.literal(other) if plain else self.value(other, columns, depth) for _ in range(self.count(1, 4))]
        if self.chance(4):
            items.append(Twin("NULL", "NULL"))
        return made(f"({{0}}{negation} IN ({{1}}))", a, listed(items), kind=BOOL)

    def _like(self, columns: Columns, depth: int) -> Twin:
        a = self.value(TEXT, columns, depth)
        pattern = self.value(TEXT, columns, depth) if self.chance(4) else Twin(*[self.pick(_PATTERNS)] * 2)
        word = self.pick(("LIKE", "NOT LIKE", "ILIKE", "NOT ILIKE"))
        return made(f"({{0}} {word} {{1}})", a, pattern, kind=BOOL)

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
        table = self.pick(tuple(_STORED))
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

    def select(self, kinds: Sequence[str], names: Sequence[str] = (), limit: int | None = None) -> Twin:
        """One SELECT with outputs of these kinds; ``limit`` writes TOP and LIMIT."""
        table = self.from_()
        columns = Columns(table.columns)
        where = self.where(columns)
        if self.chance(3):
            outputs, groups = self._grouped(columns, kinds)
        else:
            outputs, groups = [self.value(k, columns) for k in kinds], Twin("", "")
        aliased = [
            Twin(f"{o.adql} AS {n}", f"{o.sql} AS {n}")
            for o, n in zip(outputs, names or self._names(kinds), strict=True)
        ]
        quantifier = self.pick(("", "", "DISTINCT "))
        top = "" if limit is None else f"TOP {limit} "
        return made(
            f"SELECT {quantifier}{top}{{0}} FROM {{1}}{{2}}{{3}}",
            listed(aliased), table.text, where, groups,
            sql=f"SELECT {quantifier}{{0}} FROM {{1}}{{2}}{{3}}",
        )  # fmt: skip

    def _names(self, kinds: Sequence[str]) -> list[str]:
        return [self.name("c") for _ in kinds]

    def _grouped(self, columns: Columns, kinds: Sequence[str]) -> tuple[list[Twin], Twin]:
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
        return outputs, groups

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
        return self.pick(options)

    def query(self, kinds: Sequence[str], names: Sequence[str] = ()) -> Twin:
        """A SELECT, maybe limited in a total order, or a set operation of several."""
        if self.room and self.chance(4):
            return self._set_operation(kinds, names)
        if not self.chance(3):
            return self.select(kinds, names)
        limit, offset = self.count(0, 6), self.pick((None, 0, 1, 4))
        places = list(range(1, len(kinds) + 1))
        directions = [self.pick(("", " ASC", " DESC")) for _ in places]
        tail = "" if offset is None else f" OFFSET {offset}"
        return made(
            f"{{0}} ORDER BY {', '.join(f'{p}{d}' for p, d in zip(places, directions, strict=True))}{tail}",
            self.select(kinds, names, limit),
            sql=f"{{0}} ORDER BY {', '.join(f'{p}{d} NULLS LAST' for p, d in zip(places, directions, strict=True))}"
            f" LIMIT {limit}{tail}",
        )  # fmt: skip

    def _set_operation(self, kinds: Sequence[str], names: Sequence[str]) -> Twin:
        self.room -= 1
        operator = self.pick(("UNION", "UNION ALL", "EXCEPT", "INTERSECT"))
        left = self.select(kinds, names)
        right = self.select([self.pick((FLOAT, INT)) if k == FLOAT else k for k in kinds])
        text = made(f"{{0}} {operator} {{1}}", left, made("({0})", right) if self.chance(2) else right)
        if self.room and self.chance(3):
            operator = self.pick(("UNION", "EXCEPT", "INTERSECT"))
            text = made(f"({{0}}) {operator} {{1}}", text, self.select(kinds))
        return text

    def statement(self) -> Twin:
        """A whole query, with its WITH tables."""
        tables = []
        for _ in range(self.pick((0, 0, 0, 1, 2))):
            name = self.name("w")
            kinds = [self.pick(VALUES) for _ in range(self.count(1, 3))]
            names = self._names(kinds)
            tables.append(made(f"{name} AS ({{0}})", self.query(kinds, names)))
            self.common[name] = list(zip(names, kinds, strict=True))
        query = self.query([self.pick((*VALUES, BOOL)[:3]) for _ in range(self.count(1, 4))])
        return made("WITH {0} {1}", listed(tables), query) if tables else query


@st.composite
def queries(draw: Callable[[st.SearchStrategy[Any]], Any]) -> Twin:
    return Maker(draw).statement()
