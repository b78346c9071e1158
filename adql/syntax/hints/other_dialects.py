"""Hints for words, functions, columns and tables of other SQL dialects."""

from __future__ import annotations

from adql.errors import NO_HINT, Fix, Hint, Span

TOP_HINT = "limit the number of rows with TOP: SELECT TOP 10 ..."
NO_STORING_HINT = "a query returns rows; it cannot store them"
NO_TABLE_HINT = "every SELECT reads a table; to compute a value, write SELECT TOP 1 value FROM TAP_SCHEMA.tables"
#: A table that every service has, for queries that need no table
ANY_TABLE = "TAP_SCHEMA.tables"

_PATTERNS = "compare patterns with LIKE or ILIKE"
_CONTAINED = "write LIKE '%part%'; % stands for any characters"

#: Word of another dialect -> the hint. In ADQL the word is a name, so the error may be one token later.
WORD_HINTS = {
    "FORMAT": "the format of the result is the parameter RESPONSEFORMAT, not part of the query",
    "SETTINGS": "ADQL has no SETTINGS",
    "OUTFILE": NO_STORING_HINT,
    **dict.fromkeys(("RLIKE", "REGEXP", "SIMILAR", "GLOB"), _PATTERNS),
    **dict.fromkeys(("STARTS", "STARTSWITH", "ENDSWITH"), _CONTAINED),
    "DIV": "for integer division, write FLOOR(a / b)",
    "QUALIFY": "put the window function in a subquery and its condition in the outer WHERE",
    "MINUS": "for the difference of two queries, write EXCEPT",
    "RECURSIVE": "ADQL has no recursive WITH",
    "LATERAL": "ADQL has no LATERAL",
    "APPLY": "ADQL has no APPLY; use a subquery in SELECT, or a JOIN",
    "TABLESAMPLE": "write a sample as TABLESAMPLE (percent) [REPEATABLE (seed)], after the alias of the table",
    **dict.fromkeys(("OVER", "WINDOW"), "write the window where it is used: OVER (PARTITION BY ... ORDER BY ...)"),
    "FILTER": "count or sum a CASE: COUNT(CASE WHEN condition THEN 1 END)",
    **dict.fromkeys(("GROUPS", "EXCLUDE"), "write a frame as ROWS or RANGE BETWEEN start AND end"),
    "NULLS": "ADQL has no NULLS FIRST or NULLS LAST, and no IGNORE NULLS",
    "IGNORE": "window functions always include NULLs",
    **dict.fromkeys(("ANTI", "SEMI", "ASOF"), "ADQL has no such join; use EXISTS or NOT EXISTS"),
}

#: Word of another dialect -> the words of ADQL
WORD_SYNONYMS = {
    "ASCENDING": "ASC",
    "DESCENDING": "DESC",
    "ORDERBY": "ORDER BY",
    "SORT": "ORDER",
    "GROUPBY": "GROUP BY",
    "ISNULL": "IS NULL",
    "NOTNULL": "IS NOT NULL",
}

_CASE = "write CASE WHEN condition THEN a ELSE b END"
_LENGTH = "test a length with LIKE '___' or gavo_match('^.{3,5}$', s)"
_FIRST = "for the first n characters, write CAST(s AS VARCHAR(n))"
_MATCHES = "match a regular expression with 1 = gavo_match(pattern, s)"
_NOW = "write the time as text, '2026-01-31T12:00:00'"
_TIMES = "compare times with texts, t >= '2026-01-31'; ivo_to_mjd(t) is a number of days"
_SEPARATION = "write DISTANCE(POINT(ra1, dec1), POINT(ra2, dec2)) < degrees"
_NO_EDITING = "ADQL has no text functions except LOWER and UPPER; compare with LIKE"

#: Function of another dialect, in upper case -> the hint
_FUNCTION_HINTS = {
    "ISNULL": "write COALESCE(a, b), or a IS NULL",
    **dict.fromkeys(("IF", "IIF", "DECODE"), _CASE),
    "NULLIF": "write CASE WHEN a <> b THEN a END",
    "SIGN": "write CASE WHEN x < 0 THEN -1 WHEN x > 0 THEN 1 ELSE 0 END",
    "LOG2": "write LOG(x) / LOG(2)",
    "CBRT": "write POWER(x, 1/3.)",
    "SQUARE": "write POWER(x, 2)",
    **dict.fromkeys(("SIND", "COSD", "TAND"), "SIN, COS and TAN take radians: SIN(RADIANS(x))"),
    **dict.fromkeys(("CONCAT", "CONCAT_WS"), "join texts with ||"),
    **dict.fromkeys(("LEN", "LENGTH", "CHAR_LENGTH", "CHARACTER_LENGTH", "OCTET_LENGTH"), _LENGTH),
    **dict.fromkeys(("SUBSTR", "SUBSTRING", "LEFT"), _FIRST),
    **dict.fromkeys(("REGEXP_LIKE", "REGEXP_MATCH", "REGEXP_MATCHES", "REGEXP"), _MATCHES),
    **dict.fromkeys(("CHARINDEX", "INSTR", "STRPOS", "LOCATE", "POSITION"), _CONTAINED),
    **dict.fromkeys(("TRIM", "LTRIM", "RTRIM", "REPLACE", "TRANSLATE", "RIGHT", "LPAD", "RPAD"), _NO_EDITING),
    **dict.fromkeys(("NOW", "GETDATE", "TODAY", "CURRENT_DATE", "CURRENT_TIMESTAMP"), _NOW),
    **dict.fromkeys(("TIMESTAMP", "TO_TIMESTAMP", "TO_DATE", "DATE"), "write CAST(s AS TIMESTAMP)"),
    **dict.fromkeys(("EXTRACT", "YEAR", "MONTH", "DAY", "DATE_TRUNC", "DATE_PART", "DATEPART"), _TIMES),
    **dict.fromkeys(("DATEDIFF", "DATEADD", "DATE_ADD", "DATE_SUB", "TIMESTAMPDIFF"), _TIMES),
    **dict.fromkeys(("STRING_AGG", "GROUP_CONCAT", "LISTAGG"), "write ivo_string_agg(s, ', ')"),
    **dict.fromkeys(("QUANTILE", "PERCENTILE", "PERCENTILE_CONT"), "write skyhouse_quantile(x, 0.9)"),
    **dict.fromkeys(("TO_CHAR", "STR"), "write CAST(x AS VARCHAR)"),
    **dict.fromkeys(("CONVERT", "TO_NUMBER", "TRY_CAST", "TRY_CONVERT"), "write CAST(x AS type)"),
    **dict.fromkeys(("Q3C_RADIAL_QUERY", "Q3C_JOIN", "Q3C_DIST"), _SEPARATION),
    **dict.fromkeys(("FGETNEARBYOBJEQ", "FGETNEARESTOBJEQ", "FGETOBJFROMRECT"), _SEPARATION),
}  # fmt: skip

#: Function of another dialect, in upper case -> the function of ADQL with the same arguments
_FUNCTION_SYNONYMS = {
    **dict.fromkeys(("IFNULL", "NVL"), "COALESCE"),
    "LN": "LOG",
    **dict.fromkeys(("POW", "PWR"), "POWER"),
    "CEIL": "CEILING",
    "TRUNC": "TRUNCATE",
    **dict.fromkeys(("ATN2", "ARCTAN2"), "ATAN2"),
    "ARCSIN": "ASIN",
    "ARCCOS": "ACOS",
    "ARCTAN": "ATAN",
    **dict.fromkeys(("LCASE", "TOLOWER"), "LOWER"),
    **dict.fromkeys(("UCASE", "TOUPPER"), "UPPER"),
    **dict.fromkeys(("RANDOM", "RND"), "RAND"),
    **dict.fromkeys(("MEAN", "AVERAGE"), "AVG"),
    **dict.fromkeys(("STDEV", "STD"), "STDDEV"),
    "STDEVP": "STDDEV_POP",
    "VAR": "VARIANCE",
    "VARP": "VAR_POP",
    "MINIMUM": "MIN",
    "MAXIMUM": "MAX",
    "ANGULAR_DISTANCE": "DISTANCE",
}  # fmt: skip

#: Column or constant of another dialect, in upper case -> the hint
_COLUMN_HINTS = {
    **dict.fromkeys(("ROWNUM", "ROWNUMBER"), TOP_HINT),
    "PERCENT": "TOP takes a number of rows; for a percentage, write TABLESAMPLE (10) after the table",
    **dict.fromkeys(("SYSDATE", "SYSTIMESTAMP"), _NOW),
    **dict.fromkeys(("NAN", "INF", "INFINITY"), "ADQL has no literal for it; test for a missing value with IS NULL"),
}

#: Table of another dialect, in upper case -> the hint
_TABLE_HINTS = {"DUAL": NO_TABLE_HINT}


def find_function_hint(name: str, span: Span) -> Hint:
    """Find the hint for a function of another dialect.

    Parameters
    ----------
    name
        The name of the function, in any case.
    span
        The position of the name.

    Returns
    -------
    Hint
        The hint with its fix; an empty hint for other functions.
    """
    if renamed := _FUNCTION_SYNONYMS.get(name.upper()):
        return Hint(f"in ADQL, write {renamed}", (Fix(span, renamed),))
    return Hint(_FUNCTION_HINTS.get(name.upper(), ""))


def find_column_hint(name: str) -> Hint:
    """Return the hint for a name that another dialect has as a column or constant.

    Parameters
    ----------
    name
        The name, in any case.

    Returns
    -------
    Hint
        An empty hint for other names.
    """
    return Hint(_COLUMN_HINTS[name.upper()]) if name.upper() in _COLUMN_HINTS else NO_HINT


def find_table_hint(name: str) -> Hint:
    """Return the hint for a table that another dialect has.

    Parameters
    ----------
    name
        The name without its schema, in any case.

    Returns
    -------
    Hint
        An empty hint for other names.
    """
    return Hint(_TABLE_HINTS[name.upper()]) if name.upper() in _TABLE_HINTS else NO_HINT
