"""Timestamps as Julian dates, without time scales and leap seconds, as the IVOA's catalogue of UDFs defines them."""

from __future__ import annotations

from adql.functions.function import Function, Parameter
from clickhouse_schema.datatypes import DOUBLE

_D = (Parameter("d", "timestamp", "TIMESTAMP"),)
_DAYS = "toUnixTimestamp64Micro({0}) / 86400000000."

DATE_FUNCTIONS = (
    Function("ivo_to_jd", _D, DOUBLE, f"({_DAYS} + 2440587.5)",
             "Julian date of a timestamp or of a text in ISO 8601.", returns="REAL"),
    Function("ivo_to_mjd", _D, DOUBLE, f"({_DAYS} + 40587.)",
             "Modified Julian date (JD - 2400000.5) of a timestamp or of a text in ISO 8601.", returns="REAL"),
)  # fmt: skip
