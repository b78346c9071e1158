"""Random ADQL queries of the tables of ``night_tables``: joins of objects with their children and cross-matches."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from itertools import pairwise

from tests.cluster.night_tables import CENTRES

#: the foreign key of a child, and the table to which it refers
PARENTS = {
    "sources": ("object", "objects"),
    "forced": ("object", "objects"),
    "marks": ("source", "sources"),
    "notes": ("source", "sources"),
}
PLACED = ("objects", "wide", "bare", "sources", "marks", "fields", "mine")
TABLES = ("objects", "sources", "forced", "marks", "notes", "wide", "bare", "fields", "bands", "mine")
#: the weight of each kind
WEIGHTS = (6, 5, 3, 3, 2, 3, 2, 2, 1, 3)
RADII = (0.001, 0.05, 0.05, 0.3, 0.3, 0.5, 0.7, 1.0, 1.5, 2.5)
JOINS = ("JOIN", "JOIN", "JOIN", "LEFT JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN")


@dataclass(frozen=True)
class Source:
    """A table in FROM, or a derived table with the columns of ``table``."""

    alias: str
    table: str
    columns: frozenset[str]

    def has(self, *names: str) -> bool:
        return self.columns.issuperset(names)

    @property
    def point(self) -> str:
        return f"POINT({self.alias}.ra, {self.alias}.dec)"


def columns_of(table: str) -> frozenset[str]:
    found = {"id", "mag"}
    if table in PLACED:
        found |= {"ra", "dec"}
    if table in PARENTS:
        found.add(PARENTS[table][0])
    if table in ("sources", "forced"):
        found.add("mjd")
    return frozenset(found)


@dataclass
class Generator:
    """Returns the same queries for the same ``dice``."""

    dice: random.Random
    shared: list[tuple[str, str]] = field(default_factory=list)  # CTEs: name, and the table whose columns they have
    _aliases: int = 0

    def query(self) -> str:
        self.shared = []
        before = ""
        if self.dice.random() < 0.15:
            table = self._table()
            before = f"WITH c AS ({self._derived(table, most=0)}) "
            self.shared = [("c", table)]
        if self.dice.random() < 0.12:
            operator = self.dice.choice(["UNION", "UNION ALL", "EXCEPT", "INTERSECT"])
            width = self.dice.choice([1, 2])
            sides = (self._select(width=width) for _ in range(2))
            return before + f" {operator} ".join(sides)
        return before + self._select()

    # --- SELECT -------------------------------------------------------------------------------------------------------

    def _select(self, width: int = 0) -> str:
        from_, sources = self._from(self.dice.choice([1, 1, 1, 2, 2, 2, 2, 3]))
        where = [self._condition(sources, 1) for _ in range(self.dice.choice([0, 1, 1, 2]))]
        if len(sources) > 1 and self.dice.random() < 0.3:
            where.append(self._cone(self.dice.choice([s for s in sources if s.has("ra")] or [sources[0]])))
        text = f" FROM {from_}" + (f" WHERE {' AND '.join(where)}" if where else "")
        if width:
            return f"SELECT {', '.join(f'{self._number(sources)} AS x{n}' for n in range(width))}{text}"
        shape = self.dice.random()
        if shape < 0.3:
            return self._grouped(text, sources)
        if shape < 0.4:
            return f"SELECT DISTINCT {self._number(sources)} AS x, {self._number(sources)} AS y{text}"
        if shape < 0.5:
            return f"SELECT {self._ids(sources)}, {self._window(sources)} AS w{text}"
        if shape < 0.6:
            order = ", ".join(f"{s.alias}.id" for s in sources if s.has("id")) or "1"
            offset = self.dice.choice(["", " OFFSET 3"])
            return f"SELECT TOP {self.dice.choice([1, 7, 40])} {self._ids(sources)}{text} ORDER BY {order}{offset}"
        extra = f", {self._scalar(sources, 1)} AS v" if shape > 0.9 else ""
        return f"SELECT {self._ids(sources)}{extra}{text}"

    def _ids(self, sources: list[Source]) -> str:
        names = [f"{s.alias}.{name}" for s in sources for name in ("id", "mag") if s.has(name)]
        names += [
            f"DISTANCE({a.point}, {b.point})"
            for a, b in pairwise(sources)
            if a.has("ra") and b.has("ra") and self.dice.random() < 0.3
        ]
        return ", ".join(f"{name} AS o{n}" for n, name in enumerate(names)) or "1 AS o"

    def _grouped(self, text: str, sources: list[Source]) -> str:
        functions = [
            "COUNT(*)",
            f"COUNT(DISTINCT {self._number(sources)})",
            f"SUM({self._number(sources)})",
            f"MIN({self._number(sources)})",
            f"AVG({self._number(sources)})",
            f"MAX({self._number(sources)}) - MIN({self._number(sources)})",
            f"STDDEV({self._number(sources)})",
            f"MEDIAN({self._number(sources)})",
        ]
        chosen = self.dice.sample(functions, self.dice.choice([1, 2, 3]))
        key = self.dice.choice(["", f"{self.dice.choice(sources).alias}.mag", f"MOD({self._id(sources)}, 5)"])
        if key.endswith(".mag") and not all(s.has("mag") for s in sources):
            key = ""
        outputs = ", ".join(f"{function} AS f{n}" for n, function in enumerate(chosen))
        if not key:
            return f"SELECT {outputs}{text}"
        having = self.dice.choice(["", "", " HAVING COUNT(*) > 3", f" HAVING MAX({self._number(sources)}) > 4"])
        return f"SELECT {key} AS k, {outputs}{text} GROUP BY {key}{having}"

    def _window(self, sources: list[Source]) -> str:
        keys = ", ".join(f"{s.alias}.id" for s in sources if s.has("id")) or "1"
        partition = self.dice.choice(
            ["", f"PARTITION BY MOD({self._id(sources)}, 4) ", f"PARTITION BY {self._id(sources)} "]
        )
        function = self.dice.choice(
            ["ROW_NUMBER()", "RANK()", f"SUM({self._number(sources)})", f"LAG({self._number(sources)})", "COUNT(*)"]
        )
        return f"{function} OVER ({partition}ORDER BY {keys})"

    # --- FROM ---------------------------------------------------------------------------------------------------------

    def _from(self, count: int) -> tuple[str, list[Source]]:
        text, first = self._leaf()
        sources = [first]
        while len(sources) < count:
            following, source = self._leaf(sources)
            conditions = self._ties(sources, source)
            kind = self.dice.choice(JOINS)
            sources.append(source)
            text += f" {kind} {following} ON {' AND '.join(conditions)}"
        return text, sources

    def _table(self) -> str:
        return self.dice.choices(TABLES, WEIGHTS)[0]

    def _leaf(self, before: list[Source] | None = None) -> tuple[str, Source]:
        self._aliases += 1
        alias = f"a{self._aliases}"
        if self.shared and self.dice.random() < 0.5:
            name, table = self.shared[0]
            return f"{name} AS {alias}", Source(alias, table, columns_of(table))
        table = self._table()
        kin = [t for s in before or [] for t in self._kin(s.table)]
        if kin and self.dice.random() < 0.5:
            table = self.dice.choice(kin)
        if self.dice.random() < 0.25:
            return f"({self._derived(table)}) AS {alias}", Source(alias, table, columns_of(table))
        if table in PARENTS and self.dice.random() < 0.12:
            key = PARENTS[table][0]
            inner = f"SELECT {key}, MAX(id) AS id, MIN(mag) AS mag FROM night.{table} GROUP BY {key}"
            return f"({inner}) AS {alias}", Source(alias, table, frozenset({"id", "mag", key}))
        return f"{_name(table)} AS {alias}", Source(alias, table, columns_of(table))

    @staticmethod
    def _kin(table: str) -> list[str]:
        found = [child for child, (_, parent) in PARENTS.items() if parent == table]
        if table in PARENTS:
            found += [PARENTS[table][1], table]
            found += [child for child, parent in PARENTS.items() if parent == PARENTS[table]]
        return found

    def _derived(self, table: str, most: int = 1) -> str:
        """Return a query with the columns of ``table``."""
        names = ", ".join(sorted(columns_of(table)))
        inner = Source("t", table, columns_of(table))
        where = self._condition([inner], most)
        shape = self.dice.random()
        if shape < 0.2:
            return f"SELECT TOP {self.dice.choice([20, 90])} {names} FROM {_name(table)} AS t WHERE {where} ORDER BY id"
        if shape < 0.3:
            return f"SELECT DISTINCT {names} FROM {_name(table)} AS t WHERE {where}"
        if shape < 0.4:
            other = self._condition([inner], 0)
            again = f"SELECT {names} FROM {_name(table)} AS t WHERE {other}"
            return f"SELECT {names} FROM {_name(table)} AS t WHERE {where} {self.dice.choice(['UNION', 'UNION ALL'])} {again}"
        if shape < 0.5 and "mjd" in inner.columns:
            latest = f"SELECT u.*, ROW_NUMBER() OVER (PARTITION BY u.object ORDER BY u.mjd DESC, u.id) AS n FROM {_name(table)} AS u"
            return f"SELECT {names} FROM ({latest}) AS t WHERE n = 1 AND {where}"
        return f"SELECT {names} FROM {_name(table)} AS t WHERE {where}"

    def _ties(self, sources: list[Source], right: Source) -> list[str]:
        ways: list[str] = []
        for left in sources:
            for child, parent in ((left, right), (right, left)):
                if child.table in PARENTS:
                    key, of = PARENTS[child.table]
                    if of == parent.table and child.has(key) and parent.has("id"):
                        ways += 3 * [f"{child.alias}.{key} = {parent.alias}.id"]
            if PARENTS.get(left.table) == PARENTS.get(right.table) is not None:
                key = PARENTS[left.table][0]
                ways += 2 * [f"{left.alias}.{key} = {right.alias}.{key}"]
            if left.has("ra") and right.has("ra"):
                ways += 2 * [self._near(left, right)]
        left = self.dice.choice(sources)
        equal = f"{left.alias}.id = {right.alias}.id"
        found = [self.dice.choice(ways) if ways and self.dice.random() < 0.85 else equal]
        if self.dice.random() < 0.2:
            found.append(self._simple(right))
        if self.dice.random() < 0.15:
            found.append(f"{left.alias}.mag {self.dice.choice(['<', '<=', '='])} {right.alias}.mag")
        if right.has("ra") and self.dice.random() < 0.15:
            found.append(self._cone(right))
        return found

    def _near(self, a: Source, b: Source) -> str:
        if self.dice.random() < 0.5:
            a, b = b, a
        radius = self.dice.choice(RADII)
        if self.dice.random() < 0.3:
            return f"1 = CONTAINS({a.point}, CIRCLE({b.alias}.ra, {b.alias}.dec, {radius}))"
        return f"DISTANCE({a.point}, {b.point}) {self.dice.choice(['<', '<='])} {radius}"

    # --- conditions ---------------------------------------------------------------------------------------------------

    def _condition(self, sources: list[Source], depth: int) -> str:
        source = self.dice.choice(sources)
        chance = self.dice.random()
        if chance < 0.35 or not depth:
            return self._cone(source) if source.has("ra") and self.dice.random() < 0.4 else self._simple(source)
        if chance < 0.5:
            values = ", ".join(str(self.dice.randrange(300)) for _ in range(20))
            return f"{source.alias}.id {self.dice.choice(['IN', 'NOT IN'])} ({values})"
        if chance < 0.65:
            inner, name = self._inner(depth)
            column = self.dice.choice([c for c in ("id", "object", "source") if source.has(c)] or ["id"])
            return f"{source.alias}.{column} {self.dice.choice(['IN', 'NOT IN'])} (SELECT {name} {inner})"
        if chance < 0.85:
            not_ = self.dice.choice(["", "", "NOT "])
            return f"{not_}EXISTS (SELECT 1 FROM {self._tied(source, depth)})"
        if chance < 0.93:
            return (
                f"{self._scalar(sources, depth)} {self.dice.choice(['>', '<'])} {self.dice.choice(['1', '3', '2.5'])}"
            )
        return f"({self._condition(sources, depth - 1)} OR {self._condition(sources, depth - 1)})"

    def _inner(self, depth: int) -> tuple[str, str]:
        """Return FROM and WHERE of a subquery, and one of its columns of whole numbers."""
        from_, sources = self._from(self.dice.choice([1, 1, 1, 2]))
        source = self.dice.choice([s for s in sources if s.has("id")] or sources)
        name = self.dice.choice([c for c in ("id", "object", "source") if source.has(c)])
        return (
            f"FROM {from_} WHERE {self._condition(sources, depth - 1)} AND {source.alias}.{name} IS NOT NULL",
            f"{source.alias}.{name}",
        )

    def _tied(self, around: Source, depth: int) -> str:
        """Return FROM and WHERE of a subquery that is correlated with a table of the outer query."""
        text, source = self._leaf([around])
        conditions = [*self._ties([around], source), self._condition([source], depth - 1)]
        return f"{text} WHERE {' AND '.join(self.dice.sample(conditions, len(conditions)))}"

    def _scalar(self, sources: list[Source], depth: int) -> str:
        if self.dice.random() < 0.4:
            inner, name = self._inner(depth)
            return f"(SELECT {self.dice.choice(['COUNT', 'MAX', 'AVG'])}({name}) {inner})"
        around = self.dice.choice(sources)
        function = self.dice.choice(["COUNT(*)", "COUNT(*)", "1 + COUNT(*)"])
        return f"(SELECT {function} FROM {self._tied(around, depth)})"

    def _simple(self, source: Source) -> str:
        ways = [f"{source.alias}.mag < 4", f"{source.alias}.mag >= 1.5", f"{source.alias}.mag IS NOT NULL"]
        ways += [f"MOD({source.alias}.id, 3) = 1", f"{source.alias}.id < 150", f"{source.alias}.id = 17"]
        if source.has("mjd"):
            ways += 2 * [f"{source.alias}.mjd BETWEEN 60500 AND 61000"]
        if source.has("ra"):
            ways += [
                f"{source.alias}.dec > 10",
                f"{source.alias}.ra BETWEEN 350 AND 360",
                f"{source.alias}.dec IS NULL",
            ]
        return self.dice.choice(ways)

    def _cone(self, source: Source) -> str:
        if not source.has("ra"):
            return self._simple(source)
        lon, lat = self.dice.choice(CENTRES)
        radius = self.dice.choice([0.3, 1, 2, 5])
        if abs(lat) < 80 and self.dice.random() < 0.2:
            corners = f"{lon - 2}, {lat - 2}, {lon + 2}, {lat - 2}, {lon + 1}, {lat + 2}"
            return f"1 = CONTAINS({source.point}, POLYGON({corners}))"
        if self.dice.random() < 0.2:
            return f"{source.alias}.ra BETWEEN {lon - 3} AND {lon + 3} AND {source.alias}.dec BETWEEN {lat - 2} AND {lat + 2}"
        return f"1 = CONTAINS({source.point}, CIRCLE({lon}, {lat}, {radius}))"

    # --- values -------------------------------------------------------------------------------------------------------

    def _number(self, sources: list[Source]) -> str:
        source = self.dice.choice(sources)
        return f"{source.alias}.{self.dice.choice([c for c in ('id', 'mag', 'object', 'source') if source.has(c)])}"

    def _id(self, sources: list[Source]) -> str:
        return f"{self.dice.choice([s for s in sources if s.has('id')] or sources).alias}.id"


def _name(table: str) -> str:
    return "TAP_UPLOAD.mine" if table == "mine" else f"night.{table}"
