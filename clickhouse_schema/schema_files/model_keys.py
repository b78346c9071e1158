"""The keys that a schema file may have, by model."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from clickhouse_schema.column_links import InputParam, Link, Service
from clickhouse_schema.file_form import FileForm
from clickhouse_schema.name_columns import NameColumn
from clickhouse_schema.schema_model import Column, Example, ForeignKey, Layout, Match, Schema, Table, Versions
from clickhouse_schema.schema_problem import YamlPath
from clickhouse_schema.strict_model import StrictModel

#: The models of the lists and mappings under these keys
MODELS: Mapping[str, type[StrictModel]] = {
    "tables": Table,
    "columns": Column,
    "constraints": ForeignKey,
    "skyhouse:examples": Example,
    "skyhouse:layout": Layout,
    "versions": Versions,
    "skyhouse:match": Match,
    "skyhouse:links": Link,
    "skyhouse:services": Service,
    "skyhouse:names": NameColumn,
    "skyhouse:files": FileForm,
    "inputParams": InputParam,
}

#: Keys of files that are not in the model, and keys of the model that are not in files
_MORE: Mapping[type[StrictModel], tuple[str, ...]] = {
    Schema: ("resources",),
    Table: ("columnRefs", "columnGroups", "indexes"),
    Column: ("fits:tunit", "precision"),
    ForeignKey: ("@type",),
}
_DERIVED = frozenset({"referencedTable"})


@cache
def list_keys(model: type[StrictModel]) -> tuple[str, ...]:
    """Return the keys that a file may have for a model."""
    own = (field.serialization_alias or name for name, field in model.model_fields.items())
    return (*(key for key in own if key not in _DERIVED), *_MORE.get(model, ()))


def find_model(path: YamlPath) -> type[StrictModel]:
    """Return the model that the mapping at ``path`` describes."""
    return next((MODELS[part] for part in reversed(path) if isinstance(part, str) and part in MODELS), Schema)
