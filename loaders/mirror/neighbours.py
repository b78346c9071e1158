"""A table of the pairs of the rows of a mirror with their neighbours in another table, made after the mirror.

The pairs are the result of an ADQL query, which is written to a Parquet file and loaded like any other file.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from adql import AdqlError, translate
from clickhouse_schema.catalogue import Catalogue, TableEntry
from clickhouse_schema.engine_tables.catalogue_log import read_catalogue
from clickhouse_schema.reserved_words import name_to_adql
from clickhouse_schema.schema_model import Table
from loaders.load_error import LoadError
from loaders.mirror.mirror_request import MirrorRequest
from loaders.mirror.recipe import Crossmatch
from loaders.pipeline.attached_gateway import read_queried_catalogue
from loaders.pipeline.load_request import LoadRequest
from loaders.pipeline.load_table import load_files
from loaders.pipeline.storage_choice import read_live_state
from loaders.pipeline.table_name import split_name
from loaders.progress_reporter import Reporter
from tap_service.storage.engine.engine import Engine


def check_crossmatch(engine: Engine, request: MirrorRequest, crossmatch: Crossmatch, table: Table) -> None:
    """Raise ``LoadError`` if the pairs of ``table`` cannot be made, or would replace another table."""
    if table.layout.position is None or not table.layout.id:
        raise LoadError(f"a crossmatch needs a table with position and id: name them in the layout of {request.table}")
    if crossmatch.into.lower() in (request.table.lower(), crossmatch.table.lower()):
        raise LoadError(f"the pairs of a crossmatch cannot replace {crossmatch.into}: choose another name for into")
    live = read_live_state(engine, crossmatch.into, read_catalogue(engine))
    if live is not None and any(
        Path(file).name != _name_pairs(crossmatch) for load in live.loads for file in load.files
    ):
        raise LoadError(
            f"there is a table {crossmatch.into} of another origin: choose another name for into, or remove the"
            f" table with skyhouse drop {crossmatch.into}"
        )


def _name_pairs(crossmatch: Crossmatch) -> str:
    """Return the name of the file from which the table of pairs is loaded."""
    return f"mirror_pairs_{hashlib.sha256(crossmatch.into.encode()).hexdigest()[:24]}.parquet"


def make_neighbours(engine: Engine, request: MirrorRequest, crossmatch: Crossmatch, reporter: Reporter) -> None:
    """Replace the table ``crossmatch.into`` by the pairs within its radius; report if the other table is missing."""
    catalogue = read_queried_catalogue(engine)
    if catalogue.find_entry(*split_name(crossmatch.table)) is None:
        reporter.message(
            f"note: there is no table {crossmatch.table}, so {crossmatch.into} is not created: mirror that table, and"
            " start this mirror again"
        )
        return
    query = build_pair_query(catalogue, request.table, crossmatch)
    try:
        translation = translate(query, catalogue)
    except AdqlError as error:
        raise LoadError(f"{crossmatch.into} cannot be made: {error.describe(query)}") from error
    request.work.mkdir(parents=True, exist_ok=True)
    path = request.work / _name_pairs(crossmatch)
    try:
        names = [field.name for field in translation.fields]
        with engine.stream_batches(translation.sql, settings=translation.settings) as batches:
            _write_batches(path, names, batches, reporter)
        rejects = request.rejects.with_name(f"{crossmatch.into}.rejects.csv")
        load_files(engine, LoadRequest(files=(path,), table=crossmatch.into, rejects=rejects, mode="replace"), reporter)
    finally:
        path.unlink(missing_ok=True)


def _write_batches(path: Path, names: list[str], batches: Iterator[pa.RecordBatch], reporter: Reporter) -> None:
    writer: pq.ParquetWriter | None = None
    try:
        for batch in batches:
            reporter.check()
            named = batch.rename_columns(names)
            writer = writer or pq.ParquetWriter(path, named.schema)
            writer.write_batch(named)
    finally:
        if writer is not None:
            writer.close()


def build_pair_query(catalogue: Catalogue, table: str, crossmatch: Crossmatch) -> str:
    """Return the query of the pairs: the ids of both tables, and their separation in arcseconds."""
    own, other = (_find_table(catalogue, name) for name in (table, crossmatch.table))
    columns = [
        *(f"a.{name_to_adql(name)} AS {name_to_adql(f'{own.table.name}_{name}')}" for name in own.table.layout.id),
        *(f"b.{name_to_adql(name)} AS {name_to_adql(f'{other.table.name}_{name}')}" for name in other.table.layout.id),
    ]
    positions = [
        ", ".join(f"{alias}.{name_to_adql(name)}" for name in entry.table.layout.position or ())
        for alias, entry in (("a", own), ("b", other))
    ]
    distance = f"DISTANCE({positions[0]}, {positions[1]})"
    tables = [".".join(map(name_to_adql, (entry.schema.name, entry.table.name))) for entry in (own, other)]
    return (
        f"SELECT {', '.join(columns)}, 3600 * {distance} AS separation FROM {tables[0]} AS a"
        f" JOIN {tables[1]} AS b ON {distance} <= {crossmatch.radius!r} / 3600.0"
    )


def _find_table(catalogue: Catalogue, name: str) -> TableEntry:
    entry = catalogue.find_entry(*split_name(name))
    if entry is None or entry.table.layout.position is None or not entry.table.layout.id:
        raise LoadError(f"a crossmatch needs tables with position and id: name them in the layout of {name}")
    return entry
