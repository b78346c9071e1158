"""docs/schema-yaml.md is correct: its samples can be read, and its tables have all existing keys."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from clickhouse_schema.column_links import InputParam, Link, Service
from clickhouse_schema.file_form import FileForm
from clickhouse_schema.schema_files.model_keys import list_keys
from clickhouse_schema.schema_files.yaml_reader import read_schema
from clickhouse_schema.schema_model import Column, Layout, Schema, Table, Versions
from clickhouse_schema.strict_model import StrictModel
from clickhouse_schema.system_keys import CoordinateKeys, PhotometryKeys, TimeKeys
from tests.support.environment import ROOT

PAGE = (ROOT / "docs" / "schema-yaml.md").read_text()
SAMPLES = re.findall(r"^```yaml\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)

#: Text before the table of each model's keys
WHERE = {
    Schema: "## Schema",
    Table: "## Table",
    Column: "## Column",
    CoordinateKeys: "A coordinate system has:",
    TimeKeys: "A time system applies",
    PhotometryKeys: "A photometric system applies",
    Layout: "## `skyhouse:layout`",
    Versions: "`versions` has",
    Link: "A link has:",
    Service: "A service has:",
    InputParam: "An input parameter has",
    FileForm: "The keys are:",
}

#: The file from which the sample takes columns
BASE = """\
name: base
tables:
- name: Object
  columns: [{name: id, datatype: long}, {name: ra, datatype: double}, {name: dec, datatype: double}]
"""


@pytest.mark.parametrize("model", WHERE, ids=lambda model: model.__name__)
def test_the_documented_keys_are_the_existing_keys(model: type[StrictModel]) -> None:
    table = PAGE.partition(f"\n{WHERE[model]}")[2].partition("\n|---")[2].partition("\n\n")[0]
    said = [key for line in table.splitlines()[1:] for key in re.findall(r"`([^`]+)`", line.split(" | ")[0])]
    assert sorted(said) == sorted(list_keys(model))


@pytest.mark.parametrize("sample", SAMPLES)
def test_samples_are_read(sample: str, tmp_path: Path) -> None:
    whole = {
        "name:": sample,
        "tables:": f"name: s\n{sample}",
        "  columns:": f"name: s\ntables:\n- name: t\n{sample}",
    }
    path = tmp_path / "sample.yaml"
    path.write_text(whole[re.sub(" (survey|release)", "", sample.partition("\n")[0].rstrip())])
    (tmp_path / "base.yaml").write_text(BASE)
    schema, warnings = read_schema(path, strict=True)
    assert (len(schema.tables), warnings) == (1, [])
