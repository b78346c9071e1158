"""Random values and conditions, each printed twice: as ADQL and as the SQL of DuckDB that means the same.

Integers are BIGINT and reals DOUBLE in DuckDB, as they are in ADQL's arithmetic. Values stay exact in both (small
numbers, powers of two below the point), so that both engines must give the same ones.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from hypothesis import strategies as st

Thing = TypeVar("Thing")

INT, FLOAT, TEXT, TIME, BOOL = "int", "float", "text", "time", "bool"
VALUES = (INT, FLOAT, TEXT, TIME)
_ADQL_TYPES = {INT: "BIGINT", FLOAT: "DOUBLE PRECISION", TEXT: "VARCHAR", TIME: "TIMESTAMP"}


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


_TEXTS = ("'alpha'", "'a'", "''", "'Éta_é'", "'it''s'", "'b%'", "'back\\slash'")
_PATTERNS = ("'%a%'", "'_%'", "''", "'%'", "'a____'", "'%\\%'", "'É%\\_é'", "'%''%'", "'B%'")
_REALS = ("0.5", "-0.0", "1.5", "2.0", "-3.25", "7.0", "1e10", "0.0")
_INSTANTS = ("2020-01-01T00:00:00", "2020-01-01T12:30:00.5", "2019-12-31T23:59:59.999999", "1969-07-20T20:17:40")
_COMPARISONS = ("=", "<>", "<", "<=", ">", ">=")


@dataclass
class Values(ABC):
    """Draws the pieces; ``room`` is how many more SELECTs the query may have."""

    draw: Callable[[st.SearchStrategy[Any]], Any]
    room: int = 3
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

    @abstractmethod
    def select(self, kinds: Sequence[str], names: Sequence[str] = ()) -> Twin:
        """One SELECT with outputs of these kinds."""

    @abstractmethod
    def extreme(self, kind: str) -> Twin:
        """A minimum or maximum of a table, in parentheses."""

    # --- values

    def value(self, kind: str, columns: Columns, depth: int = 2) -> Twin:
        if kind == BOOL:
            return self.condition(columns, depth)
        leaves = columns.of(kind)
        if depth == 0 or self.chance(3):
            return self.pick(leaves) if leaves and not self.chance(4) else self.literal(kind)
        makers = {INT: self._int, FLOAT: self._float, TEXT: self._text}
        return (
            makers[kind](columns, depth) if kind in makers and not self.chance(4) else self._any(kind, columns, depth)
        )

    def literal(self, kind: str) -> Twin:
        if kind == INT:
            number = str(self.count(-3, 12))
            return Twin(number, f"({number}::BIGINT)", INT)
        if kind == FLOAT:
            number = self.pick(_REALS)
            return Twin(number, f"({number}::DOUBLE)", FLOAT)
        if kind == TIME:
            instant = self.pick(_INSTANTS)
            return Twin(f"CAST('{instant}' AS TIMESTAMP)", f"('{instant}'::TIMESTAMP)", TIME)
        text = self.pick(_TEXTS)
        return Twin(text, text, TEXT)

    def _any(self, kind: str, columns: Columns, depth: int) -> Twin:
        """Forms that all kinds have."""
        a, b = (self.value(kind, columns, depth - 1) for _ in range(2))
        form = self.count(0, 5)
        if form == 0:
            return made(self.pick(("COALESCE({0}, {1})", "greatest({0}, {1})", "least({0}, {1})")), a, b)
        if form == 1:
            return made("CASE WHEN {1} THEN {0} ELSE {2} END", a, self.condition(columns, depth - 1), b)
        if form == 2:
            return made("CASE WHEN {1} THEN {0} END", a, self.condition(columns, depth - 1))
        if form == 3:
            tested_kind = self.pick(VALUES)
            tested, equal = (self.value(tested_kind, columns, depth - 1) for _ in range(2))
            return made("CASE {1} WHEN {2} THEN {0} WHEN NULL THEN {3} ELSE NULL END", a, tested, equal, b)
        if form == 4 and columns.of(BOOL):
            return made("CASE {1} WHEN TRUE THEN {0} WHEN FALSE THEN {2} END", a, self.pick(columns.of(BOOL)), b)
        return self.extreme(kind) if self.room else a

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
        i, t = self.value(INT, columns, depth - 1), self.value(TIME, columns, depth - 1)
        return self.pick(
            (
                made("({0} || {1})", a, b),
                made("LOWER({0})", a),
                made("UPPER({0})", a),
                made("CAST({0} AS VARCHAR)", i, kind=TEXT),
                made("CAST({0} AS CHAR(3))", a, sql="substring({0}, 1, 3)"),
                made("CAST({0} AS VARCHAR)", t, sql="strftime({0}, '%Y-%m-%dT%H:%M:%S.%f')", kind=TEXT),
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
        if kind == TIME and self.chance(2):
            instant = self.pick(_INSTANTS)  # a text beside a timestamp
            b = Twin(f"'{instant}'", f"'{instant}'::TIMESTAMP", TIME)
        if self.chance(12):
            b = Twin(f"CAST(NULL AS {_ADQL_TYPES[kind]})", "NULL")  # ADQL compares with no bare NULL
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
