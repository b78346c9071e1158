"""Filters rows by a condition in ADQL, which the engine evaluates as in a query of the table.

The columns that the condition may name are inserted into a separate table, one row block after the other.
"""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pyarrow as pa

from adql import AdqlError, Span, Translation, check_condition, translate
from clickhouse_schema.catalogue import Catalogue, TableEntry
from clickhouse_schema.schema_model import Column, Layout, Schema, Table
from clickhouse_schema.table_ddl import create_table_sql, given_columns
from loaders.load_error import LoadError
from loaders.pipeline.chunk_reader import ChooseRows
from tap_service.storage.engine.engine import Engine
from tap_service.storage.engine.query_tables import drop_table, quote_table

_ROW = Column(name="skyhouse_row_number", datatype="long", nullable=False)


@contextmanager
def open_row_filter(engine: Engine, schema: Schema, condition: str) -> Iterator[ChooseRows | None]:
    """Return the function that marks the rows of a batch for which ``condition`` is true; None without a condition.

    Raises
    ------
    LoadError
        This is not a condition on columns of the table.
    """
    if not condition:
        yield None
        return
    table = _select_columns(schema.tables[0], condition)
    digest = hashlib.sha256(f"{schema.name}.{table.name}".encode()).hexdigest()
    name = f"mirror_{digest[:24]}"
    stored = quote_table(name)
    translation = _translate(schema, table, condition, stored)
    columns = [column for column in given_columns(table) if column != _ROW.name]
    lock = threading.Lock()

    def choose_rows(batch: pa.RecordBatch) -> pa.BooleanArray:
        numbers = pa.array(np.arange(batch.num_rows))
        given = batch.select(columns).append_column(_ROW.name, numbers)
        with lock:
            engine.execute(f"TRUNCATE TABLE {stored}")
            engine.insert_batches(stored, [given])
            found = engine.fetch_table(translation.sql, translation.settings).column(0)
        kept = np.zeros(batch.num_rows, bool)
        kept[found.to_numpy()] = True
        return pa.array(kept)

    drop_table(engine, name)
    engine.execute(create_table_sql(table, stored))
    try:
        yield choose_rows
    finally:
        drop_table(engine, name)


def check_row_condition(schema: Schema, condition: str) -> None:
    """Raise ``LoadError`` unless ``condition`` is a condition on columns of the table."""
    if condition:
        _translate(schema, _select_columns(schema.tables[0], condition), condition, "")


def find_named_columns(table: Table, condition: str) -> set[str]:
    """Return the columns of the table that a condition may name."""
    written = {name.lower() for name in re.findall(r"\w+", condition)}
    return {column.name for column in table.columns if {*re.findall(r"\w+", column.name.lower())} <= written}


def _select_columns(table: Table, condition: str) -> Table:
    """Return the table with the columns that the condition may name, and the row's number."""
    named = find_named_columns(table, condition)
    columns = tuple(column for column in table.columns if column.name in named)
    return Table(name=table.name, columns=(*columns, _ROW), coordinates=table.coordinates, layout=Layout())


def _translate(schema: Schema, table: Table, condition: str, stored: str) -> Translation:
    try:
        check_condition(condition)
    except AdqlError as error:
        raise LoadError(f"--where: {error.describe(condition)}") from error
    entry = TableEntry(schema.model_copy(update={"tables": (table,)}), table, stored_sql=stored)
    head = f'SELECT {_ROW.name} FROM "{schema.name}"."{table.name}" WHERE ('
    try:
        return translate(f"{head}{condition}\n)", Catalogue(()).add_entries((entry,)))
    except AdqlError as error:
        for found in (error, *getattr(error, "errors", ())):
            found.span = Span(*(max(0, offset - len(head)) for offset in found.span))
        raise LoadError(f"--where: {error.describe(condition)}") from error
