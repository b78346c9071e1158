"""The rows of an export: a published table, or the result of a query in a table that is dropped after the export."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import PurePosixPath

from adql import AdqlError, Translation, translate
from clickhouse_schema.catalogue import Catalogue, TableEntry
from clickhouse_schema.engine_tables.catalogue_log import read_content_stamps
from clickhouse_schema.hats.hats_error import HatsError
from clickhouse_schema.quoting import quote_identifier
from loaders.load_error import LoadError
from loaders.pipeline.attached_gateway import read_queried_catalogue
from tap_service.hats.writing.result_table import create_result_table, describe_result_table
from tap_service.models.timestamps import format_instant
from tap_service.storage.engine.engine import Engine
from tap_service.storage.engine.query_tables import RESULT_OF_EXPORT, drop_table

#: The start of a query; comments and brackets may precede it
_QUERY = re.compile(r"(?:[\s(]|--[^\r\n]*+)*+(SELECT|WITH)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ExportSource:
    """The rows of an export.

    Attributes
    ----------
    stamp
        A text that changes whenever the rows or the descriptions of their columns change.
    changed
        The instant of their last change, such as 2026-11-25T16:00:00.000Z.
    """

    entry: TableEntry
    stamp: str
    changed: str


def is_query(source: str) -> bool:
    """Whether ``source`` is a query, not the name of a table."""
    return _QUERY.match(source) is not None


def translate_source(engine: Engine, source: str) -> Translation:
    """Translate a query, or the query of all rows of a table. Raises ``LoadError``."""
    query = source
    catalogue = read_queried_catalogue(engine)
    if not is_query(source):
        entry = _find_table(catalogue, source)
        query = f'SELECT * FROM "{_double(entry.schema.name)}"."{_double(entry.table.name)}"'
    try:
        return translate(query, catalogue)
    except AdqlError as error:
        raise LoadError(error.describe(query)) from error


def _double(name: str) -> str:
    return name.replace('"', '""')


def _find_table(catalogue: Catalogue, name: str) -> TableEntry:
    exact = [entry for entry in catalogue.entries if entry.qualified_name == name]
    found = exact or [entry for entry in catalogue.entries if entry.qualified_name.lower() == name.lower()]
    if len(found) != 1:
        raise LoadError(f"there is no table {name}; see skyhouse tables. A query starts with SELECT or WITH")
    return found[0]


def read_stamp(engine: Engine, source: str) -> tuple[str, str]:
    """Return the present ``stamp`` and ``changed`` of a source."""
    if is_query(source):
        translation = translate_source(engine, source)
        if not translation.has_steady_rows:
            return "", ""
        names = [(entry.schema.name, entry.table.name) for entry in translation.tables]
        stamps: tuple[tuple[str, ...], ...] = (("query", source), *read_content_stamps(engine, names))
    else:
        entry = _find_table(read_queried_catalogue(engine), source)
        stamps = read_content_stamps(engine, [(entry.schema.name, entry.table.name)])
    # the versions are nanoseconds since 1970
    newest = max((int(number) for stamp in stamps for number in stamp[3:] if number.isdigit()), default=0)
    changed = format_instant(datetime.fromtimestamp(newest / 1e9, UTC)) if newest else ""
    return hashlib.sha256(repr(stamps).encode()).hexdigest(), changed


@contextmanager
def open_export_source(engine: Engine, source: str, target: str) -> Iterator[ExportSource]:
    """Return the rows of an export. The rows of a query are stored in a table, which is dropped at the end.

    Parameters
    ----------
    engine : Engine
        The engine.
    source : str
        ``schema.table``, or a query.
    target : str
        Names the stored table, so that a later export to the same target drops the table of a killed export. Its last
        folder names the catalogue.

    Yields
    ------
    ExportSource

    Raises
    ------
    LoadError
        There is no such table, or the query is wrong.
    EngineError
    """
    stamp, changed = read_stamp(engine, source)
    if not is_query(source):
        yield ExportSource(_find_table(read_queried_catalogue(engine), source), stamp, changed)
        return
    storage = f"{RESULT_OF_EXPORT}{hashlib.sha256(target.encode()).hexdigest()[:24]}"
    try:
        yield ExportSource(_store_result(engine, source, PurePosixPath(target).name, storage), stamp, changed)
    finally:
        drop_table(engine, storage)


def _store_result(engine: Engine, query: str, name: str, storage: str) -> TableEntry:
    """Store the result of a query in a new table. ``name``: the name of its HATS catalogue."""
    translation = translate_source(engine, query)
    citations, rights = list_sources(translation)
    try:
        entry = describe_result_table(name, storage, translation.fields, query, citations, rights)
    except HatsError as error:
        raise LoadError(str(error)) from error
    create_result_table(engine, storage, entry.table)
    columns = ", ".join(quote_identifier(column.name) for column in entry.table.columns)
    settings = translation.settings | {"insert_null_as_default": 0}
    engine.execute(f"INSERT INTO {entry.storage_sql} ({columns}) {translation.sql}", settings)
    return entry


def list_sources(translation: Translation) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the citations and the licences of the tables of a query."""
    schemas = {entry.schema.name: entry.schema for entry in translation.tables}.values()
    citations = dict.fromkeys(schema.citation for schema in schemas if schema.citation)
    return tuple(citations), tuple(dict.fromkeys(schema.licence for schema in schemas if schema.licence))
