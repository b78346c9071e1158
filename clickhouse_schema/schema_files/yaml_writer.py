"""Writes a schema as a file that ``yaml_reader`` reads back unchanged."""

from __future__ import annotations

from typing import Any

import yaml

from clickhouse_schema.schema_files.felis_references import default_id
from clickhouse_schema.schema_model import ForeignKey, Schema, Table


def schema_to_yaml(schema: Schema) -> str:
    """Return the YAML of a schema with the keys of Felis, without default values."""
    document = schema.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    for table, written in zip(schema.tables, document.get("tables", ()), strict=True):
        if table.keys:
            written["constraints"] = [_key_to_document(schema, table, key) for key in table.keys]
    return document_to_yaml(document)


def document_to_yaml(document: dict[str, Any]) -> str:
    """Return the YAML of a schema document.

    Parameters
    ----------
    document : dict of str to Any
        Dict, list, str, int, float, bool and None, with the keys of Felis.

    Returns
    -------
    str
        YAML without aliases, with the keys in the order of ``document``.
    """
    return yaml.dump(document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120)


def _key_to_document(schema: Schema, table: Table, key: ForeignKey) -> dict[str, Any]:
    written = key.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    owner, _, name = key.referenced_table.partition(".")
    written["@type"] = "ForeignKey"
    written["columns"] = [_get_column_id(table, column) for column in key.columns]
    del written["referencedTable"]
    target = next((other for other in schema.tables if other.name == name), None) if owner == schema.name else None
    written["referencedColumns"] = [
        _get_column_id(target, column) if target else f"{key.referenced_table}.{column}"
        for column in key.referenced_columns
    ]
    return written


def _get_column_id(table: Table, name: str) -> str:
    return next(
        (column.id for column in table.columns if column.name == name and column.id), default_id(table.name, name)
    )


class _Dumper(yaml.SafeDumper):
    """Writes no aliases, which the reader rejects."""

    def ignore_aliases(self, _data: Any) -> bool:
        return True
