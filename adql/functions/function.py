"""Functions of the language: name, parameters, result type, SQL form and description."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from adql.errors import Span
from adql.ir import Expr
from clickhouse_schema.datatypes import ColumnType

#: ClickHouse takes seconds to compile a regular expression of 100,000 characters
MAX_PATTERN_CHARACTERS = 1000

#: Kind of a parameter -> its description in messages
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

#: Builds an expression from the arguments and the span of the call
Expand = Callable[[tuple[Expr, ...], Span], Expr]

#: Maximum number of arguments for which variadic functions are declared, once for each number, since TAPRegExt has no
#: notation for them
MAX_DECLARED_ARGUMENTS = 6

#: The types for which a function with parameters of kind "alike" is declared
_ALIKE = ("DOUBLE", "VARCHAR", "TIMESTAMP")


@dataclass(frozen=True, slots=True)
class Parameter:
    name: str
    kind: str
    adql: str = ""  # the ADQL type in declared signatures


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the language.

    Attributes
    ----------
    name
        The name as declared; ADQL ignores its case.
    parameters
        The parameters.
    result
        The type of the result, or a function that returns it for the types of the arguments.
    sql
        A template for the SQL of the arguments, or a function of their SQL.
    description
        The description of the result in /capabilities and the documentation.
    optional
        The number of parameters at the end that may be omitted.
    variadic
        Whether the last parameter may be repeated.
    integer_sql
        The template for an integer result, if it differs.
    returns
        The ADQL type of the result in declared signatures; empty for the type of the arguments.
    expand
        Builds the expression that replaces a call; such a function has no SQL.
    """

    name: str
    parameters: tuple[Parameter, ...]
    result: ColumnType | Callable[[tuple[ColumnType, ...]], ColumnType]
    sql: str | Callable[..., str]
    description: str
    optional: int = 0
    variadic: bool = False
    integer_sql: str = ""
    returns: str = ""
    expand: Expand | None = None

    @property
    def signatures(self) -> tuple[str, ...]:
        """The declared forms in TAPRegExt's notation: ``name(arg TYPE, ...) -> TYPE``."""
        least = len(self.parameters) - self.optional
        most = MAX_DECLARED_ARGUMENTS if self.variadic else len(self.parameters)
        kinds = ("",) if self.returns else _ALIKE
        return tuple(self._format_signature(count, kind) for kind in kinds for count in range(least, most + 1))

    def _format_signature(self, count: int, kind: str) -> str:
        """Format one form. ``ref_epoch`` becomes ``refEpoch``, because TOPCAT's parser rejects underscores here."""
        parameters = self.expand_parameters(count)
        names = [p.name for p in parameters]
        for number in range(2, 2 + count - len(self.parameters)):
            names[len(self.parameters) + number - 2] += str(number)
        names = [re.sub("_(.)", lambda letter: letter[1].upper(), name) for name in names]
        types = [kind or p.adql for p in parameters]
        arguments = ", ".join(f"{name} {type_}" for name, type_ in zip(names, types, strict=True))
        return f"{self.name}({arguments}) -> {kind or self.returns}"

    @property
    def usage(self) -> str:
        """A call of the function in messages: ``ROUND(x [, n])``."""
        required = len(self.parameters) - self.optional
        names = [p.name for p in self.parameters]
        text = ", ".join(names[:required]) + "".join(f" [, {n}]" for n in names[required:])
        return f"{self.name}({text}{', ...' if self.variadic else ''})"

    def accepts_count(self, count: int) -> bool:
        most = len(self.parameters)
        return most - self.optional <= count and (count <= most or self.variadic)

    def expand_parameters(self, count: int) -> tuple[Parameter, ...]:
        """Return the parameter of each of ``count`` arguments."""
        repeated = self.parameters[-1:] * (count - len(self.parameters))
        return (*self.parameters[:count], *repeated)

    def emit_sql(self, args: tuple[str, ...], result: ColumnType) -> str:
        if self.integer_sql and result.is_integer:
            return self.integer_sql.format(*args)
        return self.sql.format(*args) if isinstance(self.sql, str) else self.sql(*args)

    def infer_result_type(self, types: tuple[ColumnType, ...]) -> ColumnType:
        return self.result if isinstance(self.result, ColumnType) else self.result(types)


@dataclass(frozen=True, slots=True)
class SetFunction(Function):
    """A set function, whose template has ``{over}`` after each ClickHouse aggregate.

    ``{distinct}`` is 'DISTINCT ' or empty; only the set functions of ADQL accept it.
    """

    def emit_group_sql(
        self, args: tuple[str, ...], result: ColumnType, *, distinct: bool, over: str, has_rows: bool = False
    ) -> str:
        """Return the SQL of a call.

        Parameters
        ----------
        args
            The SQL of the arguments.
        result
            The type of the result.
        distinct
            Whether to ignore duplicates.
        over
            `` OVER (...)`` or empty.
        has_rows
            Whether each group has a row. If so, OrNull forms are unnecessary: other forms return NULL if all values are
            NULL.
        """
        sql = self.integer_sql if self.integer_sql and result.is_integer else self.sql
        quantifier = "DISTINCT " if distinct else ""
        if isinstance(sql, str):
            sql = sql.replace("OrNull(", "(") if has_rows else sql
            return sql.format(*args, distinct=quantifier, over=over)
        return sql(*args, over=over)
