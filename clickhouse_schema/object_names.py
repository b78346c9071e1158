"""Names of objects in a table: which columns have them, how names are compared, and the index that finds them.

Names are compared without regard to case, spaces, punctuation and leading zeros: ``NGC 224``, ``ngc-224`` and
``NGC0224`` are the same name. Hyphens and points after a digit are kept, and so are plus signs: they distinguish
``J1921+21`` from ``J1921-21``. The index has all names of a row in this form, so a name is found in milliseconds in
tables of any size, and names that start with given letters are read from its dictionary. It is part of the table, so it
follows loads, appends and corrections.
"""

from __future__ import annotations

import hashlib
import re

from clickhouse_schema.name_columns import NameColumn
from clickhouse_schema.quoting import quote_identifier, quote_string
from clickhouse_schema.schema_model import Table

#: What is left out when names are compared: all but letters, digits, and the signs of coordinates in names
_IGNORED = r"[^\p{L}\p{N}+.-]+"
_SEPARATORS = r"(^|[^0-9])[.-]+"
_FIRST_GROUP = r"\1"
_ZEROS = r"(^|[^0-9.])0+([0-9])"
_WITHOUT_ZEROS = r"\1\2"


def normalise_name(name: str) -> str:
    """Return the form in which names of objects are compared, as ``names_sql`` computes it.

    Parameters
    ----------
    name : str
        A name, as a user or a file writes it.

    Returns
    -------
    str
        Lower case, without spaces, leading zeros of numbers, and punctuation other than the signs of coordinates; may
        be ''.
    """
    kept = "".join(sign for sign in name.lower() if sign.isalpha() or sign.isnumeric() or sign in "+.-")
    return re.sub(_ZEROS, _WITHOUT_ZEROS, re.sub(_SEPARATORS, _FIRST_GROUP, kept))


def names_sql(table: Table) -> str:
    """Return the expression of all names of a row as they are compared; the index has exactly this expression.

    Parameters
    ----------
    table : Table
        A table with ``names``.

    Returns
    -------
    str
        SQL of an Array(String) without empty names.
    """
    return f"arrayFilter(n -> n != '', arrayMap(n -> {_normalised_sql('n')}, {_written_names_sql(table)}))"


def first_name_sql(table: Table) -> str:
    """Return the expression of the first name of a row, as it is written.

    Parameters
    ----------
    table : Table
        A table with ``names``.

    Returns
    -------
    str
        SQL of a String; '' if the row has no name.
    """
    return f"arrayFirst(n -> n != '', {_written_names_sql(table)})"


def proper_name_sql(table: Table) -> str:
    """Return the expression of the first name of a row that has no digit, such as Vega.

    Parameters
    ----------
    table : Table
        A table with ``names``.

    Returns
    -------
    str
        SQL of a String; '' if the row has no such name.
    """
    return f"arrayFirst(n -> n != '' AND NOT match(n, '[0-9]'), {_written_names_sql(table)})"


def matching_name_sql(table: Table, keys_sql: str) -> str:
    """Return the expression of the first name of a row that is one of the wanted names.

    Parameters
    ----------
    table : Table
        A table with ``names``.
    keys_sql : str
        SQL of an Array(String) of wanted names in normal form (``normalise_name``).

    Returns
    -------
    str
        SQL of a String, as the name is written; '' if no name matches.
    """
    return f"arrayFirst(n -> has({keys_sql}, {_normalised_sql('n')}), {_written_names_sql(table)})"


def _normalised_sql(name: str) -> str:
    changed = f"lowerUTF8({name})"
    for pattern, replacement in ((_IGNORED, ""), (_SEPARATORS, _FIRST_GROUP), (_ZEROS, _WITHOUT_ZEROS)):
        changed = f"replaceRegexpAll({changed}, {quote_string(pattern)}, {quote_string(replacement)})"
    return changed


def _written_names_sql(table: Table) -> str:
    return f"arrayConcat({', '.join(_names_of_column(name) for name in table.names)})"


def _names_of_column(name: NameColumn) -> str:
    text = f"ifNull(toString({quote_identifier(name.column)}), '')"
    if name.separator:
        written = _with_prefix(name, "trimBoth(n)")
        return f"arrayMap(n -> {written}, splitByString({quote_string(name.separator)}, {text}))"
    return f"[{_with_prefix(name, text)}]"


def _with_prefix(name: NameColumn, text: str) -> str:
    if not name.prefix:
        return text
    number = f"replaceRegexpOne({text}, '^0+(.)', {quote_string(_FIRST_GROUP)})"
    return f"if({text} = '', '', concat({quote_string(name.prefix + ' ')}, {number}))"


def names_index(table: Table) -> dict[str, str]:
    """Return the definition of the index of names.

    Parameters
    ----------
    table : Table
        The model of the table.

    Returns
    -------
    dict of str to str
        The definition by the index's name, which depends on the columns with names; {} for a table without ``names``.
    """
    if not table.names:
        return {}
    expression = names_sql(table)
    digest = hashlib.sha256(expression.encode()).hexdigest()[:16]
    return {f"names_{digest}": f"{expression} TYPE text(tokenizer = array, posting_list_codec = 'bitpacking')"}
