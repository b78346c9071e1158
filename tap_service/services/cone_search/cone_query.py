"""Convert a cone search to a query of /sync: ADQL, and a format that writes the columns as the standard requires."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from clickhouse_schema.catalogue import TableEntry
from clickhouse_schema.datatypes import Field
from clickhouse_schema.reserved_words import name_to_adql
from clickhouse_schema.schema_model import Table
from clickhouse_schema.tap_schema import table_name_to_adql
from tap_service.constants import LANGUAGES
from tap_service.documents.cone_search_document import STANDARD_ID
from tap_service.scratch_files import NO_SCRATCH, ScratchSpace
from tap_service.serializers.serializer import CONE_SEARCH_ERROR, ResultInfo, Serializer, SerializerFactory
from tap_service.service_errors import NotFound
from tap_service.services.cone_search.cone_parameters import ConeParameters, Verbosity
from tap_service.services.queries.tap_parameters import TapParameters

#: the UCDs by which clients of SCS 1.03 find the identifier, the longitude and the latitude
_MAIN_UCDS = ("ID_MAIN", "POS_EQ_RA_MAIN", "POS_EQ_DEC_MAIN")

_IDENTIFIER_UCD = "meta.id;meta.main"
_IDENTIFIER_NAME = "scs_id"
_IDENTIFIER_DESCRIPTION = "Identifier of the row"
_JOINED = " || ' ' || "
_COLUMNS_ALONE = "SR=0 requests only the columns; give a radius to get rows"


def build_cone_query(entry: TableEntry, cone: ConeParameters) -> TapParameters:
    """Build the query for the rows of a table within a cone.

    Parameters
    ----------
    entry : TableEntry
        A table that the client sees.
    cone : ConeParameters
        The parameters of the cone search.

    Returns
    -------
    TapParameters
        A query whose first column is the identifier, as text.

    Raises
    ------
    NotFound
        The table has no position.
    """
    table, (lon, lat) = entry.table, check_position(entry)
    names = _select_columns(table, cone.verbosity)
    indexes = (0, 1 + names.index(lon), 1 + names.index(lat))
    columns = ", ".join([_identifier_to_adql(table), *map(name_to_adql, names)])
    top, notes = ("", ()) if cone.radius else ("TOP 0 ", (_COLUMNS_ALONE,))
    query = (
        f"SELECT {top}{columns} FROM {table_name_to_adql(entry)} WHERE 1 = CONTAINS(POINT({name_to_adql(lon)}, "
        f"{name_to_adql(lat)}), CIRCLE({cone.ra!r}, {cone.dec!r}, {cone.radius!r}))"
    )
    serializer = partial(_make_serializer, cone.format.serializer, dict(zip(indexes, _MAIN_UCDS, strict=True)), notes)
    return TapParameters(query, LANGUAGES[0], replace(cone.format, serializer=serializer), cone.maxrec, cone.runid)


def check_position(entry: TableEntry) -> tuple[str, str]:
    """Return the columns of the position of a table.

    Parameters
    ----------
    entry : TableEntry
        A table that the client sees.

    Returns
    -------
    tuple[str, str]
        The columns with longitude and latitude, in degrees.

    Raises
    ------
    NotFound
        The table has no position.
    """
    if entry.table.layout.position is None:
        raise NotFound(
            f"the table {entry.qualified_name} has no position, so there is no cone search: query it with /tap/sync"
        )
    return entry.table.layout.position


def _select_columns(table: Table, verbosity: Verbosity) -> list[str]:
    """Return the names of the columns of an answer, except the identifier."""
    position = table.layout.position or ()
    if verbosity == 1:
        return list(position)
    principal = {column.name for column in table.columns if column.principal}
    if verbosity == 3 or not principal:
        return [column.name for column in table.columns if column.name not in _list_text_identifiers(table)]
    wanted = {*position, *principal} - {*_list_text_identifiers(table)}
    return [column.name for column in table.columns if column.name in wanted]


def _list_identifiers(table: Table) -> tuple[str, ...]:
    """Return the columns that identify a row; without an id, the columns of the position."""
    marked = tuple(column.name for column in table.columns if column.ucd == _IDENTIFIER_UCD)
    return table.layout.id or table.primary_key or marked[:1] or table.layout.position or ()


def _list_text_identifiers(table: Table) -> tuple[str, ...]:
    """Return the column that identifies a row if it is a single text column, which then is the identifier."""
    names = _list_identifiers(table)
    return names if len(names) == 1 and table.get_column(names[0]).type.is_text else ()


def _identifier_to_adql(table: Table) -> str:
    """Return the expression of the identifier, for which the standard requires one text column."""
    if texts := _list_text_identifiers(table):
        return name_to_adql(texts[0])
    taken = {column.name.lower() for column in table.columns}
    name = _IDENTIFIER_NAME
    while name in taken:
        name += "_"
    parts = (f"CAST({name_to_adql(part)} AS VARCHAR)" for part in _list_identifiers(table))
    return f"{_JOINED.join(parts)} AS {name}"


def _make_serializer(
    make: SerializerFactory,
    ucds: dict[int, str],
    notes: tuple[str, ...],
    fields: Sequence[Field],
    info: ResultInfo,
    scratch: ScratchSpace = NO_SCRATCH,
) -> Serializer:
    """Return a serializer that writes notes, and ``ucds`` by the index of a field; no other field has these UCDs."""
    identifier, *others = (
        replace(field, ucd=ucds.get(index, "" if field.ucd in _MAIN_UCDS else field.ucd))
        for index, field in enumerate(fields)
    )
    identifier = replace(identifier, description=identifier.description or _IDENTIFIER_DESCRIPTION)
    about = replace(info, notes=(*info.notes, *notes), standard_id=STANDARD_ID, error_name=CONE_SEARCH_ERROR)
    return make([identifier, *others], about, scratch)
