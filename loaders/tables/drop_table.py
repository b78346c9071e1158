"""``skyhouse drop``: removes a table, after its latest versions; its kept matches must be removed before."""

from __future__ import annotations

from clickhouse_schema.engine_tables.catalogue_log import read_catalogue
from clickhouse_schema.kept_match import find_matches_of
from clickhouse_schema.latest_versions import build_latest_table
from loaders.load_error import LoadError
from loaders.pipeline.kept_match import forget_match
from loaders.pipeline.latest_rows import refuse_latest_table
from loaders.pipeline.remove_table import remove_table
from loaders.pipeline.table_name import split_name
from loaders.progress_reporter import Reporter
from tap_service.storage.engine.engine import Engine


def drop_table(engine: Engine, name: str, reporter: Reporter) -> None:
    """Remove a table and the leftovers of its loads. Raises ``LoadError`` if it does not exist or has a kept match."""
    catalogue = read_catalogue(engine)
    schema_name, table_name = split_name(name)
    refuse_latest_table(catalogue.schemas, name)
    entry = catalogue.find_entry(schema_name, table_name)
    if matches := [f"{schema.name}.{table.name}" for schema, table in find_matches_of(catalogue.schemas, name)]:
        raise LoadError(
            f"{name} has the kept match {matches[0]}: remove that first, with skyhouse match drop {matches[0]}"
        )
    if entry is not None and entry.table.match is not None:
        forget_match(engine, name)
    latest = build_latest_table(entry.table) if entry else None
    if latest is not None:
        remove_table(engine, f"{schema_name}.{latest.name}")
    if not remove_table(engine, name):
        raise LoadError(f"there is no table {name}; see skyhouse tables")
    reporter.output(f"dropped {name}")
