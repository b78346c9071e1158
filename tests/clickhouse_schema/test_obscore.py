"""ObsCore: the shipped schema file conforms to the standard, and only tables that do are declared as ObsCore."""

from __future__ import annotations

import pytest

from adql.translation import translate
from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.obscore import DATA_MODEL, MANDATORY, RADIO_COLUMNS, find_data_models
from clickhouse_schema.schema_files.yaml_reader import read_schema
from clickhouse_schema.schema_model import Column, Schema, Table
from clickhouse_schema.schema_problem import SchemaError
from loaders.tables.schema_names import find_schema_file

#: Section 4 of the standard: the mandatory columns that must not be NULL
NOT_NULL = {"calib_level", "obs_collection", "obs_id", "obs_publisher_did"}


@pytest.fixture(scope="module")
def shipped() -> Schema:
    return read_schema(find_schema_file("obscore"), strict=True)[0]


def test_the_shipped_table_conforms_to_the_standard(shipped: Schema) -> None:
    [table] = shipped.tables
    assert (shipped.name, table.name) == ("ivoa", "ObsCore")
    assert len(MANDATORY) == 30
    assert {column.name for column in table.columns if column.principal} == set(MANDATORY)
    assert {column.name for column in table.columns if not column.nullable} == NOT_NULL
    assert [column.column_index for column in table.columns] == list(range(1, 61))
    for column in table.columns:
        assert column.std
        assert column.description
        assert column.ucd
        assert column.utype.startswith("obscore:")
        wanted = "" if column.name in NOT_NULL else "fill" if column.name in MANDATORY else "leave_out"
        assert column.if_missing == wanted, column.name
    region = table.get_column("s_region").type
    assert (region.datatype, region.arraysize, region.xtype) == ("char", "*", "adql:REGION")
    assert {name for name in MANDATORY if table.is_indexed(name)} == {
        *("s_ra", "s_dec", "s_region", "obs_id", "obs_publisher_did")
    }


def test_its_examples_are_queries(shipped: Schema) -> None:
    catalogue = Catalogue((shipped,))
    assert len(shipped.examples) == 4
    for example in shipped.examples:
        assert "__cover_s_region" in translate(example.query, catalogue).sql, example.name


def test_the_shipped_table_of_radio_data_conforms_to_the_note(shipped: Schema) -> None:
    schema, _ = read_schema(find_schema_file("obscore-radio"), strict=True)
    [radio], [obscore] = schema.tables, shipped.tables
    assert tuple(column.name for column in radio.columns) == RADIO_COLUMNS
    assert all(column.std and column.ucd and column.utype and column.description for column in radio.columns)
    assert {column.name for column in radio.columns if not column.nullable} == {"obs_publisher_did"}
    shared = {column.name for column in obscore.columns if column.if_missing != "leave_out"} & {*RADIO_COLUMNS}
    assert shared == {"obs_publisher_did"}
    catalogue = Catalogue((shipped.model_copy(update={"tables": (obscore, radio)}),))
    for example in schema.examples:
        assert translate(example.query, catalogue).fields, example.name


def test_a_table_that_has_only_the_name_of_the_radio_extension_has_a_warning() -> None:
    text = "name: ivoa\ntables:\n- name: obscore_radio\n  columns:\n  - {name: scan_mode, datatype: string}\n"
    _, [warning] = read_schema(text, "x.yaml")
    assert warning.startswith("x.yaml:4: ivoa.obscore_radio lacks obs_publisher_did, s_resolution_min, ")
    assert warning.endswith("which a table with this name must have: see skyhouse schema show obscore-radio")


def _catalogue(schema: str, table: str, columns: tuple[str, ...]) -> Catalogue:
    model = Table(name=table, columns=tuple(Column(name=name, datatype="double") for name in columns))
    return Catalogue((Schema(name="other", tables=(model,)), Schema(name=schema, tables=(model,))))


def test_a_table_with_all_mandatory_columns_is_the_data_model(shipped: Schema) -> None:
    assert find_data_models(Catalogue((shipped,))) == (DATA_MODEL,)
    assert find_data_models(_catalogue("IVOA", "obscore", (*MANDATORY, "own"))) == (DATA_MODEL,)
    assert find_data_models(Catalogue(())) == ()
    assert find_data_models(_catalogue("ivoa", "obscore2", MANDATORY)) == ()
    assert find_data_models(_catalogue("ivoa2", "ObsCore", MANDATORY)) == ()
    for name in MANDATORY:
        assert find_data_models(_catalogue("ivoa", "ObsCore", tuple(n for n in MANDATORY if n != name))) == ()


def test_a_table_that_has_only_the_name_of_obscore_has_a_warning() -> None:
    text = "name: ivoa\ntables:\n- name: obscore\n  columns:\n  - {name: s_ra, datatype: double}\n"
    _, [warning] = read_schema(text, "x.yaml")
    assert warning.startswith("x.yaml:4: ivoa.obscore lacks dataproduct_type, calib_level, ")
    assert "s_ra," not in warning
    assert warning.endswith("so it is not declared as ObsCore 1.1: see skyhouse schema show obscore")
    with pytest.raises(SchemaError, match="lacks"):
        read_schema(text, "x.yaml", strict=True)
    assert read_schema(text.replace("ivoa", "mine"), "x.yaml")[1] == []


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ("datatype: int, skyhouse:values: [1, a]", "skyhouse:values has 'a', which no 'int' can be"),
        ("datatype: byte, skyhouse:values: [1, 300]", "skyhouse:values has 300, which no 'byte' can be"),
        ("datatype: string, skyhouse:values: [1]", "skyhouse:values has 1, which no 'string' can be"),
        ("datatype: string, skyhouse:values: [é]", "skyhouse:values has 'é', which no 'string' can be"),
        ("datatype: double, skyhouse:values: [1]", "for texts and whole numbers, not for 'double'"),
        ("datatype: timestamp, skyhouse:values: [a]", "for texts and whole numbers, not for 'timestamp'"),
        ("datatype: int, skyhouse:values: [true]", "skyhouse:values has True: put texts in quotes"),
        ("datatype: int, skyhouse:values: [1, null]", "skyhouse:values has None"),
        ("datatype: int, skyhouse:values: 1", "skyhouse:values must be a list"),
        ("datatype: int, skyhouse:if_missing: drop", "skyhouse:if_missing must be"),
        ("datatype: int, nullable: false, skyhouse:if_missing: fill", "skyhouse:if_missing is for nullable columns"),
        ("datatype: int, skyhouse:if_mising: fill", "did you mean 'skyhouse:if_missing'?"),
    ],
)
def test_wrong_keys_are_reported(keys: str, message: str) -> None:
    with pytest.raises(SchemaError) as raised:
        read_schema(f"name: s\ntables:\n- name: t\n  columns:\n  - {{name: x, {keys}}}\n", "x.yaml")
    assert message in str(raised.value)
    assert "x.yaml:5" in str(raised.value)
