"""Reads the YAML documents of schema files, of limited size."""

from __future__ import annotations

from pathlib import Path

from clickhouse_schema.schema_files.yaml_document import Document, read_document
from clickhouse_schema.schema_problem import SchemaError

#: A table of 5,000 columns takes about 1 MB; data files passed by mistake are larger than this
MAX_BYTES = 8_000_000


def read_schema_text(text: str, source: str) -> Document:
    """Read a mapping; ``source`` names the text in messages. Raises ``SchemaError``."""
    if len(text) > MAX_BYTES:
        raise SchemaError([f"{source}:1: more than {MAX_BYTES:,} characters: is this a schema file?"])
    document = read_document(text, source)
    if not isinstance(document.data, dict):
        raise SchemaError([f"{source}:1: a schema file starts with 'name: ...' of the schema"])
    return document


def read_schema_file(path: Path, source: str) -> Document:
    """Read the mapping in a file; ``source`` names it in messages. Raises ``SchemaError``."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise SchemaError([f"{source}:1: larger than {MAX_BYTES:,} bytes: is this a schema file?"])
        return read_schema_text(path.read_text(encoding="utf-8-sig"), source)
    except UnicodeDecodeError as error:
        line = path.read_bytes()[: error.start].count(b"\n") + 1
        raise SchemaError([f"{source}:{line}: not UTF-8: save the file as UTF-8"]) from error
    except OSError as error:
        raise SchemaError([f"{source}: cannot be read: {error.strerror}"]) from error
