"""A function of the language: name, parameters, result type, SQL form, description."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from clickhouse_schema.datatypes import ColumnType

#: What a parameter takes -> the word for it in messages
KINDS = {
    "number": "a number",
    "integer": "an integer",
    "text": "text",
    "order": "a HEALPix order from 0 to 29, as a literal",
    "point": "a POINT",
    "any": "a value",
}


@dataclass(frozen=True, slots=True)
class Parameter:
    name: str
    kind: str
    adql: str = ""  # type in a declared signature


@dataclass(frozen=True, slots=True)
class Function:
    """``sql`` is a template over the arguments' SQL or a function of them; ``whole`` that of an integer result.

    ``result`` a type or a function of the argument types.
    """

    name: str
    parameters: tuple[Parameter, ...]
    result: ColumnType | Callable[[tuple[ColumnType, ...]], ColumnType]
    sql: str | Callable[..., str]
    description: str
    optional: int = 0
    variadic: bool = False
    whole: str = ""
    returns: str = ""  # ADQL type in a declared signature

    @property
    def signature(self) -> str:
        """TAPRegExt form: ``name(arg TYPE, ...) -> TYPE``."""
        parameters = ", ".join(f"{p.name} {p.adql}" for p in self.parameters)
        return f"{self.name}({parameters}) -> {self.returns}"

    @property
    def usage(self) -> str:
        """For messages: ``ROUND(x [, n])``."""
        required = len(self.parameters) - self.optional
        names = [p.name for p in self.parameters]
        text = ", ".join(names[:required]) + "".join(f" [, {n}]" for n in names[required:])
        return f"{self.name}({text}{', ...' if self.variadic else ''})"

    def takes(self, count: int) -> bool:
        most = len(self.parameters)
        return most - self.optional <= count and (count <= most or self.variadic)

    def emit(self, args: tuple[str, ...], result: ColumnType) -> str:
        if self.whole and result.is_integer:
            return self.whole.format(*args)
        return self.sql.format(*args) if isinstance(self.sql, str) else self.sql(*args)

    def result_type(self, types: tuple[ColumnType, ...]) -> ColumnType:
        return self.result if isinstance(self.result, ColumnType) else self.result(types)
