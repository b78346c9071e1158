"""Reads a file as a load without a schema file does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from clickhouse_schema.schema_files.yaml_reader import read_schema
from clickhouse_schema.schema_files.yaml_writer import document_to_yaml
from loaders.pipeline.describe_file import describe_source
from tap_service.models.read_options import AS_DETECTED, ReadOptions
from tap_service.readers.conform_rows import Conformer
from tap_service.readers.file_formats import open_source
from tap_service.readers.table_source import RejectedRow, Source


def read_rows(path: Path, options: ReadOptions = AS_DETECTED) -> tuple[list[tuple[Any, ...]], list[RejectedRow]]:
    """Return the good rows as stored in a table made for the file, and the rejected ones."""
    return read_source(open_source(path, options))


def read_source(source: Source) -> tuple[list[tuple[Any, ...]], list[RejectedRow]]:
    rows, rejects = read_named_rows(source)
    return [tuple(row.values()) for row in rows], rejects


def read_named_rows(source: Source) -> tuple[list[dict[str, Any]], list[RejectedRow]]:
    """Return the good rows with the names of their columns, and the rejected ones."""
    schema, _ = read_schema(document_to_yaml(describe_source(source, "tests", "t")), str(source.path))
    conformer = Conformer(schema.tables[0], source)
    rows: list[dict[str, Any]] = []
    rejects: list[RejectedRow] = []
    for block in source.read_blocks(conformer.source_names):
        batch, bad = conformer.conform_block(block)
        batch.validate(full=True)
        rows += batch.to_pylist()
        rejects += bad
    return rows, rejects


def list_types(source: Source) -> dict[str, str]:
    """Return the ADQL type of each column."""
    return {field.name: field.type.adql for field in source.fields}
