"""Skyhouse's extensions of ADQL 2.1, as /capabilities declares them; ``docs/adql.md`` explains them."""

from __future__ import annotations

from typing import NamedTuple

#: The TAPRegExt type of these features
FEATURE_TYPE = "ivo://skyhouse/std/adql#features-extension"


class Extension(NamedTuple):
    form: str
    description: str


EXTENSIONS = (
    Extension("CROSS JOIN", "a CROSS JOIN b: each row of the one with each of the other, as FROM a, b"),
    Extension(
        "CASE", "CASE WHEN condition THEN value ... [ELSE value] END, and CASE value WHEN value THEN value ... END"
    ),
    Extension(
        "OVER",
        "Window functions: f(...) OVER ([PARTITION BY ...] [ORDER BY ...] [ROWS or RANGE frame]), of every set function"
        " and of ROW_NUMBER, RANK, DENSE_RANK, PERCENT_RANK, CUME_DIST, NTILE, LAG, LEAD, FIRST_VALUE, LAST_VALUE and"
        " NTH_VALUE",
    ),
    Extension("TABLESAMPLE", "table TABLESAMPLE [BERNOULLI] (percent) [REPEATABLE (seed)]: the same rows each time"),
    Extension("TRUE", "TRUE and FALSE, and boolean columns and expressions as conditions"),
    Extension("0x1F", "Hexadecimal integers"),
    Extension("~ & | ^", "Bitwise operators on integers: not, and, or, exclusive or"),
    Extension("v[i]", "The element of an array, counted from 1"),
    Extension("(SELECT ...)", "A subquery of one column and at most one row as a value"),
    Extension("GROUP BY name", "GROUP BY the name of an output that no column of FROM has"),
    Extension("v + w", "Arithmetic on arrays of numbers, element by element or with one number: + - * /"),
)
