"""Functions of texts."""

from __future__ import annotations

from adql.functions.function import Function, Parameter
from clickhouse_schema.datatypes import UNICODE

STRING = (
    Function("LOWER", (Parameter("s", "text"),), UNICODE, "lowerUTF8({0})", "lower case"),
    Function("UPPER", (Parameter("s", "text"),), UNICODE, "upperUTF8({0})", "upper case"),
)
