"""A function of the language: name, parameters, result type, SQL form, description."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from adql.errors import Span
from adql.ir import Expr
from clickhouse_schema.datatypes import ColumnType

#: Characters of a regular expression: the engine takes seconds to prepare one of 100,000
MAX_PATTERN_CHARACTERS = 1000

#: What a parameter takes -> the word for it in messages
PARAMETER_KINDS = {
    "number": "a number",
    "integer": "an integer",
    "text": "text",
    "timestamp": "a timestamp",
    "order": "a HEALPix order from 0 to 29, as a literal",
    "fraction": "a number from 0 to 1, as a literal",
    "bound": "a number, as a constant",
    "bins": "a number of bins from 1 to 100000, as a literal",
    "gaia order": "a HEALPix order from 0 to 12, as a literal",
    "literal": "a text, as a literal",
    "pattern": f"a regular expression of at most {MAX_PATTERN_CHARACTERS} characters",
    "point": "a POINT",
    "single": "a single value",
    "alike": "values of one type",
}

#: Makes an expression of the arguments; the span is the call's
Expand = Callable[[tuple[Expr, ...], Span], Expr]

#: Of a function with any number of arguments so many forms are declared: clients know no other way to say it.
MAX_DECLARED_ARGUMENTS = 6

#: The kinds of values that a function of values of one type is declared for
_ALIKE = ("DOUBLE", "VARCHAR", "TIMESTAMP")


@dataclass(frozen=True, slots=True)
class Parameter:
    name: str
    kind: str
    adql: str = ""  # type in a declared signature


@dataclass(frozen=True, slots=True)
class Function:
    """``sql`` is a template over the arguments' SQL or a function of them; ``whole`` that of an integer result.

    ``result`` a type or a function of the argument types. A function with ``expand`` has no SQL: it stands for the
    expression that ``expand`` makes of its arguments. A ``variadic`` one repeats its last parameter.
    """

    name: str
    parameters: tuple[Parameter, ...]
    result: ColumnType | Callable[[tuple[ColumnType, ...]], ColumnType]
    sql: str | Callable[..., str]
    description: str
    optional: int = 0
    variadic: bool = False
    integer_sql: str = ""
    returns: str = ""  # ADQL type in a declared signature; '' of a user's function: that of its arguments
    expand: Expand | None = None

    @property
    def signatures(self) -> tuple[str, ...]:
        """TAPRegExt forms: ``name(arg TYPE, ...) -> TYPE``."""
        least = len(self.parameters) - self.optional
        most = MAX_DECLARED_ARGUMENTS if self.variadic else len(self.parameters)
        kinds = ("",) if self.returns else _ALIKE
        return tuple(self._format_signature(count, kind) for kind in kinds for count in range(least, most + 1))

    def _format_signature(self, count: int, kind: str) -> str:
        """TOPCAT's parser knows no underscore in a parameter's name: ``refEpoch`` for ``ref_epoch``."""
        repeated = self.parameters[-1:] * (count - len(self.parameters))
        names = [p.name for p in self.parameters[:count]]
        names += [f"{p.name}{i}" for i, p in enumerate(repeated, 2)]
        names = [re.sub("_(.)", lambda letter: letter[1].upper(), name) for name in names]
        types = [kind or p.adql for p in (*self.parameters[:count], *repeated)]
        arguments = ", ".join(f"{name} {type_}" for name, type_ in zip(names, types, strict=True))
        return f"{self.name}({arguments}) -> {kind or self.returns}"

    @property
    def usage(self) -> str:
        """For messages: ``ROUND(x [, n])``."""
        required = len(self.parameters) - self.optional
        names = [p.name for p in self.parameters]
        text = ", ".join(names[:required]) + "".join(f" [, {n}]" for n in names[required:])
        return f"{self.name}({text}{', ...' if self.variadic else ''})"

    def accepts_count(self, count: int) -> bool:
        most = len(self.parameters)
        return most - self.optional <= count and (count <= most or self.variadic)

    def expand_parameters(self, count: int) -> tuple[Parameter, ...]:
        """The parameters that ``count`` arguments stand for."""
        return (*self.parameters[:count], *self.parameters[-1:] * (count - len(self.parameters)))

    def emit_sql(self, args: tuple[str, ...], result: ColumnType) -> str:
        if self.integer_sql and result.is_integer:
            return self.integer_sql.format(*args)
        return self.sql.format(*args) if isinstance(self.sql, str) else self.sql(*args)

    def infer_result_type(self, types: tuple[ColumnType, ...]) -> ColumnType:
        return self.result if isinstance(self.result, ColumnType) else self.result(types)


@dataclass(frozen=True, slots=True)
class SetFunction(Function):
    """A function of all rows of a group: ``{over}`` stands after each of the engine's aggregates in its template.

    ``{distinct}`` is 'DISTINCT ' or nothing; only ADQL's own set functions take it.
    """

    def emit_group_sql(self, args: tuple[str, ...], result: ColumnType, *, distinct: bool, over: str) -> str:
        """``over``: `` OVER (...)`` or nothing."""
        sql = self.integer_sql if self.integer_sql and result.is_integer else self.sql
        quantifier = "DISTINCT " if distinct else ""
        if isinstance(sql, str):
            return sql.format(*args, distinct=quantifier, over=over)
        return sql(*args, over=over)
