"""Columns that a schema file takes from other files (Felis' ``resources`` and ``columnRefs``)."""

from __future__ import annotations

from pathlib import Path

import pytest

from clickhouse_schema.schema_files.yaml_reader import check_schema, read_schema
from clickhouse_schema.schema_files.yaml_writer import schema_to_yaml
from clickhouse_schema.schema_model import Column, Schema
from clickhouse_schema.schema_problem import SchemaError

BASE = """\
name: base
tables:
- name: Object
  columns:
  - {name: id, "@id": "#Object.id", datatype: long, nullable: false, tap:principal: 1}
  - name: ra
    datatype: double
    ivoa:unit: deg
    description: Right ascension
  - {name: band, datatype: char, length: 1, tap:column_index: 4}
"""

TAKING = """\
name: release
resources:
  base:
    uri: base.yaml
tables:
- name: Star
  primaryKey: "#Star.star_id"
  columns:
  - {name: own, datatype: int}
  columnRefs:
    base:
      Object:
        star_id:
          ref_name: id
        ra:
          overrides:
            datatype: float
            description:
        band:
"""


@pytest.fixture
def release(tmp_path: Path) -> Path:
    (tmp_path / "base.yaml").write_text(BASE)
    path = tmp_path / "release.yaml"
    path.write_text(TAKING)
    return path


def errors_after(path: Path, old: str, new: str) -> list[str]:
    """Return the errors of the file after a change of its text, without its folder."""
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(SchemaError) as caught:
        read_schema(path)
    return [error.replace(f"{path.parent}/", "") for error in caught.value.errors]


def test_columns_of_another_file_follow_the_columns_of_the_table(release: Path) -> None:
    schema, warnings = read_schema(release, strict=True)
    assert (schema.tables[0].primary_key, warnings) == (("star_id",), [])
    assert schema.tables[0].columns == (
        Column(name="own", datatype="int"),
        Column(name="star_id", datatype="long", nullable=False, principal=True),
        Column(name="ra", datatype="float", unit="deg"),
        Column(name="band", datatype="char", length=1, column_index=4),
    )
    assert read_schema(schema_to_yaml(schema), "written.yaml") == (schema, [])


def test_ids_of_columns_extend_the_id_of_the_table(release: Path) -> None:
    text = TAKING.replace('  primaryKey: "#Star.star_id"', '  "@id": "#stars"\n  primaryKey: "#stars.star_id"')
    release.write_text(text)
    assert read_schema(release)[0].tables[0].primary_key == ("star_id",)


def test_a_file_may_take_columns_that_another_file_takes(release: Path, tmp_path: Path) -> None:
    text = (
        TAKING.replace("base.yaml", "release.yaml")
        .replace("Object:", "Star:")
        .replace("ref_name: id", "ref_name: star_id")
    )
    last = tmp_path / "last.yaml"
    last.write_text(text)
    taken, first = read_schema(last)[0].tables[0], read_schema(release)[0].tables[0]
    assert taken.columns == first.columns


def test_warnings_name_the_line_in_the_other_file(release: Path, tmp_path: Path) -> None:
    (tmp_path / "base.yaml").write_text(BASE.replace("unit: deg", "unit: furlong"))
    assert read_schema(release)[1] == [
        f"{tmp_path}/base.yaml:8: ivoa:unit 'furlong' is not a VOUnit: kept unchanged (write VOUnits, such as km.s**-1)"
    ]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "uri: base.yaml",
            "uri: bas.yaml",
            "4: the resource base: bas.yaml is missing: copy it to the folder of this file",
        ),
        (
            "uri: base.yaml",
            "uri: https://x.org/base.yaml",
            "4: the resource base: https://x.org/base.yaml is not a file",
        ),
        ("uri: base.yaml", "uri: ../base.yaml", "4: the resource base: ../base.yaml is not in the folder of this file"),
        ("uri: base.yaml", "uri: /etc/passwd", "4: the resource base: /etc/passwd is not in the folder of this file"),
        ("uri: base.yaml", "uri: release.yaml", "4: the resource base: release.yaml itself takes columns from this"),
        ("uri: base.yaml", "url: base.yaml", "3: the resource base must have one key, uri: the name of a schema file"),
        ("resources:\n  base:\n    uri: base.yaml", "resources: [base.yaml]", "2: resources must be a mapping"),
        ("    base:\n      Object", "    bas:\n      Object", "11: there is no resource bas: did you mean 'base'?"),
        ("      Object:", "      Objekt:", "12: base.yaml has no table Objekt: did you mean 'Object'?"),
        ("        band:", "        bnd:", "19: Object of base.yaml has no column bnd: did you mean 'band'?"),
        ("ref_name: id", "ref_name: idd", "13: Object of base.yaml has no column idd: did you mean 'id'?"),
        ("ref_name: id", "refname: id", "13: Object of base.yaml has no column star_id"),
        ("          overrides:", "          override:", "16: unknown key 'override': did you mean 'overrides'?"),
        ("datatype: float", "ivoa:unit: rad", "17: 'ivoa:unit' cannot be replaced: a reference can replace datatype,"),
        ("datatype: float", "datatype: flaot", "17: datatype 'flaot' is not a datatype"),
        ("        band:", "        band: 5", "19: band must be a mapping"),
        ("        band:", "        own:\n          ref_name: band", "19: the column own occurs twice (as own; case is"),
    ],
)
def test_errors_have_the_line_of_the_reference(release: Path, old: str, new: str, said: str) -> None:
    errors = errors_after(release, old, new)
    assert any(said in error and error.startswith("release.yaml:") for error in errors), errors


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("datatype: double", "datatype: duoble", "base.yaml:7: datatype 'duoble' is not"),
        ("length: 1, ", "length: x, ", "base.yaml:10: length must be a whole number"),
    ],
)
def test_errors_in_a_definition_have_its_line(release: Path, old: str, new: str, said: str) -> None:
    release.write_text(TAKING.replace("            datatype: float\n", ""))
    base = release.parent / "base.yaml"
    base.write_text(BASE.replace(old, new))
    with pytest.raises(SchemaError, match=said):
        read_schema(release)


def test_a_resource_that_is_not_yaml_is_reported_with_its_line(release: Path) -> None:
    (release.parent / "base.yaml").write_text("name: base\ntables: [\n")
    with pytest.raises(SchemaError, match=r"release\.yaml:4: the resource base: .*base\.yaml:3: not YAML"):
        read_schema(release)


def test_files_that_take_columns_from_each_other_are_rejected(release: Path) -> None:
    (release.parent / "base.yaml").write_text(TAKING.replace("base.yaml", "release.yaml"))
    with pytest.raises(SchemaError, match=r"release\.yaml itself takes columns from this file"):
        read_schema(release)


def test_each_resource_is_read_once_and_their_number_is_limited(tmp_path: Path) -> None:
    (tmp_path / "base.yaml").write_text(BASE)
    same = "".join(f"  r{i}: {{uri: base.yaml}}\n" for i in range(100))
    assert check_schema(write(tmp_path, f"name: s\nresources:\n{same}")).errors == []
    for i in range(40):
        (tmp_path / f"r{i}.yaml").write_text(BASE)
    many = "".join(f"  r{i}: {{uri: r{i}.yaml}}\n" for i in range(40))
    errors = check_schema(write(tmp_path, f"name: s\nresources:\n{many}")).errors
    assert "more than 32 files: combine some of the resources" in errors[0]


def write(folder: Path, text: str) -> Path:
    path = folder / "s.yaml"
    path.write_text(text)
    return path


def test_a_text_has_no_resources() -> None:
    with pytest.raises(
        SchemaError, match=r"^f\.yaml:3: only a schema file can have resources: they are in its folder$"
    ):
        read_schema(TAKING, "f.yaml")


def test_a_reference_can_add_keys_of_skyhouse(release: Path) -> None:
    release.write_text(TAKING.replace("datatype: float", "skyhouse:if_missing: fill"))
    schema: Schema = read_schema(release)[0]
    assert schema.tables[0].get_column("ra").if_missing == "fill"


LACKING = """\
name: release
resources:
  base: {uri: base.yaml}
  gone: {uri: gone.yaml}
tables:
- name: Visit
  "@id": "#visits"
  primaryKey: "#visits.visit"
  columns: [{name: own, datatype: int, mysql:datatype: INT}]
  columnRefs: {gone: {Visit: {visit: , begin: }}}
- name: Star
  columns: [{name: visit, datatype: long, fits:tunit: furlong}]
  columnRefs: {base: {Object: {ra: }}}
  constraints:
  - {name: FK, "@type": ForeignKey, columns: ["#Star.visit"], referencedColumns: ["#visits.visit"]}
- name: Last
  columnRefs: {gone: {Other: {x: }}}
"""


@pytest.fixture
def lacking(release: Path) -> Path:
    release.write_text(LACKING)
    return release


def test_tables_of_a_missing_file_are_left_out_of_a_partial_schema(lacking: Path) -> None:
    found = check_schema(lacking, partial=True)
    [table] = found.require_schema().tables
    assert (table.name, [column.name for column in table.columns]) == ("Star", ["visit", "ra"])
    assert table.keys[0].referenced_table == "release.Visit"
    assert [(table.name, table.columns, table.uri) for table in found.incomplete] == [
        ("Visit", ("visit", "begin"), "gone.yaml"),
        ("Last", ("x",), "gone.yaml"),
    ]


def test_a_partial_schema_keeps_the_lines_of_its_file(lacking: Path) -> None:
    assert [line.removeprefix(f"{lacking}:") for line in check_schema(lacking, partial=True).warnings] == [
        "4: gone.yaml is missing: copy it to the folder of this file; "
        "these tables with 3 of its columns are left out: Visit, Last",
        "9: mysql:datatype is ignored: keys of mysql are for another program",
        "12: fits:tunit 'furlong' is not a VOUnit: kept unchanged (write VOUnits, such as km.s**-1)",
    ]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("datatype: long", "datatype: lng", "12: datatype 'lng' is not a datatype"),
        ('["#visits.visit"]', '["#visits.vsit"]', "15: no column has the @id '#visits.vsit': did you mean"),
        ("{Object: {ra: }}", "{Object: {rra: }}", "13: Object of "),
        ("{gone: {Other: {x: }}}", "{gone: {Other: 5}}", "17: Other must be a mapping"),
        ("- name: Last\n", "- name: Last\n  columns: 5\n", "17: columns must be a list"),
    ],
)
def test_problems_in_a_partial_schema_are_errors(lacking: Path, old: str, new: str, said: str) -> None:
    assert old in LACKING
    lacking.write_text(LACKING.replace(old, new))
    [error] = check_schema(lacking, partial=True).errors
    assert error.startswith(f"{lacking}:{said}")


def test_a_complete_schema_needs_all_files(lacking: Path) -> None:
    said = r":4: the resource gone: gone\.yaml is missing: copy it to the folder of this file$"
    with pytest.raises(SchemaError, match=said):
        read_schema(lacking)


def test_a_table_without_columns_of_two_missing_files_is_left_out_once(lacking: Path) -> None:
    text = LACKING.replace("uri: base.yaml", "uri: lost.yaml").replace(
        "{Other: {x: }}}", "{O: {x: }}, base: {P: {y: }}}"
    )
    lacking.write_text(text)
    found = check_schema(lacking, partial=True)
    assert found.require_schema().tables == ()
    assert [(table.name, table.uri) for table in found.incomplete] == [
        ("Visit", "gone.yaml"),
        ("Star", "lost.yaml"),
        ("Last", "gone.yaml"),
        ("Last", "lost.yaml"),
    ]
