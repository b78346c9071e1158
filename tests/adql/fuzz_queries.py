"""Random ADQL from typed templates: mostly well-formed, with extreme constants and occasional damage.

Each {word} of a template is replaced by a value of that kind. Functions come from ``adql.functions``, with their declared
kinds. The same random state gives the same query.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable

from adql.functions import FUNCTIONS, SET_FUNCTIONS_BY_NAME, Function
from clickhouse_schema.datatypes import ColumnType
from clickhouse_schema.schema_model import Table
from tests.adql.fuzz_tables import FUZZ, UPLOAD

#: Extreme values, by kind
EXTREMES = {
    "integer": (
        "0", "1", "-1", "2", "29", "30", "127", "255", "256", "32767", "-32768", "2147483647", "-2147483648", "9007199254740993",
        "9223372036854775807", "-9223372036854775808", "9223372036854775808", "18446744073709551616", "0x1F",
    ),
    "real": (
        "0.0", "-0.0", "0.5", "-1.5", "20.0", "10.0", "90.0", "-90.0", "180.0", "360.0", "5e-324", "1e-309", "1e-160", "2.3e-16",
        "1e-9", "1e16", "1e154", "1e155", "1e200", "1.7976931348623157e308", "-1e308", "9007199254740992.0", "9.3e18",
        "SQRT(-1)", "(0 / 0.0)", "LOG(0)", "EXP(1000)",
    ),
    "text": (
        "''", "' '", "'a'", "'%'", "'_'", "'\\'", "'%\\'", "'it''s'", "'é'", "'\U0001f52d'", "'\U0001f468\u200d\U0001f469'", "'\u202e'", "'NULL'", "'1e400'", "'nan'",
        "'12'", "'10:20:30.5'", "'-5 30'", "'2020-01-01'", "'" + "x" * 1500 + "'", "'" + "\U0001f52d" * 100 + "'", "'[a-'", "'(a+)+$'", "'a{1,99999}'",
    ),
    "time": (
        "'2020-01-01T00:00:00'", "'1900-01-01'", "'2299-12-31T23:59:59.999999'", "'2020-02-29'", "'2020-01-01T00:00:00.123456'", "'1969-12-31T23:59:59.999999Z'",
    ),
    "flag": ("TRUE", "FALSE"),
    "region_text": (
        "'Circle 10 20 1'", "'Circle 10 20 0'", "'Circle 10 20 180'", "'Polygon 0 0 1 0 0 1'", "'Box 45 0 9 9'", "'AllSky'", "'Not (AllSky)'",
        "'Position 45 41.8'", "'Union (Circle 0 0 1 Circle 0 0 1e-300)'", "'Range GALACTIC 350 10 -60 60'", "'Circle 1 2 1e-320'",
    ),
    "moc_text": ("'4/100-120'", "'29/1'", "'0/'", "'0/0-11'", "'29/'", "'0/1 29/3458764513820540927'"),
    "point": ("POINT(10, 20)", "POINT(0, 90)", "POINT(-1e300, -90)", "POINT(1e-320, 0)"),
    "circle": ("CIRCLE(10, 20, 1)", "CIRCLE(0, 90, 0)", "CIRCLE(5, 5, 180)", "CIRCLE(10, 20, 5e-324)"),
    "polygon": ("POLYGON(9, 19, 11, 19, 10, 21)", "BOX(10, 20, 1, 1)", "POLYGON(0, 89, 120, 89, 240, 89)"),
    "region": ("REGION('AllSky')", "REGION('Union (Circle 0 0 1 Box 45 0 9 9)')"),
    "moc": ("REGION('4/100-120')", "REGION('0/0-11')", "REGION('0/')"),
}  # fmt: skip

#: Values that have to be refused, by kind
REFUSED = {
    "integer": ("1" + "0" * 60, "1" * 500, "0x", "1a"),
    "real": ("1e309", "-1e400", "1e", "90.0000001", "1e99999999999"),
    "text": ("'a' 'b'", "'\0'", "'" + "x" * 200_000 + "'", "'", '"a"'),
    "time": ("'1899-12-31'", "'2300-01-01'", "'0001-01-01'", "'9999-12-31'", "'2020-02-30'", "'2016-12-31T23:59:60'", "'2020-01-01T00:00:00.123456789'", "''"),
    "region_text": ("'Circle'", "''", "'Circle 1 2 3 4'", "'Union ()'", "'Polygon 0 0 1 1'", "'Circle 1e400 2 3'", "'4/1'", "'Not (' "),
    "moc_text": ("'30/1'", "'0/12'", "'4/5-3'", "'Circle 1 2 3'"),
}  # fmt: skip

_NUMBER_TYPES = ("SMALLINT", "INTEGER", "BIGINT", "REAL", "DOUBLE PRECISION")
_UNITS = ("'deg'", "'mas'", "'arcsec.yr**-1'", "'km/s'", "'m'", "''", "'nonsense'", "'deg**99999'", "'10**400.m'")
_FRAMES = ("'ICRS'", "'GALACTIC'", "'FK5'", "'FK4'", "'ECLIPTIC'")

#: Templates by kind; the first line of each has no operand and ends the recursion
TEMPLATES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "integer": (
        ("{column}", "{column}", "{extreme}"),
        (
            "({integer} + {integer})", "({integer} - {integer})", "({integer} * {integer})", "({integer} / {integer})", "(- {integer})", "(+ {integer})",
            "~{integer}", "({integer} & {integer})", "({integer} | {integer})", "({integer} ^ {integer})", "CAST({number} AS {integer_type})",
            "CAST({text} AS {integer_type})", "CASE WHEN {flag} THEN {integer} ELSE {integer} END", "CASE {integer} WHEN {integer} THEN {integer} END",
            "COALESCE({integer}, {integer})", "CONTAINS({shape}, {shape})", "INTERSECTS({shape}, {shape})", "({scalar_integer})", "CAST({flag_column} AS INTEGER)",
        ),
    ),
    "real": (
        ("{column}", "{column}", "{extreme}"),
        (
            "({number} + {real})", "({real} - {number})", "({number} * {real})", "({real} / {number})", "(- {real})", "({real})",
            "CAST({number} AS {real_type})", "CAST({text} AS {real_type})", "CASE WHEN {flag} THEN {real} WHEN {flag} THEN {number} END",
            "COALESCE({real}, {number}, {real})", "COORD1({point})", "COORD2({point})", "AREA({shape})", "DISTANCE({point}, {point})",
            "DISTANCE({number}, {number}, {number}, {number})", "IN_UNIT({number}, {unit})", "({array})[{integer}]", "({scalar_real})",
        ),
    ),
    "number": (("{integer}", "{real}"), ("{integer}", "{real}", "{real}")),
    "text": (
        ("{column}", "{column}", "{extreme}"),
        (
            "({text} || {text})", "LOWER({text})", "UPPER({text})", "CAST({any} AS VARCHAR)", "CAST({any} AS CHAR({count}))", "CAST({number} AS VARCHAR({count}))",
            "CASE WHEN {flag} THEN {text} ELSE {text} END", "COALESCE({text}, {text})", "COORDSYS({shape})", "({scalar_text})", "{region_text}",
        ),
    ),
    "time": (
        ("{column}", "{column}", "CAST({extreme} AS TIMESTAMP)"),
        ("CAST({text} AS TIMESTAMP)", "CASE WHEN {flag} THEN {time} ELSE {time} END", "COALESCE({time}, {time_text})", "({scalar_time})"),
    ),
    "flag": (
        ("{column}", "{number} {compare} {number}", "{text} {compare} {text}", "{any} IS NULL", "{time} {compare} {time_text}"),
        (
            "({flag} AND {flag})", "({flag} OR {flag})", "(NOT {flag})", "({number} {compare} {number})", "({integer} {compare} {real})",
            "{text} {compare} {text}", "{time} {compare} {time}", "{number} {not}BETWEEN {number} AND {number}", "{time} {not}BETWEEN {time_text} AND {time}",
            "{number} {not}IN ({number}, {number}, NULL)", "{text} {not}IN ({text}, {text})", "{time} {not}IN ({time_text}, {time})",
            "{integer} {not}IN ({scalar_integer})", "{number} {not}IN ({scalar_real})", "{text} {not}IN ({scalar_text})", "{not}EXISTS ({exists})",
            "{text} {not}{like} {text}", "{any} IS {not}NULL", "{bit} {compare} CONTAINS({shape}, {shape})", "{bit} = INTERSECTS({shape}, {shape})",
            "{bit} = CONTAINS({point}, CIRCLE({point}, {number}))", "DISTANCE({point}, {point}) {compare} {number}", "DISTANCE({point}, {point}) {compare} {real}",
            "DISTANCE({number}, {number}, {number}, {number}) {compare} {real}", "{flag_column} = {flag_column}", "CASE WHEN {flag} THEN TRUE ELSE {flag_column} END",
        ),
    ),
    "flag_column": (("{column_flag}",), ("CASE WHEN {flag} THEN {column_flag} END",)),
    "point": (
        ("{column}", "POINT({ra}, {dec})", "POINT({ra}, {dec})", "POINT({position})", "POINT({real}, {latitude})", "POINT({frame}, {ra}, {dec})"),
        ("CENTROID({shape})", "CASE WHEN {flag} THEN {point} END", "ivo_geom_transform({frame}, {frame}, {point})", "COALESCE({point}, {point})", "CAST({column_array} AS POINT)"),
    ),
    "circle": (
        ("{column}", "CIRCLE({point}, {angle})", "CIRCLE({real}, {latitude}, {angle})", "CIRCLE({frame}, {ra}, {dec}, {column_real})"),
        ("CIRCLE({point}, {number})", "CAST({array} AS CIRCLE)", "CASE WHEN {flag} THEN {circle} END", "ivo_geom_transform({frame}, {frame}, {circle})"),
    ),
    "polygon": (
        ("{column}", "POLYGON({ra}, {dec}, {real}, {latitude}, {column_real}, {dec})", "BOX({point}, {real}, {real})", "POLYGON({point}, {point}, {point})"),
        (
            "POLYGON({ra}, {dec}, {number}, {number}, {number}, {number})", "POLYGON({ra}, {dec}, {ra})", "POLYGON({numbers})", "POLYGON({frame}, {numbers})",
            "BOX({numbers})", "BOX({frame}, {ra}, {dec}, {number}, {number})", "CAST({array} AS POLYGON)", "ivo_geom_transform({frame}, {frame}, {polygon})",
        ),
    ),
    "region": (("{column}", "REGION({region_text})"), ("REGION({region_text})", "REGION({column_region})")),
    "moc": (("{column}", "REGION({moc_text})"), ("gavo_mocunion({moc}, {moc})", "gavo_mocintersect({moc}, {moc})")),
    "shape": (("{point}", "{circle}", "{polygon}", "{region}", "{moc}"), ("{point}", "{point}", "{circle}", "{polygon}", "{region}", "{moc}")),
    "array": (("{column}",), ("({array} + {array})", "({array} * {number})", "(- {array})", "CASE WHEN {flag} THEN {array} END")),
    "any": (("{integer}", "{real}", "{text}", "{time}", "NULL"), ("{number}", "{text}", "{time}", "{shape}", "{array}", "{flag_column}", "NULL", "({scalar_integer})")),
    "numbers": (("{number}, {number}, {number}",), ("{number}", "{number}, {numbers}", "{number}, {number}, {numbers}")),
    "value": (("{number}", "{text}", "{time}", "{flag_column}"), ("{number}", "{text}", "{time}", "{array}", "{shape}", "{windowed}", "{any}")),
}  # fmt: skip

_WORDS: dict[str, tuple[str, ...]] = {
    "compare": ("=", "<>", "!=", "<", "<=", ">", ">="),
    "less": ("<", "<=", ">"),
    "not": ("", "NOT "),
    "like": ("LIKE", "ILIKE"),
    "bit": ("0", "1", "2", "NULL"),
    "unit": _UNITS,
    "frame": _FRAMES,
    "count": ("0", "1", "1", "3", "3", "100", "100", "2147483647"),
    "integer_type": _NUMBER_TYPES[:3],
    "real_type": _NUMBER_TYPES[3:],
    "fraction": ("0", "0.5", "1", "1e-300"),
    "nearest": ("1", "1", "3", "100"),
    "latitude": ("0", "90", "-90", "20", "5e-324", "-89.999999"),
    "angle": ("0", "1", "1", "20", "90.5", "180", "1e-160", "1e-309", "5e-324"),
    "order": ("0", "5", "12"),
    "bins": ("1", "10", "100000"),
    "bound": ("0", "-1e308", "1e308", "-1.5", "2 * 3"),
    "descent": ("", " ASC", " DESC"),
    "frame_clause": ("", " ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING", " RANGE UNBOUNDED PRECEDING", " ROWS CURRENT ROW", " ROWS 1000000 PRECEDING"),
}  # fmt: skip

#: Kind of a function's parameter -> kind of template
_PARAMETERS = {
    "timestamp": "time", "gaia order": "order", "literal": "literal", "pattern": "text", "single": "any", "alike": "number", "geometry": "shape",
}  # fmt: skip


def _find_kind(type_: ColumnType) -> str:
    shape = type_.xtype.removeprefix("adql:").lower()
    if shape in ("point", "circle", "polygon", "region", "moc"):
        return shape
    if type_.is_timestamp:
        return "time"
    if type_.is_text:
        return "text"
    if type_.is_array:
        return "array"
    if type_.is_boolean:
        return "flag"
    return "integer" if type_.is_integer else "real"


def _list_calls(function: Function) -> list[str]:
    """Return a call with each accepted number of arguments."""
    least, most = len(function.parameters) - function.optional, len(function.parameters) + 2 * function.variadic
    return [
        f"{function.name}({', '.join(_make_placeholder(p.kind) for p in function.expand_parameters(count))})"
        for count in range(least, most + 1)
    ]


def _make_placeholder(kind: str) -> str:
    return f"{{{_PARAMETERS.get(kind, kind)}}}"


def _make_function_templates() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for function in (function for overloads in FUNCTIONS.values() for function in overloads):
        if function.name == "ivo_simbadpoint" or function.name.startswith(
            "skyhouse_"
        ):  # functions of other services, and functions that only ON may have
            continue
        numbers = (ColumnType("double"),) * len(function.parameters)
        kind = _find_kind(function.infer_result_type(numbers))
        calls = _list_calls(function)
        if function.name == "ivo_epoch_prop_pos":  # its SQL is long, and grows with its operands
            calls = [call.replace("{number}", "{column_real}") for call in calls]
        found.setdefault(kind, []).extend(calls)
    return found


_CALLS = _make_function_templates()
_AGGREGATES = ["COUNT(*)", "COUNT(DISTINCT {any})", "SUM(DISTINCT {number})", "MIN({text})", "MAX({time})", "MAX({flag_column})"] + [
    call for function in SET_FUNCTIONS_BY_NAME.values() for call in _list_calls(function)
]  # fmt: skip
_RANKS = ("ROW_NUMBER()", "RANK()", "DENSE_RANK()", "NTILE({count})", "LAG({any}, {count})", "LEAD({number}, 1, {number})", "FIRST_VALUE({text})", "LAST_VALUE({any})", "PERCENT_RANK()", "CUME_DIST()", "NTH_VALUE({number}, 2)")  # fmt: skip

_TOKEN = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|[A-Za-z_][A-Za-z0-9_]*|[0-9][0-9.eE+]*|<>|<=|>=|\|\||\S")
_SPICE = (*"()[],.;*+-/=<>'\"", "NULL", "NOT", "SELECT", "FROM", "WHERE", "AND", "AS", "ON", "CASE", "END", "IN", "--", "\u00a0", "\0", "é", "0x", "1e", "TOP 1", "DISTINCT", "OVER ()", "TABLESAMPLE (1)", "JOIN", "UNION", "GROUP BY")  # fmt: skip

Column = tuple[str, str]  # as written, kind


class Fuzzer:
    """Random queries over the tables of ``fuzz_tables``; ``steady`` omits what is not deterministic."""

    def __init__(self, dice: random.Random, *, steady: bool = False) -> None:
        self.dice = dice
        self._steady = steady
        self._scopes: list[list[Column]] = []
        self._aliases = 0
        self._room = 3  # subqueries

    # --- texts ----------------------------------------------------------------------------------------------------------

    def make_text(self) -> str:
        """Return a query, a damaged query, or random characters."""
        query = self.make_query()
        chance = self.dice.random()
        if chance < 0.7:
            return query
        if chance < 0.97:
            return self.damage_query(query)
        return "".join(chr(self.dice.choice((self.dice.randrange(128), self.dice.randrange(0x2FF), self.dice.randrange(0x1FFFF)))) for _ in range(self.dice.randrange(60)))  # fmt: skip

    def damage_query(self, query: str) -> str:
        """Return the query with a few tokens removed, repeated, swapped or replaced."""
        tokens = _TOKEN.findall(query)
        for _ in range(self.dice.choice((1, 1, 2, 5))):
            at = self.dice.randrange(len(tokens) or 1)
            way = self.dice.randrange(5)
            if way == 0:
                del tokens[at : at + self.dice.choice((1, 1, 3))]
            elif way == 1:
                tokens[at:at] = tokens[at : at + self.dice.choice((1, 4))]
            elif way == 2:
                other = self.dice.randrange(len(tokens) or 1)
                tokens[at : at + 1], tokens[other : other + 1] = (
                    tokens[other : other + 1],
                    tokens[at : at + 1],
                )
            else:
                spice = (_SPICE, EXTREMES["integer"], EXTREMES["real"], EXTREMES["text"], tokens or ("",))
                tokens[at : at + (way == 3)] = [self.dice.choice(self.dice.choice(spice))]
        return " ".join(tokens)

    # --- queries --------------------------------------------------------------------------------------------------------

    def make_query(self) -> str:
        """Return a query with all its clauses."""
        before = ""
        if self._happens(0.1):
            before = f"WITH w AS ({self._make_select([self._pick_kind()])}) "
        width = self.dice.choice((1, 1, 2, 3))
        kinds = [self._pick_kind() for _ in range(width)]
        text = self._make_select(kinds)
        if not before and self._happens(0.05):
            return f"SELECT * FROM ({text}) AS q"
        while self._happens(0.15):
            operator = self.dice.choice(("UNION", "UNION ALL", "EXCEPT", "INTERSECT", "EXCEPT ALL", "INTERSECT ALL"))
            text = f"{text} {operator} {self._make_select(kinds)}"
        if self._happens(0.2):
            text += f" ORDER BY {self.dice.choice(('1', 'x0', 'x0 DESC', '1 DESC, x0'))}"
        if self._happens(0.1):
            text += f" OFFSET {self._make_word('count')}"
        return before + text

    def make_partition(self) -> tuple[str, str]:
        """Return one or two tables, and a condition on their rows."""
        self._scopes.append([])
        self._room = 1
        tables = ", ".join(self._make_leaf() for _ in range(self.dice.choice((1, 2, 2))))
        condition = self._make_join_condition() if "," in tables and self._happens(0.6) else self.make_value("flag", 3)
        self._scopes.pop()
        return tables, condition

    def _pick_kind(self) -> str:
        return self.dice.choice(("integer", "real", "text", "time", "value", "value", "shape", "array", "any"))

    def _make_select(self, kinds: list[str], depth: int = 3, top: int | None = None) -> str:
        """Return a SELECT with columns x0, x1 ... of these kinds."""
        self._scopes.append([])
        from_ = self._make_from()
        group = ""
        if self._happens(0.25):
            keys = [
                self.make_value(self.dice.choice(("integer", "text", "value")), 1)
                for _ in range(self.dice.choice((0, 1, 2)))
            ]
            group = f" GROUP BY {', '.join(keys)}" if keys else ""
            items = [self.dice.choice((*keys, self._fill_template(self.dice.choice(_AGGREGATES), 2))) for _ in kinds]
            if self._happens(0.3):
                group += f" HAVING {self._fill_template(self.dice.choice(_AGGREGATES), 1)} {self._make_word('compare')} {self.make_value('number', 1)}"
        else:
            items = [self.make_value(kind, depth) for kind in kinds]
        outputs = ", ".join(f"{item} AS x{n}" for n, item in enumerate(items))
        where = f" WHERE {self.make_value('flag', depth)}" if self._happens(0.6) else ""
        quantifier = (
            self.dice.choice(("", "", "", "", "DISTINCT ", "ALL ", f"TOP {self._make_word('count')} "))
            if top is None
            else f"TOP {top} "
        )
        self._scopes.pop()
        return f"SELECT {quantifier}{outputs} FROM {from_}{where}{group}"

    # --- FROM -----------------------------------------------------------------------------------------------------------

    def _make_from(self) -> str:
        text = self._make_leaf()
        while self._happens(0.3) and self._aliases < 12:
            kind = self.dice.choice(("", "INNER ", "LEFT ", "RIGHT ", "FULL ", "NATURAL ", ",", ","))
            if kind == ",":
                return f"{text}, {self._make_leaf()}"
            following = f"{kind}JOIN {self._make_leaf()}"
            if kind in ("CROSS ", "NATURAL ", "NATURAL LEFT "):
                text += f" {following}"
            elif self._happens(0.1):
                text += f" {following} USING (id)"
            else:
                text += f" {following} ON {self._make_join_condition() if self._happens(0.7) else self.make_value('flag', 2)}"
        return text

    def _make_join_condition(self) -> str:
        """Return a condition as joins have, mostly a nearness."""
        return self._fill_template(
            self.dice.choice((
                "{integer} = {integer}", "DISTANCE({point}, {point}) {compare} {number}", "DISTANCE({ra}, {dec}, {ra}, {dec}) {compare} {real}",
                    *4 * ("DISTANCE({pair}) {less} {angle}",),
                    "1 = CONTAINS(POINT({position}), CIRCLE({position}, {number}))",
                "1 = CONTAINS({point}, CIRCLE({point}, {number}))", "1 = INTERSECTS({shape}, {shape})", "1 = skyhouse_nearest({nearest}, {point}, {point}, {real})",
                "{number} {compare} {number} AND {flag}", "{text} = {text}",
            )),
            1,
        )  # fmt: skip

    def _make_leaf(self) -> str:
        self._aliases += 1
        alias = f"a{self._aliases}"
        if self._room > 0 and self._happens(0.15):
            self._room -= 1
            kinds = [self.dice.choice(("integer", "real", "text", "time", "point")) for _ in range(2)]
            outer, self._scopes = self._scopes, []
            inner = self._make_select(kinds, 2)
            self._scopes = outer
            self._scopes[-1] += [(f"{alias}.x{n}", kind) for n, kind in enumerate(kinds)]
            return f"({inner}) AS {alias}"
        name, table = self.dice.choice(
            [
                *((f"fuzz.{table.name}", table) for table in FUZZ.tables),
                ("fuzz.kinds", FUZZ.tables[0]),
                ("TAP_UPLOAD.mine", UPLOAD),
            ]
        )
        self._scopes[-1] += _list_columns(alias, table)
        sample = (
            f" TABLESAMPLE ({self.dice.choice(('1', '50', '100', '1e-300', '99.9999'))})"
            if not self._steady and self._happens(0.04)
            else ""
        )
        return f"{name} AS {alias}{sample}"

    # --- values ---------------------------------------------------------------------------------------------------------

    def make_value(self, kind: str, depth: int) -> str:
        """Return a value of a kind, and now and then of another kind."""
        if kind in _WORDS:
            return self._make_word(kind)
        special: dict[str, Callable[[int], str]] = {
            "windowed": self._make_windowed,
            "exists": lambda depth: self._make_subselect("any", depth),
            "literal": lambda _: self._pick_extreme("text"),
            "time_text": lambda _: self._pick_extreme("time"),
            "region_text": lambda _: self._pick_extreme("region_text"),
            "moc_text": lambda _: self._pick_extreme("moc_text"),
            "ra": lambda depth: self._make_coordinate("ra", depth),
            "dec": lambda depth: self._make_coordinate("dec", depth),
            "position": self._make_position,
            "pair": self._make_pair,
        }
        if kind in special:
            return special[kind](depth)
        if kind.startswith("scalar_"):
            return self._make_subselect(kind.removeprefix("scalar_"), depth)
        if kind.startswith("column_"):
            return self._pick_column(kind.removeprefix("column_"))
        if self._happens(0.004):
            kind = self.dice.choice(list(TEMPLATES))
        plain, composed = TEMPLATES[kind]
        calls = _CALLS.get(kind, ())
        if depth <= 0 or self._happens(0.25):
            template = self.dice.choice(plain)
        elif calls and self._happens(0.3):
            template = self.dice.choice(calls)
        else:
            template = self.dice.choice(composed)
        if self._steady and re.match(r"RAND|ivo_normal_random", template):
            template = plain[0]
        return self._fill_template(
            template.replace("{column}", f"{{column_{kind}}}").replace("{extreme}", self._pick_extreme(kind)), depth - 1
        )

    def _fill_template(self, template: str, depth: int) -> str:
        return re.sub(r"\{([a-z_ ]+)\}", lambda found: self.make_value(found[1], depth), template)

    def _pick_extreme(self, kind: str) -> str:
        pools = REFUSED if kind in REFUSED and self._happens(0.01) else EXTREMES
        return self.dice.choice(pools.get(kind, ("NULL",)))

    def _pick_column(self, kind: str) -> str:
        """Return a column of the query's tables, sometimes of an outer query's tables."""
        scopes = self._scopes if self._happens(0.2) else self._scopes[-1:]
        found = [name for scope in scopes for name, of in scope if of == kind]
        return self.dice.choice(found) if found else self._pick_extreme(kind)

    def _make_coordinate(self, name: str, depth: int) -> str:
        found = [column for scope in self._scopes[-1:] for column, _ in scope if column.endswith(f".{name}")]
        if found and self._happens(0.8):
            return self.dice.choice(found)
        return self.make_value("latitude" if name == "dec" and self._happens(0.5) else "real", depth)

    def _make_position(self, depth: int) -> str:
        """Return longitude and latitude of one table, by which matches are planned."""
        found = [column.removesuffix(".ra") for column, _ in self._scopes[-1] if column.endswith(".ra")]
        alias = self.dice.choice(found) if found else ""
        return (
            f"{alias}.ra, {alias}.dec" if alias else f"{self.make_value('ra', depth)}, {self.make_value('dec', depth)}"
        )

    def _make_pair(self, depth: int) -> str:
        """Return the positions of the last two tables."""
        found = [column.removesuffix(".ra") for column, _ in self._scopes[-1] if column.endswith(".ra")][-2:]
        if len(found) < 2:
            return f"{self._make_position(depth)}, {self._make_position(depth)}"
        return ", ".join(f"{alias}.ra, {alias}.dec" for alias in self.dice.sample(found, 2))

    def _make_subselect(self, kind: str, depth: int) -> str:
        if self._room <= 0 or depth < 0:
            return f"SELECT {self._pick_extreme(kind)} FROM fuzz.few"
        self._room -= 1
        return self._make_select([kind], depth - 1, None if self._happens(0.3) else 1)

    def _make_windowed(self, depth: int) -> str:
        function = self._fill_template(self.dice.choice((*_RANKS, *_AGGREGATES)), depth - 1)
        parts = f"PARTITION BY {self.make_value('value', 0)} " if self._happens(0.4) else ""
        order = (
            f"ORDER BY {self.make_value('value', 0)}{self._make_word('descent')}{self._make_word('frame_clause')}"
            if self._happens(0.7)
            else ""
        )
        return f"{function} OVER ({parts}{order})"

    def _make_word(self, kind: str) -> str:
        return self.dice.choice(_WORDS[kind])

    def _happens(self, probability: float) -> bool:
        return self.dice.random() < probability


def _list_columns(alias: str, table: Table) -> list[Column]:
    return [(f"{alias}.{column.name}", _find_kind(column.type)) for column in table.columns]
