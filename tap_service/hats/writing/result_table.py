"""The rows of a query in a table of the engine, which sorts them by the sky while a collection is written."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from pydantic import ValidationError

from clickhouse_schema.catalogue import TableEntry
from clickhouse_schema.datatypes import Field
from clickhouse_schema.hats.hats_error import HatsError
from clickhouse_schema.schema_model import Schema, Table
from clickhouse_schema.shape_cover import has_cover
from clickhouse_schema.strict_model import MAX_NAME_LENGTH
from clickhouse_schema.table_ddl import create_table_sql
from tap_service.readers.table_model import build_table
from tap_service.serializers.arrow_serializer import rename_duplicate_fields
from tap_service.storage.engine.engine import Engine
from tap_service.storage.engine.query_tables import drop_table, quote_table

_UNUSABLE = re.compile(r"[^\w-]+")


def describe_result_table(
    name: str, storage: str, fields: Sequence[Field], query: str, citations: Iterable[str], rights: Iterable[str]
) -> TableEntry:
    """Describe a table for the result of a query; its position is found as in users' tables.

    Parameters
    ----------
    name : str
        Name of the catalogue and its folder; characters that a table name cannot have are replaced.
    storage : str
        Name of the table in the engine (``query_tables``).
    fields : sequence of Field
        The columns of the result.
    query : str
        The ADQL text.
    citations, rights : iterable of str
        What to cite, and the licences.

    Raises
    ------
    HatsError
        The result has no position, or columns that cannot be stored.
    """
    try:
        usable = _UNUSABLE.sub("_", name)[:MAX_NAME_LENGTH] or "result"
        table = build_table(usable, rename_duplicate_fields(fields), description=query)
    except ValidationError as error:
        raise HatsError(f"the result cannot be a HATS collection: {error.errors()[0]['msg']}") from error
    if table.layout.position is None:
        raise HatsError(
            "the result has no position: HATS files are divided by the sky. Select right ascension and declination "
            "too, in degrees: they are known by their UCDs, or by names such as ra and dec"
        )
    about = Schema(name="query", citation="; ".join(citations), licence="; ".join(rights))
    return TableEntry(about, table, stored_sql=quote_table(storage))


def create_result_table(engine: Engine, storage: str, table: Table) -> None:
    """Create a table for a result, after dropping a former one.

    Shapes are stored without the covers that conditions need.

    Parameters
    ----------
    engine : Engine
        The engine.
    storage : str
        Name of the table in the engine.
    table : Table
        Its columns.

    Raises
    ------
    EngineError
        The table cannot be created.
    """
    plain = (each.model_copy(update={"xtype": ""}) if has_cover(each.type) else each for each in table.columns)
    drop_table(engine, storage)
    engine.execute(create_table_sql(table.model_copy(update={"columns": tuple(plain)}), quote_table(storage)))
