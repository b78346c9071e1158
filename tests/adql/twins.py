"""Random values and conditions, each written twice: as ADQL and as DuckDB's equivalent SQL.

Integers are BIGINT and reals DOUBLE in DuckDB, as they are in ADQL's arithmetic. Values stay exact in both (small
numbers, binary fractions), so both engines must return the same values.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from hypothesis import strategies as st

Choice = TypeVar("Choice")

INT, FLOAT, TEXT, TIME, BOOL = "int", "float", "text", "time", "bool"
VALUES = (INT, FLOAT, TEXT, TIME)
_ADQL_TYPES = {INT: "BIGINT", FLOAT: "DOUBLE PRECISION", TEXT: "VARCHAR", TIME: "TIMESTAMP"}


@dataclass(frozen=True)
class Twin:
    adql: str
    sql: str
    kind: str = ""


def fill_template(template: str, *parts: Twin, sql: str = "", kind: str = "") -> Twin:
    """Fill a template with the parts in both languages; ``sql`` is DuckDB's template where it differs."""
    return Twin(
        template.format(*(p.adql for p in parts)),
        (sql or template).format(*(p.sql for p in parts)),
        kind or (parts[0].kind if parts else ""),
    )


def join_twins(parts: Sequence[Twin], separator: str = ", ") -> Twin:
    return Twin(separator.join(p.adql for p in parts), separator.join(p.sql for p in parts))


@dataclass(frozen=True)
class Columns:
    """The operands of an expression: columns, or the keys and set functions of a grouped query."""

    leaves: tuple[Twin, ...]

    def of(self, kind: str) -> list[Twin]:
        return [leaf for leaf in self.leaves if leaf.kind == kind]


_TEXTS = ("'alpha'", "'a'", "''", "'Éta_é'", "'it''s'", "'b%'", "'back\\slash'")
_PATTERNS = ("'%a%'", "'_%'", "''", "'%'", "'a____'", "'%\\%'", "'É%\\_é'", "'%''%'", "'B%'")
_REALS = ("0.5", "-0.0", "1.5", "2.0", "-3.25", "7.0", "1e10", "0.0")
_INSTANTS = ("2020-01-01T00:00:00", "2020-01-01T12:30:00.5", "2019-12-31T23:59:59.999999", "1969-07-20T20:17:40")
_COMPARISONS = ("=", "<>", "<", "<=", ">", ">=")


@dataclass
class Values(ABC):
    """A generator of values and conditions; ``room`` is the number of SELECTs that the query may still have."""

    draw: Callable[[st.SearchStrategy[Any]], Any]
    room: int = 3
    numbers: int = 0

    def pick(self, options: Sequence[Choice]) -> Choice:
        choice: Choice = self.draw(st.sampled_from(options))
        return choice

    def draw_count(self, least: int, most: int) -> int:
        number: int = self.draw(st.integers(least, most))
        return number

    def draw_chance(self, one_in: int) -> bool:
        return self.draw_count(0, one_in - 1) == one_in - 1

    def make_name(self, stem: str) -> str:
        self.numbers += 1
        return f"{stem}{self.numbers}"

    @abstractmethod
    def make_select(self, kinds: Sequence[str], names: Sequence[str] = ()) -> Twin:
        """Return one SELECT with outputs of these kinds."""

    @abstractmethod
    def make_extreme(self, kind: str) -> Twin:
        """Return the minimum or maximum of a table, in parentheses."""

    # --- values

    def make_value(self, kind: str, columns: Columns, depth: int = 2) -> Twin:
        if kind == BOOL:
            return self.make_condition(columns, depth)
        leaves = columns.of(kind)
        if depth == 0 or self.draw_chance(3):
            return self.pick(leaves) if leaves and not self.draw_chance(4) else self.make_literal(kind)
        makers = {INT: self._make_int, FLOAT: self._make_float, TEXT: self._make_text}
        return (
            makers[kind](columns, depth)
            if kind in makers and not self.draw_chance(4)
            else self._make_any(kind, columns, depth)
        )

    def make_literal(self, kind: str) -> Twin:
        if kind == INT:
            number = str(self.draw_count(-3, 12))
            return Twin(number, f"({number}::BIGINT)", INT)
        if kind == FLOAT:
            number = self.pick(_REALS)
            return Twin(number, f"({number}::DOUBLE)", FLOAT)
        if kind == TIME:
            instant = self.pick(_INSTANTS)
            return Twin(f"CAST('{instant}' AS TIMESTAMP)", f"('{instant}'::TIMESTAMP)", TIME)
        text = self.pick(_TEXTS)
        return Twin(text, text, TEXT)

    def _make_any(self, kind: str, columns: Columns, depth: int) -> Twin:
        """Return a form that all kinds have."""
        a, b = (self.make_value(kind, columns, depth - 1) for _ in range(2))
        form = self.draw_count(0, 5)
        if form == 0:
            return fill_template(self.pick(("COALESCE({0}, {1})", "greatest({0}, {1})", "least({0}, {1})")), a, b)
        if form == 1:
            return fill_template("CASE WHEN {1} THEN {0} ELSE {2} END", a, self.make_condition(columns, depth - 1), b)
        if form == 2:
            return fill_template("CASE WHEN {1} THEN {0} END", a, self.make_condition(columns, depth - 1))
        if form == 3:
            tested_kind = self.pick(VALUES)
            tested, equal = (self.make_value(tested_kind, columns, depth - 1) for _ in range(2))
            return fill_template("CASE {1} WHEN {2} THEN {0} WHEN NULL THEN {3} ELSE NULL END", a, tested, equal, b)
        if form == 4 and columns.of(BOOL):
            return fill_template(
                "CASE {1} WHEN TRUE THEN {0} WHEN FALSE THEN {2} END", a, self.pick(columns.of(BOOL)), b
            )
        return self.make_extreme(kind) if self.room else a

    def _make_int(self, columns: Columns, depth: int) -> Twin:
        a, b = (self.make_value(INT, columns, depth - 1) for _ in range(2))
        real = self.pick(columns.of(FLOAT) or [self.make_literal(FLOAT)])
        small = self.make_literal(INT)
        return self.pick(
            (
                fill_template("({0} + {1})", a, b),
                fill_template("({0} - {1})", a, b),
                fill_template("({0} * {1})", a, small),
                fill_template("({0} / {1})", a, b, sql="({0} // {1})"),
                fill_template("MOD({0}, {1})", a, b),
                fill_template("(- {0})", a),
                fill_template("ABS({0})", a),
                fill_template("({0} & {1})", a, b),
                fill_template("({0} | {1})", a, b),
                fill_template("({0} ^ {1})", a, b, sql="xor({0}, {1})"),
                fill_template("~{0}", a, sql="(~{0})"),
                fill_template("CAST({0} AS BIGINT)", real, sql="CAST(trunc({0}) AS BIGINT)", kind=INT),
            )
        )

    def _make_float(self, columns: Columns, depth: int) -> Twin:
        a, b = self.make_value(FLOAT, columns, depth - 1), self.make_value(self.pick((FLOAT, INT)), columns, depth - 1)
        i = self.make_value(INT, columns, depth - 1)
        return self.pick(
            (
                fill_template("({0} + {1})", a, b),
                fill_template("({1} - {0})", a, b),
                fill_template("({0} * {1})", a, b),
                fill_template("({0} / {1})", a, b, sql="({0} / nullif({1}, 0))"),
                fill_template("({1} / {0})", a, b, sql="({1} / nullif({0}, 0))"),
                fill_template("(- {0})", a),
                fill_template("ABS({0})", a),
                fill_template("FLOOR({0})", a),
                fill_template("CEILING({0})", a),
                fill_template("ROUND({0})", a),
                fill_template("TRUNCATE({0})", a, sql="trunc({0})"),
                fill_template("SQRT(ABS({0}))", a),
                fill_template("CAST({0} AS DOUBLE PRECISION)", i, kind=FLOAT),
            )
        )

    def _make_text(self, columns: Columns, depth: int) -> Twin:
        a, b = (self.make_value(TEXT, columns, depth - 1) for _ in range(2))
        i, t = self.make_value(INT, columns, depth - 1), self.make_value(TIME, columns, depth - 1)
        return self.pick(
            (
                fill_template("({0} || {1})", a, b),
                fill_template("LOWER({0})", a),
                fill_template("UPPER({0})", a),
                fill_template("CAST({0} AS VARCHAR)", i, kind=TEXT),
                fill_template("CAST({0} AS CHAR(3))", a, sql="substring({0}, 1, 3)"),
                fill_template("CAST({0} AS VARCHAR)", t, sql="strftime({0}, '%Y-%m-%dT%H:%M:%S.%f')", kind=TEXT),
            )
        )

    # --- conditions

    def make_condition(self, columns: Columns, depth: int = 2) -> Twin:
        flags = columns.of(BOOL)
        if depth == 0 or self.draw_chance(3):
            return self.pick(flags) if flags and self.draw_chance(5) else self._make_comparison(columns, 0)
        form = self.draw_count(0, 8)
        if form <= 2:
            a, b = (self.make_condition(columns, depth - 1) for _ in range(2))
            return fill_template(self.pick(("({0} AND {1})", "({0} OR {1})")), a, b, kind=BOOL)
        if form == 3:
            return fill_template("(NOT {0})", self.make_condition(columns, depth - 1), kind=BOOL)
        if form == 4:
            return self._make_membership(columns, depth - 1)
        if form == 5:
            return self._make_like(columns, depth - 1)
        if form == 6:
            kind = self.pick(VALUES)
            a = self.make_value(kind, columns, depth - 1)
            return fill_template(self.pick(("({0} IS NULL)", "({0} IS NOT NULL)")), a, kind=BOOL)
        if form == 7 and self.room:
            self.room -= 1
            exists = fill_template("EXISTS ({0})", self.make_select([self.pick(VALUES)]), kind=BOOL)
            return fill_template("(NOT {0})", exists, kind=BOOL) if self.draw_chance(2) else exists
        return self._make_comparison(columns, depth - 1)

    def _make_comparison(self, columns: Columns, depth: int) -> Twin:
        kind = self.pick(VALUES)
        a, b, c = (self.make_value(kind, columns, depth) for _ in range(3))
        if kind == TIME and self.draw_chance(2):
            instant = self.pick(_INSTANTS)  # a text compared with a timestamp
            b = Twin(f"'{instant}'", f"'{instant}'::TIMESTAMP", TIME)
        if self.draw_chance(12):
            b = Twin(f"CAST(NULL AS {_ADQL_TYPES[kind]})", "NULL")  # ADQL allows no comparison with a bare NULL
        if self.draw_chance(4):
            return fill_template(
                self.pick(("({0} BETWEEN {1} AND {2})", "({0} NOT BETWEEN {1} AND {2})")), a, b, c, kind=BOOL
            )
        return fill_template(f"({{0}} {self.pick(_COMPARISONS)} {{1}})", a, b, kind=BOOL)

    def _make_membership(self, columns: Columns, depth: int) -> Twin:
        kind = self.pick(VALUES)
        other = FLOAT if kind == INT and self.draw_chance(4) else kind
        a = self.make_value(kind, columns, depth)
        negation = self.pick(("", " NOT"))
        if self.room and self.draw_chance(2):
            self.room -= 1
            return fill_template(f"({{0}}{negation} IN ({{1}}))", a, self.make_select([other]), kind=BOOL)
        plain = self.draw_chance(2)
        items = [
            self.make_literal(other) if plain else self.make_value(other, columns, depth)
            for _ in range(self.draw_count(1, 4))
        ]
        if self.draw_chance(4):
            items.append(Twin("NULL", "NULL"))
        return fill_template(f"({{0}}{negation} IN ({{1}}))", a, join_twins(items), kind=BOOL)

    def _make_like(self, columns: Columns, depth: int) -> Twin:
        a = self.make_value(TEXT, columns, depth)
        pattern = self.make_value(TEXT, columns, depth) if self.draw_chance(4) else Twin(*[self.pick(_PATTERNS)] * 2)
        word = self.pick(("LIKE", "NOT LIKE", "ILIKE", "NOT ILIKE"))
        return fill_template(f"({{0}} {word} {{1}})", a, pattern, kind=BOOL)
