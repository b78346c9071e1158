"""Felis files as observatories publish them: what Skyhouse does not use is left out with one warning for each kind."""

from __future__ import annotations

import pytest

from clickhouse_schema.datatypes import ColumnType
from clickhouse_schema.schema_files.yaml_reader import check_schema, read_schema
from clickhouse_schema.schema_files.yaml_writer import schema_to_yaml
from clickhouse_schema.schema_model import Column, Table
from clickhouse_schema.schema_problem import SchemaError
from tests.support.environment import ROOT

PUBLISHED = ROOT.parent / "shared" / "data" / "felis"


def read_table(rows: str) -> tuple[Table, list[str]]:
    """Read a table with these lines, which start on line 4; the warnings have no file name."""
    schema, warnings = read_schema(f"name: s\ntables:\n- name: t\n{rows}", "f.yaml")
    return schema.tables[0], [warning.removeprefix("f.yaml:") for warning in warnings]


def read_column(keys: str) -> tuple[Column, list[str]]:
    """Read a column with these keys on line 4."""
    table, warnings = read_table(f"  columns: [{{name: c, {keys}}}]\n")
    return table.columns[0], warnings


@pytest.mark.parametrize(("written", "is_set"), [("1", True), ("0", False), ("true", True), ("false", False)])
def test_flags_may_be_numbers(written: str, is_set: bool) -> None:
    column, warnings = read_column(f"datatype: int, tap:principal: {written}, tap:std: {written}")
    assert (column.principal, column.std, warnings) == (is_set, is_set, [])


@pytest.mark.parametrize(
    "key", ["description", "ivoa:unit", "fits:tunit", "ivoa:ucd", "votable:utype", "votable:arraysize", "length"]
)
def test_empty_keys_are_left_out(key: str) -> None:
    column, warnings = read_column(f"datatype: int, {key}: ")
    assert column == Column(name="c", datatype="int")
    assert warnings == [f"4: {key} has no value: give one, or remove the line"]


@pytest.mark.parametrize(
    ("datatype", "size", "kind"),
    [
        ("char", "16", ColumnType("char", "16")),
        ("string", "1", ColumnType("char", "1")),
        ("float", "3", ColumnType("float", "3")),
        ("short", "1", ColumnType("short")),
    ],
)
def test_a_number_is_an_arraysize(datatype: str, size: str, kind: ColumnType) -> None:
    column, warnings = read_column(f"datatype: {datatype}, votable:arraysize: {size}")
    assert column.type == kind
    assert warnings == ["4: votable:arraysize is a number: put it in quotes"]


@pytest.mark.parametrize(
    ("keys", "arraysize"),
    [("", "*"), (", length: 120", "120*"), (', length: 4, votable:arraysize: "4"', "4")],
)
def test_a_binary_value_is_an_array_of_bytes(keys: str, arraysize: str) -> None:
    column, warnings = read_column(f"datatype: binary{keys}")
    assert (column.type, warnings) == (ColumnType("unsignedByte", arraysize), [])


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ("datatype: int, length: 4", "4: length is ignored: int has none (arrays have votable:arraysize)"),
        ("datatype: timestamp, length: 4", "4: length is ignored: timestamp has none (arrays have votable:arraysize)"),
        ("datatype: int, precision: 3", "4: precision is ignored: it is for timestamps"),
        ("datatype: timestamp, precision: 9", "4: precision 9 is ignored: timestamps have microseconds"),
        ('datatype: int, "@type": felis:Column', "4: @type is ignored: the file is read as YAML, not as JSON-LD"),
        ("datatype: int, value: 0", "4: value is ignored: missing values are NULL"),
        ("datatype: int, autoincrement: true", "4: autoincrement is ignored: values come from the files"),
        (
            "datatype: int, mysql:datatype: BIGINT",
            "4: mysql:datatype is ignored: keys of mysql are for another program",
        ),
        ("datatype: int, desi:unit: mag", "4: desi:unit is ignored: keys of desi are for another program"),
        ("datatype: int, desi:a.b: [{c: d}]", "4: desi:a.b is ignored: keys of desi are for another program"),
        ("datatype: int, ivoa:unit: m, fits:tunit: m", "4: fits:tunit and ivoa:unit mean the same: keep one of them"),
        ("datatype: int, ivoa:unit: km.s**-1, fits:tunit: km/s", "4: fits:tunit and ivoa:unit mean the same: keep one"),
    ],
)
def test_keys_without_effect_are_reported(keys: str, said: str) -> None:
    column, warnings = read_column(keys)
    assert column.datatype in ("int", "timestamp")
    assert len(warnings) == 1
    assert warnings[0].startswith(said)


@pytest.mark.parametrize("precision", [0, 3, 6])
def test_timestamps_have_the_digits_that_they_need(precision: int) -> None:
    assert read_column(f"datatype: timestamp, precision: {precision}")[1] == []


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ("datatype: int, value: x", "4: value 'x' contradicts datatype 'int'"),
        ("datatype: int, defaultValue: 1.5", "4: defaultValue 1.5 contradicts datatype 'int'"),
        ("datatype: boolean, value: 0", "4: value 0 contradicts datatype 'boolean'"),
        ("datatype: double, value: []", "4: value [] contradicts datatype 'double'"),
        ("datatype: int, nullable: false, value: null", "4: value has no value, but nullable is false"),
        ("datatype: short, value: 32768", "4: value 32768 contradicts datatype 'short'"),
        ("datatype: byte, value: '-1'", "4: value '-1' contradicts datatype 'byte'"),
        ("datatype: char, length: 2, value: abc", "4: value 'abc' contradicts length 2"),
        ("datatype: int, value: 0, defaultValue: 1", "4: defaultValue contradicts value: keep one of them"),
    ],
)
def test_defaults_that_contradict_the_column_are_reported(keys: str, said: str) -> None:
    assert any(warning.startswith(said) for warning in read_column(keys)[1])


@pytest.mark.parametrize(
    "keys",
    [
        "int, value: 0",
        "int, value: '0'",
        "double, value: 1",
        "boolean, value: true",
        "timestamp, value: NOW",
        "short, value: -32768",
        "byte, value: 255",
        "char, length: 3, value: abc",
        "text, value: a",
    ],
)
def test_defaults_may_have_the_type(keys: str) -> None:
    assert read_column(f"datatype: {keys}")[1] == ["4: value is ignored: missing values are NULL"]


@pytest.mark.parametrize("blank", ["''", "' '"])
def test_a_blank_unit_contradicts_no_other(blank: str) -> None:
    assert read_column(f"datatype: int, ivoa:unit: {blank}, fits:tunit: deg")[0].unit == "deg"


@pytest.mark.parametrize("units", ["ivoa:unit: deg", "fits:tunit: deg", "ivoa:unit: '', fits:tunit: deg"])
def test_an_empty_unit_is_no_unit(units: str) -> None:
    column, warnings = read_column(f"datatype: int, {units}")
    assert (column.unit, warnings) == ("deg", [])


def test_each_kind_of_warning_is_reported_once_with_its_count() -> None:
    columns = "".join(f"  - {{name: c{i}, datatype: int, mysql:datatype: INT, b:x: 1}}\n" for i in range(1000))
    assert read_table(f"  columns:\n{columns}")[1] == [
        "5: mysql:datatype is ignored: keys of mysql are for another program (1,000 times; next on line 6, 7, 8)",
        "5: b:x is ignored: keys of b are for another program (1,000 times; next on line 6, 7, 8)",
    ]


def test_the_current_version_of_several_is_used() -> None:
    schema, warnings = read_schema('name: s\nversion:\n  current: "1.2"\n  compatible: ["1.1"]\n', "f.yaml")
    assert schema.version == "1.2"
    assert warnings == ["f.yaml:4: compatible is ignored: the current version is published"]


CONSTRAINED = """\
  primaryKey: "#t.a"
  columns: [{name: a, datatype: int, nullable: false}, {name: b, datatype: int}]
  constraints:
  - {name: one, "@type": Unique, columns: ["#t.b"]}
  - {name: two, "@type": Check, expression: b > 0}
  - {name: three, "@type": ForeignKey, columns: ["#t.b"], referencedColumns: ["#t.a"], on_delete: CASCADE}
  - {name: four, "@type": Exclude, columns: ["#t.c"]}
  indexes:
  - {name: five, columns: ["#t.b"]}
  columnGroups:
  - {name: six, ivoa:ucd: meta, columns: ["#t.a", "#t.d"]}
"""


def test_constraints_that_are_not_enforced_are_reported_and_checked() -> None:
    table, warnings = read_table(CONSTRAINED)
    assert [key.name for key in table.keys] == ["three"]
    assert warnings == [
        "7: Unique constraints are ignored: they are not enforced",
        "8: Check constraints are ignored: they are not enforced",
        "9: on_delete is ignored: constraints are not enforced",
        "10: Exclude constraints are ignored: they are not enforced",
        "10: '#t.c' is not a column of this table: did you mean '#t.b'?",
        "12: indexes is ignored: skyhouse:layout determines the indexes",
        "14: columnGroups is ignored: TAP does not publish groups of columns",
        "14: '#t.d' is not a column of this table: did you mean '#t.b'?",
    ]


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("indexes: t_a", "6: indexes must be a list: [a, b]"),
        ("columnGroups: {a: b}", "6: columnGroups must be a list: [a, b]"),
        ('primaryKey: ["#t.a", a]', "6: primaryKey names a 2 times: name it once"),
        ('primaryKey: "#t.c"', "6: '#t.c' is not a column of this table: did you mean '#t.b'?"),
        ("primaryKey: [{a: b}]", "6: primaryKey must be text: put it in quotes"),
        ("constraints: {a: b}", "6: constraints must be a list: [a, b]"),
        ("indexes: 0x" + "f" * 5000, f"6: '0x{'f' * 38}' is not a valid int: put it in quotes"),
    ],
)
def test_malformed_lists_are_rejected_with_their_line(key: str, said: str) -> None:
    columns = "  columns: [{name: a, datatype: int}, {name: b, datatype: int}]\n"
    with pytest.raises(SchemaError) as caught:
        read_table(f"{columns}  description: d\n  {key}\n")
    assert caught.value.errors == (f"f.yaml:{said}",)


@pytest.mark.parametrize(("kind", "key"), [("Unique", "columns"), ("Check", "expression")])
def test_an_ignored_constraint_is_checked_for_its_key(kind: str, key: str) -> None:
    warnings = read_table(f"  columns: [{{name: a, datatype: int}}]\n  constraints: [{{name: k, '@type': {kind}}}]\n")[
        1
    ]
    assert warnings[1] == f"5: a {kind} constraint needs the key {key!r}"


def test_a_key_cannot_name_its_table_twice() -> None:
    key = "{name: k, '@type': ForeignKey, columns: [a], referencedColumns: [o.u.b], referencedTable: o.v}"
    said = r"^f.yaml:5: referencedTable is not a key of files: referencedColumns names the table$"
    with pytest.raises(SchemaError, match=said):
        read_table(f"  columns: [{{name: a, datatype: int}}]\n  constraints: [{key}]\n")


def test_only_the_first_wrong_references_get_suggestions() -> None:
    groups = "".join(f"  - {{columns: ['#t.x{i}']}}\n" for i in range(30))
    warnings = read_table(f"  columns: [{{name: x, datatype: int}}]\n  columnGroups:\n{groups}")[1]
    assert sum("did you mean '#t.x'" in warning for warning in warnings) == 20
    assert len(warnings) == 31


def test_empty_references_to_other_files_are_reported() -> None:
    text = "name: s\nresources:\ntables:\n- name: t\n  columns: [{name: a, datatype: int}]\n  columnRefs:\n"
    assert read_schema(text, "f.yaml")[1] == [
        "f.yaml:2: resources has no value: give one, or remove the line",
        "f.yaml:6: columnRefs has no value: give one, or remove the line",
    ]


def test_problems_of_versions_are_reported_once() -> None:
    assert check_schema("name: s\nversion: {curent: '1'}\n", "f.yaml").errors == [
        "f.yaml:2: unknown key 'curent': known keys are current, compatible, read_compatible",
        "f.yaml:2: the key 'current' is missing",
    ]


def test_problems_of_a_key_after_other_constraints_have_its_line() -> None:
    with pytest.raises(SchemaError, match=r"^f.yaml:9: unknown key 'descripton': did you mean 'description'\?$"):
        read_table(CONSTRAINED.replace("on_delete:", "descripton:"))


def test_a_primary_key_that_differs_from_the_id_is_reported() -> None:
    layout = "  skyhouse:layout: {id: [b]}\n"
    said = "4: primaryKey is a, but the id of skyhouse:layout is b: both identify a row"
    assert said in read_table(CONSTRAINED + layout)[1]
    assert said not in read_table(CONSTRAINED + layout.replace("[b]", "[a, b]"))[1]


def test_obscore_columns_have_the_types_of_the_standard() -> None:
    text = "name: ivoa\ntables:\n- name: ivoa.ObsCore\n  columns:\n  - {name: s_ra}\n  - {name: em_xel}\n"
    schema, warnings = read_schema(text, "f.yaml")
    assert [column.datatype for column in schema.tables[0].columns] == ["double", "long"]
    assert schema.tables[0].name == "ObsCore"
    assert warnings[0] == "f.yaml:3: the table is ObsCore: its name has no schema"
    assert (
        "f.yaml:5: the key 'datatype' is missing: the datatype of ObsCore 1.1 is used (2 times; next on line 6)"
        in warnings
    )


def test_strict_reading_and_the_check_report_the_same() -> None:
    text = "name: s\ndescription:\ntables:\n- name: t\n" + CONSTRAINED
    found = check_schema(text, "f.yaml")
    assert (found.schema is not None, found.errors, len(found.warnings)) == (True, [], 9)
    with pytest.raises(SchemaError) as caught:
        read_schema(text, "f.yaml", strict=True)
    assert caught.value.errors == tuple(found.warnings)


def test_the_check_reports_every_error() -> None:
    columns = "".join(f"  - {{name: c{i}, datatype: lon}}\n" for i in range(50))
    assert len(check_schema(f"name: s\ntables:\n- name: t\n  columns:\n{columns}", "f.yaml").errors) == 50


@pytest.mark.parametrize("name", sorted(path.name for path in PUBLISHED.glob("*.yaml")))
def test_published_files_are_read(name: str) -> None:
    """Read files of the Rubin Observatory if they are available; some take columns from a file that may be missing."""
    found = check_schema(PUBLISHED / name, partial=True)
    schema = found.require_schema()
    assert (
        sum(len(table.columns) for table in schema.tables) + sum(len(table.columns) for table in found.incomplete) > 20
    )
    assert len(found.warnings) < 20
    assert read_schema(schema_to_yaml(schema), "written.yaml")[0] == schema
    is_whole = "drp_base.yaml" not in (PUBLISHED / name).read_text() or (PUBLISHED / "drp_base.yaml").exists()
    assert (not found.incomplete) == is_whole
