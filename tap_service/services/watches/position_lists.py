"""The query of a watch for a list of positions: a cross-match of a user table with the watched table."""

from __future__ import annotations

from clickhouse_schema.catalogue import Catalogue, TableEntry
from clickhouse_schema.engine_tables.user_table_record import SCHEMA_NAME
from clickhouse_schema.reserved_words import name_to_adql
from tap_service.service_errors import NotFound, ParameterError

#: in arcseconds
MAX_RADIUS = 3600.0

_LIST_PREFIX = "list_"


def build_list_query(catalogue: Catalogue, list_name: str, table_name: str, radius: float) -> str:
    """Return the query for the rows of a table within a radius of the positions of a list.

    Parameters
    ----------
    catalogue : Catalogue
        The tables that the user sees.
    list_name : str
        The list, ``mydb.name``: a table of the user, with positions.
    table_name : str
        The watched table, ``schema.name``, with positions.
    radius : float
        The maximum separation, in arcseconds.

    Returns
    -------
    str
        A query in ADQL.

    Raises
    ------
    NotFound, ParameterError
        A table does not exist or has no positions, or the radius is out of range.
    """
    if not 0 < radius <= MAX_RADIUS:
        raise ParameterError(f"radius must be above 0 and at most {MAX_RADIUS:g} arcseconds")
    if list_name.partition(".")[0].lower() != SCHEMA_NAME:
        raise ParameterError(
            f"list must be one of your tables, such as {SCHEMA_NAME}.positions: upload the list as a table first"
        )
    positions, table = (_find_table(catalogue, name) for name in (list_name, table_name))
    listed, watched = (_point_sql(entry, alias) for entry, alias in ((positions, "l"), (table, "t")))
    columns = [f"l.{_quote(field.name)} AS {_quote(_LIST_PREFIX + field.name)}" for field in positions.fields]
    columns += [f"t.{_quote(field.name)}" for field in table.fields]
    circle = f"CIRCLE({listed}, {radius!r} / 3600.0)"
    return (
        f"SELECT {', '.join(columns)}, DISTANCE(POINT({listed}), POINT({watched})) * 3600 AS {_LIST_PREFIX}separation\n"
        f"FROM {_name(positions)} AS l JOIN {_name(table)} AS t\n"
        f"ON 1 = CONTAINS(POINT({watched}), {circle})"
    )


def _find_table(catalogue: Catalogue, name: str) -> TableEntry:
    schema, _, table = name.partition(".")
    found = catalogue.find_tables(table, False, schema)
    if len(found) != 1:
        raise NotFound(f"there is no table {name[:100]!r} that you can see; write schema.name")
    if found[0].table.layout.position is None:
        raise ParameterError(f"{found[0].qualified_name} has no positions: two columns in degrees, such as ra and dec")
    return found[0]


def _point_sql(entry: TableEntry, alias: str) -> str:
    assert entry.table.layout.position is not None  # noqa: S101  (_find_table checks it)
    return ", ".join(f"{alias}.{_quote(name)}" for name in entry.table.layout.position)


def _name(entry: TableEntry) -> str:
    return f"{_quote(entry.schema.name)}.{_quote(entry.table.name)}"


def _quote(name: str) -> str:
    return name_to_adql(name)
