"""Schema files: reading, errors with lines, and writing files that are read back unchanged."""

from __future__ import annotations

import string
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from clickhouse_schema.datatypes import FELIS
from clickhouse_schema.schema_files.schema_document import MAX_BYTES
from clickhouse_schema.schema_files.yaml_reader import read_schema
from clickhouse_schema.schema_files.yaml_writer import schema_to_yaml
from clickhouse_schema.schema_model import Column, Example, ForeignKey, Layout, Schema, Table
from clickhouse_schema.schema_problem import SchemaError

GOOD = """\
name: sky
"@id": "#sky"
description: Two tables
version: "1.2"
tables:
- name: stars
  "@id": "#stars"
  tap:table_index: 2
  primaryKey: "#stars.id"
  columns:
  - {name: id, "@id": "#stars.id", datatype: long, nullable: false, ivoa:ucd: meta.id;meta.main}
  - {name: ra, datatype: double, fits:tunit: degree}
  - {name: dec, datatype: double, ivoa:unit: deg}
  - name: pm
    datatype: float
    ivoa:unit: mas/yr
    votable:arraysize: "2"
    votable:utype: phot:x
    tap:principal: true
    tap:std: false
    tap:column_index: 3
  skyhouse:layout:
    position: [ra, dec]
    overlap_radius: 0.1
- name: spectra
  columns:
  - {name: star, datatype: long}
  - {name: at, datatype: timestamp}
  constraints:
  - name: star_key
    "@type": ForeignKey
    "@id": "#key"
    columns: ["#spectra.star"]
    referencedColumns: ["#stars.id"]
    description: The star
  - name: plate_key
    "@type": ForeignKey
    columns: [star]
    referencedColumns: [plates.scans.number]
  skyhouse:layout: {time: at}
skyhouse:examples:
- name: All
  query: SELECT * FROM sky.stars
"""


def errors_of(text: str, *, strict: bool = False) -> tuple[str, ...]:
    with pytest.raises(SchemaError) as caught:
        read_schema(text, "f.yaml", strict=strict)
    return caught.value.errors


def column(said: str) -> str:
    """Return a schema whose only column is on line 4."""
    return "name: s\ntables:\n- name: t\n  columns: [{" + said + "}]\n"


def layout(said: str) -> str:
    """Return a schema with the layout on line 9."""
    columns = ["{name: ra, datatype: double}", "{name: dec, datatype: double}", "{name: id, datatype: text}"]
    columns.append('{name: vector, datatype: float, votable:arraysize: "3"}')
    listed = "".join(f"  - {entry}\n" for entry in columns)
    return f"name: s\ntables:\n- name: t\n  columns:\n{listed}  skyhouse:layout: {said}\n"


def names(said: str, given: str = "{position: [ra, dec]}") -> str:
    """Return a schema with another column, of whole numbers, and names on line 11."""
    more = "  columns:\n  - {name: number, datatype: int}\n"
    return layout(given).replace("  columns:\n", more) + f"  skyhouse:names: {said}\n"


def test_good() -> None:
    schema, warnings = read_schema(GOOD, "f.yaml", strict=True)
    assert warnings == []
    stars, spectra = schema.tables
    assert [column.unit for column in stars.columns] == ["", "deg", "deg", "mas.yr**-1"]
    assert (stars.primary_key, stars.table_index) == (("id",), 2)
    assert stars.layout == Layout(position=("ra", "dec"), id=("id",), overlap_radius=0.1)
    assert spectra.keys == (
        ForeignKey(
            name="star_key",
            id="#key",
            columns=("star",),
            referenced_table="sky.stars",
            referenced_columns=("id",),
            description="The star",
        ),
        ForeignKey(
            name="plate_key", columns=("star",), referenced_table="plates.scans", referenced_columns=("number",)
        ),
    )
    assert read_schema(schema_to_yaml(schema), "written.yaml", strict=True) == (schema, [])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "1: the file is empty"),
        ("# nothing\n", "1: the file is empty"),
        ("- name: s\n", "1: a schema file starts with 'name: ...'"),
        ("just words", "1: a schema file starts with"),
        ("name: s\nname: t\n", "2: the key 'name' occurs twice"),
        ("name: s\ntables: [\n", "3: not YAML"),
        ("name: s\ndescription: a\tb: c\n", "2: not YAML"),
        ("name: s\ndescription: &a x\n", "2: YAML anchors and aliases (a) are not supported"),
        ("name: s\ndescription: *a\n", "2: YAML anchors and aliases (a) are not supported"),
        ("name: s\ndescription: !!python/object:os.system x\n", "2: 'x' with the YAML tag"),
        ("name: s\ndescription: !!int x\n", "2: 'x' is not a valid int: put it in quotes"),
        ("name: s\n? [a, b]\n: c\n", "2: a key must be a plain word"),
        ("name: s\n---\nname: t\n", "2: a second YAML document"),
        ("name: s\ntables: " + "[" * 40 + "]" * 40, "2: nested more than 16 levels deep"),
        ("name: s\ndescription: \x07\n", "2: not YAML"),
        ("x" * (MAX_BYTES + 1), "1: more than 8,000,000 characters"),
        ("name: s\ndescripton: x\n", "2: unknown key 'descripton': did you mean 'description'?"),
        ("description: x\n", "1: the key 'name' is missing"),
        ("name: no\n", "1: name must be text: put it in quotes"),
        ("name: System\n", "1: the schema name System is reserved: choose another"),
        ("name: a.b\n", "1: name 'a.b' has a dot"),
        ("name: s\nversion: 1.0\n", "2: version must be text: put it in quotes"),
        ("name: s\ntables:\n", "2: tables has no value: give one, or remove the line"),
        ("name: s\nskyhouse:licence:\n", "2: skyhouse:licence has no value: give one, or remove the line"),
        ("name: s\ntables: x\n", "2: tables must be a list: [a, b]"),
        ("name: s\ntables:\n- x\n", "3: tables must be a mapping"),
        ("name: s\ntables:\n- name: t\n  columns: []\n", "4: columns must have at least one entry"),
        (column("name: c, datatype: lon"), "4: datatype 'lon' is not a datatype: use one of boolean"),
        (column("name: c"), "4: the key 'datatype' is missing"),
        (column("name: c, datatype: int, ivoa:unt: m"), "4: unknown key 'ivoa:unt': did you mean 'ivoa:unit'?"),
        (column("name: c, datatype: int, ucd: meta.id"), "4: unknown key 'ucd': did you mean 'ivoa:ucd'?"),
        (column("name: c, datatype: int, nullable: 1"), "4: nullable must be true or false"),
        (
            column(f"name: c, datatype: int, tap:column_index: {2**31}"),
            "4: tap:column_index must be less than 2147483648",
        ),
        (column('name: "a\\nb", datatype: int'), "4: name 'a\\nb' has a control character"),
        (column(f"name: {'n' * 65}, datatype: int"), "4: name 'nnnnnnnnnnnnnnnnnnnn...' has 65 characters"),
        (column("name: HPX29, datatype: int"), "4: the column name HPX29 is reserved for the storage"),
        (column("name: __chunk, datatype: int"), "4: the column name __chunk is reserved for the storage"),
        (column("name: c, datatype: int}, {name: C, datatype: int"), "4: the column C occurs twice (as c;"),
        (
            column("name: c, datatype: int, ivoa:unit: m, fits:tunit: s"),
            "4: fits:tunit 's' contradicts ivoa:unit 'm': keep one of them",
        ),
        (
            column('name: c, datatype: char, length: 8, votable:arraysize: "9*"'),
            "4: votable:arraysize '9*' contradicts length 8",
        ),
        (column("name: c, datatype: int, iova:unit: m"), "4: unknown key 'iova:unit': did you mean 'ivoa:unit'?"),
        (column("name: c, datatype: int, vot:arraysize: m"), "4: unknown key 'vot:arraysize': did you mean 'votable:"),
        (column("name: c, datatype: int, tap:principle: 1"), "4: unknown key 'tap:principle': did you mean 'tap:prin"),
        (column("name: c, datatype: int, tap:principal: 2"), "4: tap:principal must be true or false"),
        (column("name: c, datatype: int, skyhouse:nul: 1"), "4: unknown key 'skyhouse:nul': did you mean 'skyhouse:nu"),
        ("name: s\nversion: {current: 1.0}\n", "2: version must be text: put it in quotes"),
        ("name: s\nversion: {compatible: []}\n", "2: the key 'current' is missing"),
        ("name: s\nversion: {current: a, curent: b}\n", "2: unknown key 'curent'"),
        (
            "name: s\ntables:\n- name: t__loading\n  columns: [{name: c, datatype: int}]\n",
            "3: the table name t__loading",
        ),
        *(
            (
                f"name: s\ntables:\n- name: {name}\n  columns: [{{name: c, datatype: int}}]\n",
                f"3: the table name {name}",
            )
            for name in ("t__Local", "t__overlap", "t__margin", "t__local_rows", "t__2", "t__0_13")
        ),
        (layout("{parent: objects}"), "9: the table t has no foreign key objects among its constraints"),
        (layout("{versions: {key: [id]}}"), "9: the key 'by' is missing"),
        (layout("{versions: {key: [], by: ra}}"), "9: key must have at least one entry"),
        (layout("{versions: {key: [id], by: ra, latest: x}}"), "9: unknown key 'latest': did you mean 'last'?"),
        (layout("{versions: {key: [id], by: raa}}"), "9: the table t has no column raa: did you mean ra?"),
        (layout("{versions: {key: [idd], by: ra}}"), "9: the table t has no column idd: did you mean id?"),
        (
            layout("{versions: {key: [id], by: ra}}"),
            "9: the column id is in the key of versions, but may be NULL: ",
        ),
        (
            layout("{versions: {key: [vector], by: ra}}"),
            "9: the column vector is in the key of versions, but is an",
        ),
        (layout("{versions: {key: [id], by: vector}}"), "9: the column vector is REAL"),
        (layout("{versions: {key: [id], by: id}}"), "9: id is in the key: versions of one key must differ in it"),
        (
            layout("{id: [id], versions: {key: [id], by: ra}}"),
            "9: the id of t has only columns of the key, so each key has",
        ),
        (layout("{versions: {key: [id], by: ra, last: T}}"), "9: the table T occurs twice (as t; case is ignored)"),
        (layout("{versions: {key: [id], by: ra, last: x__2}}"), "9: the table name x__2 has a suffix that loads use"),
        (layout("{versions: {key: [id], by: ra, last: a.b}}"), "9: last 'a.b' has a dot"),
        (names("[id]", "{}"), "11: names are looked up to find positions: name the columns of the position"),
        (names("[idd]"), "11: the table t has no column idd: did you mean id?"),
        (names("[id, id]"), "11: the names of id occur twice: remove one"),
        (names("[ra]"), "11: the column ra is DOUBLE: names are texts or whole numbers"),
        (names("[vector]"), "11: the column vector is REAL"),
        (names("[number]"), "11: the column number is a number, not a name: write {column: number, prefix: HIP}"),
        (names("[{column: number, prefix: HIP, separator: ','}]"), "11: the column number is a number: a separator is"),
        (names("[{column: id, prefixes: HIP}]"), "11: unknown key 'prefixes': did you mean 'prefix'?"),
        (names("[{prefix: HIP}]"), "11: the key 'column' is missing"),
        (layout("{row_store: true}"), "9: row_store is for look-ups by id: name the columns that identify a row in id"),
        (
            layout("{id: [id], row_store: true}").replace('arraysize: "3"', 'arraysize: "1000000"'),
            "9: the rows of t are too wide for a row store (4,000,000 bytes of vector, at most 1,048,576 in all): ",
        ),
        (
            layout("{id: [id], row_store: true}").replace(
                "  columns:\n", "  columns:\n" + "".join(f"  - {{name: c{n}, datatype: int}}\n" for n in range(1000))
            ),
            "1009: the table t has 1,004 columns, but a row store can have at most 1,000: leave row_store out",
        ),
        (layout("{id: [id], row_store: 1}"), "9: row_store must be true or false"),
        (layout("{id: [id], row_store: 'yes'}"), "9: row_store must be true or false"),
        (layout("{id: [id], row_store: [id]}"), "9: row_store must be true or false"),
        (layout("{id: [id], rowstore: true}"), "9: unknown key 'rowstore': did you mean 'row_store'?"),
        (layout("{position: [ra]}"), "9: position must be two columns: [longitude, latitude]"),
        (layout("{position: [ra, dec, id]}"), "9: position must be two columns"),
        (layout("{position: [ra, ra]}"), "9: position names ra twice"),
        (layout("{position: [RA, dec]}"), "9: the table t has no column RA: did you mean ra?"),
        (layout("{position: [ra, id]}"), "9: the position column id is CHAR: it must be a number of degrees"),
        (layout("{id: [name]}"), "9: the table t has no column name"),
        (layout("{id: [vector]}"), "9: the column vector is an array: an id must be"),
        (layout("{id: [id, id]}"), "9: the id column id occurs twice"),
        (layout("{indexes: ra}"), "9: indexes must be a list: [a, b]"),
        (layout("{indexes: [5]}"), "9: indexes must be"),
        (layout("{indexes: [[ra, 5]]}"), "9: an index of several columns is a list of their names: [a, b]"),
        (layout("{indexes: [[]]}"), "9: columns must have at least one entry"),
        (layout("{indexes: [r]}"), "9: the table t has no column r: did you mean ra?"),
        (layout("{indexes: [[dec, r]]}"), "9: the table t has no column r: did you mean ra?"),
        (layout("{indexes: [ra, dec, [ra]]}"), "9: the index ra occurs twice: remove one"),
        (layout("{indexes: [[ra, dec, ra]]}"), "9: the index ra, dec, ra names ra twice"),
        (
            layout("{indexes: [[ra, dec], ra]}"),
            "9: the index ra, dec starts with ra, so it has the same effect: remove ra",
        ),
        (
            layout("{id: [id], indexes: [id]}"),
            "9: the index id starts with the id (id), which already identifies a row",
        ),
        (layout("{id: [id], indexes: [[id, ra]]}"), "9: the index id, ra starts with the id (id)"),
        (
            layout("{id: [id, ra], indexes: [id]}"),
            "9: the id id, ra starts with id, so it has the same effect: remove id",
        ),
        (layout("{indexes: [vector]}"), "9: the column vector is an array: an index needs numbers or texts"),
        (layout("{indexes: {vector: text}}"), "9: the column vector is an array: a text index needs a text"),
        (layout("{indexes: [{ra: text}]}"), "9: the column ra is DOUBLE: a text index needs a text"),
        (layout("{indexes: {id: txt}}"), "9: the index of id has the unknown kind 'txt': did you mean text?"),
        (layout("{indexes: {id: 5}}"), "9: the index of id has the unknown kind 5: kinds are values and text"),
        (layout("{indexes: [{id: text, ra: text}]}"), "9: a text index has one column: write {column: text}"),
        (layout("{indexes: [{id: text}, {id: text}]}"), "9: the index id: text occurs twice"),
        (layout("{indexes: {id: text, id: text}}"), "9: the key 'id' occurs twice"),
        (layout("{time: id}"), "9: the time column id is CHAR: it must be a number or timestamp"),
        (layout("{overlap_radius: -1}"), "9: overlap_radius must be greater than or equal to 0"),
        (layout("{overlap_radius: .nan}"), "9: overlap_radius must be"),
        (
            layout("{order: 5}"),
            "9: unknown key 'order': known keys are position, id, healpix_order, time, years, overlap_radius, indexes",
        ),
    ],
)
def test_wrong_schemas_are_rejected(text: str, said: str) -> None:
    errors = errors_of(text)
    assert any(error.startswith(f"f.yaml:{said}") for error in errors), errors


KEYED = """\
name: s
tables:
- name: t
  primaryKey: {primary}
  columns:
  - {{name: a, "@id": "#a", datatype: int}}
  - {{name: b, "@id": "{ident}", datatype: text}}
  constraints:
  - name: k
    "@type": {kind}
    columns: {columns}
    referencedColumns: {referenced}
"""


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"primary": '"#x"'}, "4: '#x' is not a column of this table"),
        ({"ident": "#a"}, "7: @id '#a' belongs to another column"),
        ({"kind": "ForeingKey"}, "10: @type 'ForeingKey' is unknown: did you mean 'ForeignKey'?"),
        ({"kind": "''"}, "9: a constraint needs '@type': ForeignKey, Unique, Check"),
        ({"columns": '["#c"]'}, "11: '#c' is not a column of this table"),
        ({"columns": "[]"}, "11: columns must have at least one entry"),
        ({"columns": '["#a", "#b"]'}, "11: the key k has 2 columns but refers to 1"),
        ({"columns": '["#b"]'}, "11: the key k compares values that cannot be equal: b is CHAR, a is INTEGER"),
        ({"referenced": '["#bb"]'}, "12: no column has the @id '#bb': did you mean '#b'?"),
        ({"referenced": "[s.t.c]"}, "12: s.t has no column c"),
        (
            {"columns": '["#a", "#b"]', "referenced": '["#a", o.p.q]'},
            "12: referencedColumns are in more than one table",
        ),
        ({"referenced": "[]"}, "12: referencedColumns must have at least one entry"),
    ],
)
def test_wrong_keys_are_rejected(changed: dict[str, str], said: str) -> None:
    good = {"primary": '"#a"', "ident": "#b", "kind": "ForeignKey", "columns": '["#a"]', "referenced": '["#a"]'}
    read_schema(KEYED.format(**good), "f.yaml", strict=True)
    errors = errors_of(KEYED.format(**(good | changed)))
    assert any(error.startswith(f"f.yaml:{said}") for error in errors), errors


def test_all_errors_are_reported_in_order() -> None:
    errors = errors_of("name: 1\nfoo: 2\ntables:\n- nam: t\n  columns: [{name: c, datatype: lon}]\n")
    assert [error.split(": ")[0] for error in errors] == [f"f.yaml:{line}" for line in (1, 2, 4, 4, 5)]


def test_many_errors_are_counted() -> None:
    columns = "".join(f"  - {{name: c{i}, datatype: lon}}\n" for i in range(50))
    errors = errors_of(f"name: s\ntables:\n- name: t\n  columns:\n{columns}")
    assert len(errors) == 21
    assert errors[-1] == "... and 30 more"


def test_warnings_are_errors_in_strict_mode() -> None:
    text = column("name: c, datatype: int, ivoa:unit: furlong, ivoa:ucd: POS_EQ_RA_MAIN, mysql:datatype: BIGINT")
    schema, warnings = read_schema(text, "f.yaml")
    assert (schema.tables[0].columns[0].unit, schema.tables[0].columns[0].ucd) == ("furlong", "")
    assert errors_of(text, strict=True) == tuple(warnings)
    assert [warning.split(" ")[:2] for warning in sorted(warnings)] == [
        ["f.yaml:4:", "ivoa:ucd"],
        ["f.yaml:4:", "ivoa:unit"],
        ["f.yaml:4:", "mysql:datatype"],
    ]


def test_position_must_be_in_degrees() -> None:
    text = GOOD.replace("fits:tunit: degree", "ivoa:unit: rad")
    assert "is in rad: convert it to deg" in errors_of(text)[0]


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "sky.yaml"
    with pytest.raises(SchemaError, match="cannot be read: No such file"):
        read_schema(path)
    path.write_bytes(b"\xef\xbb\xbfname: sky\n")
    assert read_schema(path)[0].name == "sky"
    path.write_bytes(b"name: sky\ndescription: gr\xf6\xdfe\n")
    with pytest.raises(SchemaError, match=r"sky\.yaml:2: not UTF-8"):
        read_schema(path)
    path.write_bytes(b"x" * (MAX_BYTES + 1))
    with pytest.raises(SchemaError, match="is this a schema file"):
        read_schema(path)


def test_wide_tables() -> None:
    """Test the maximum number of columns of a table, and one more."""
    columns = tuple(Column(name=f"c{i}", datatype="float", unit="mag", description="x" * 40) for i in range(5000))
    text = schema_to_yaml(Schema(name="s", tables=(Table(name="t", columns=columns),)))
    assert len(read_schema(text, "f.yaml", strict=True)[0].tables[0].columns) == 5000
    more = text + "  - {name: last, datatype: int}\n"
    assert errors_of(more) == ("f.yaml:4: columns has more than 5,000 entries: split the table",)


_VALUE_LINES = [i for i, line in enumerate(GOOD.splitlines()) if ": " in line or line.endswith(":")]
_VALUES = [
    "",
    "{}",
    "[]",
    "[[]]",
    "{a: 1}",
    "1",
    "1.5",
    "true",
    "x",
    '"#stars.id"',
    "1:30",
    "'",
    "-",
    ".inf",
    "9" * 400,
]


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from(_VALUE_LINES), st.sampled_from(_VALUES)), min_size=1, max_size=3))
@example([(10, "{}")])
def test_any_value_anywhere_is_read_or_reported(changes: list[tuple[int, str]]) -> None:
    """Values of all types under all keys: errors have an existing line, and no other exception is raised."""
    lines = GOOD.splitlines()
    for number, value in changes:
        lines[number] = lines[number].partition(":")[0] + ": " + value
    try:
        schema, _ = read_schema("\n".join(lines), "f.yaml")
    except SchemaError as error:
        reported = [line.split(":")[1] for line in error.errors if not line.startswith("... and")]
        assert all(1 <= int(line) <= len(lines) + 1 for line in reported)
    else:
        assert read_schema(schema_to_yaml(schema), "f.yaml")[0] == schema


_PRINTABLE = st.characters(min_codepoint=32, max_codepoint=0x24F, blacklist_categories=("Cc", "Cf", "Zs", "Cs"))
_TEXTS = st.text(st.characters(blacklist_categories=("Cc", "Cs"), blacklist_characters="\ufffe\uffff"), max_size=30)
_WORDS = st.sampled_from(["no", "1.0", "null", "on", "2020-01-01", "#x", "- a", "a: b", "é"]) | st.text(
    string.ascii_letters + string.digits + " '\":#{}", max_size=12
)


def _names(count: int) -> st.SearchStrategy[list[str]]:
    name = st.text(_PRINTABLE.filter(lambda c: c != "."), min_size=1, max_size=12).map(lambda text: f"n{text}")
    return st.lists(name, min_size=count, max_size=count, unique_by=str.lower)


#: Arrays of bytes cannot be an id
_ID_TYPES = [datatype for datatype in FELIS if datatype != "binary"]


@st.composite
def _tables(draw: st.DrawFn, name: str) -> Table:
    names = draw(_names(5))
    datatypes = [draw(st.sampled_from(_ID_TYPES)), draw(st.sampled_from([*FELIS]))]
    columns = [
        Column(
            name=column_name,
            datatype=datatype,
            description=draw(_TEXTS),
            nullable=draw(st.booleans()),
            unit=draw(st.sampled_from(["", "deg"])),
            ucd=draw(st.sampled_from(["", "meta.id"])),
            utype=draw(_WORDS),
            principal=draw(st.booleans()),
            column_index=draw(st.none() | st.integers(-5, 2000)),
        )
        for column_name, datatype in zip(names, ["double", "float", "int", *datatypes], strict=True)
    ]
    ident = draw(st.sampled_from([(), (names[2],), (names[2], names[3])]))
    positions = draw(st.sampled_from([None, (names[0], names[1])]))
    radius = draw(st.floats(0, 10))
    return Table(
        name=name,
        description=draw(_TEXTS),
        columns=tuple(columns),
        primary_key=ident,
        keys=(
            ForeignKey(name="own", columns=(names[2],), referenced_table=f"s.{name}", referenced_columns=(names[2],)),
        ),
        layout=Layout(position=positions, id=ident, time=draw(st.sampled_from(["", names[1]])), overlap_radius=radius),
    )


@st.composite
def _schemas(draw: st.DrawFn) -> Schema:
    tables = tuple(draw(_tables(name)) for name in draw(_names(2)))
    return Schema(
        name="s",
        description=draw(_TEXTS),
        version=draw(_WORDS),
        citation=draw(_TEXTS),
        examples=(Example(name="All", query=draw(_TEXTS)),),
        tables=tables,
    )


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(_schemas())
def test_what_is_written_reads_back(schema: Schema) -> None:
    assert read_schema(schema_to_yaml(schema), "f.yaml") == (schema, [])


CHILDREN = """\
name: s
tables:
- name: objects
  skyhouse:layout: {objects}
  columns: [{{name: id, datatype: int}}, {{name: ra, datatype: double}}, {{name: dec, datatype: double}}]
- name: sources
  skyhouse:layout: {sources}
  columns: [{{name: object, datatype: int}}, {{name: source, datatype: int}}]
  constraints:
  - {{name: of_object, "@type": ForeignKey, columns: ["#sources.object"], referencedColumns: ["#objects.{column}"]}}
  - {{name: of_itself, "@type": ForeignKey, columns: ["#sources.object"], referencedColumns: ["#sources.source"]}}
"""


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (
            {"sources": "{parent: of_objects}"},
            "7: the table sources has no foreign key of_objects: did you mean of_object",
        ),
        ({"sources": "{parent: of_object, everywhere: true}"}, "7: everywhere contradicts parent"),
        ({"sources": "{parent: of_object, years: true}"}, "7: years needs a time column: name it in time"),
        ({"sources": "{parent: of_itself}"}, "7: the parents of sources form a cycle: sources of sources"),
        ({"objects": "{id: [id]}"}, "7: the parent s.objects has neither position nor parent"),
        ({"objects": "{position: [ra, dec], everywhere: true}"}, "7: the parent s.objects is on every server"),
        ({"objects": "{position: [ra, dec]}"}, "7: the key of_object must refer to the id of s.objects (none)"),
        ({"column": "ra"}, "7: the key of_object must refer to the id of s.objects (id)"),
    ],
)
def test_parents_are_checked(changed: dict[str, str], said: str) -> None:
    right = {
        "objects": "{position: [ra, dec], id: [id], overlap_radius: 0.1}",
        "sources": "{parent: of_object}",
        "column": "id",
    }
    errors = errors_of(CHILDREN.format(**{**right, **changed}))
    assert any(error.startswith(f"f.yaml:{said}") for error in errors), errors


def test_tables_with_positions_are_sharded() -> None:
    right = {"objects": "{position: [ra, dec], id: [id]}", "sources": "{parent: of_object}", "column": "id"}
    text = CHILDREN.format(**right)
    schema, _ = read_schema(text, "f.yaml")
    assert [table.is_sharded for table in schema.tables] == [True, True]
