"""Merge tables: temporary tables in which the engine combines the partial groups of a job's pieces."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager

import pyarrow as pa

from clickhouse_schema.quoting import quote_identifier
from tap_service.storage.engine.engine import Engine
from tap_service.storage.engine.query_tables import hold_table, quote_table

MERGE_TABLE_PREFIX = "groups_"


def merge_table_name(result_key: str) -> str:
    """Return the unquoted name of a merge table.

    Parameters
    ----------
    result_key : str
        The key of the result of an attempt of a job; each attempt has its own table.

    Returns
    -------
    str
        The name, by which ``drop_orphan_tables`` finds the table of a dead worker.
    """
    return MERGE_TABLE_PREFIX + result_key.replace("-", "_")


def hold_merge_table(
    engine: Engine, name: str, types: Mapping[str, str], batches: Iterable[pa.RecordBatch]
) -> AbstractContextManager[None]:
    """Create and fill a merge table for the context, and drop it at its end.

    Parameters
    ----------
    engine : Engine
        The engine, or the server that has the table.
    name : str
        The unquoted name of the table.
    types : Mapping[str, str]
        The ClickHouse types of its columns; aggregate states are stored as text.
    batches : Iterable[pa.RecordBatch]
        Its rows.

    Raises
    ------
    EngineError
        The table cannot be created or filled.
    """
    columns = ", ".join(f"{quote_identifier(column)} {_stored_type(kind)}" for column, kind in types.items())
    create = f"CREATE TABLE {quote_table(name)} ({columns}) ENGINE = MergeTree ORDER BY tuple()"
    return hold_table(engine, name, create, batches)


def _stored_type(kind: str) -> str:
    return "String" if kind.startswith("AggregateFunction(") else kind
