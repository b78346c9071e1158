"""ECSV as in Gaia's bulk files: a thousand header lines, null in columns of every type, arrays in two forms."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from astropy.table import Table

from clickhouse_schema.schema_files.yaml_reader import read_schema
from tap_service.readers.conform_rows import Conformer
from tap_service.readers.csv_reader import CsvSource
from tap_service.readers.file_formats import open_source
from tests.tap_service.readers.reading import list_types, read_rows

COLUMNS = ["source_id int64", "ra float64", "rv_nb int16", "phot_variable_flag string", "has_xp bool"]
ROWS = [
    '4295806720,44.99615537864534,0,"NOT_AVAILABLE","False"',
    "34361129088,null,null,null,null",
    '38655544960,45.0049742449841,12,"null","True"',
]


def write_gaia(path: Path, extra: int = 0) -> Path:
    """Write a file with ``extra`` more columns of doubles, gzipped as Gaia's are."""
    columns = [column.split() for column in COLUMNS] + [[f"extra_{n}", "float64"] for n in range(extra)]
    lines = ["# %ECSV 1.0", "# ---", "# delimiter: ','", "# datatype:"]
    for name, kind in columns:
        lines += ["# -", f"#   name: {name}", f"#   datatype: {kind}", "#   unit: deg", f"#   description: The {name}"]
    lines += ["# meta: !!omap", "# - {description: a part of a catalogue}", ",".join(name for name, _ in columns)]
    lines += [row + ",null" * extra for row in ROWS]
    path.write_bytes(gzip.compress("\n".join(lines).encode() + b"\n"))
    return path


def test_null_is_null_in_columns_of_every_type(tmp_path: Path) -> None:
    path = write_gaia(tmp_path / "GaiaSource_000000-003111.csv.gz")
    rows, rejects = read_rows(path)
    assert rejects == []
    assert rows == [
        (4295806720, 44.99615537864534, 0, "NOT_AVAILABLE", False),
        (34361129088, None, None, None, None),
        (38655544960, 45.0049742449841, 12, "null", True),
    ]


def test_a_header_of_a_thousand_lines_is_read(tmp_path: Path) -> None:
    path = write_gaia(tmp_path / "GaiaSource_000000-003111.csv.gz", extra=300)
    source = open_source(path)
    assert len(source.fields) == 305
    assert source.description == "a part of a catalogue"
    assert {(field.unit, field.description) for field in source.fields[-1:]} == {("deg", "The extra_299")}
    rows, rejects = read_rows(path)
    assert (len(rows), rejects, rows[0][5:]) == (3, [], (None,) * 300)


@pytest.mark.parametrize("written", ['"[1.5, null, 1e3]"', '"(1.5, NaN, 1000.0)"', '"(1.5,NaN,1e3)"'])
def test_arrays_in_both_forms_are_read(tmp_path: Path, written: str) -> None:
    (tmp_path / "t.ecsv").write_text(
        "# %ECSV 1.0\n# ---\n# delimiter: ','\n# datatype:\n# - {name: id, datatype: int64}\n"
        f"# - {{name: flux, datatype: string, subtype: 'float64[null]'}}\nid,flux\n1,{written}\n2,null\n"
    )
    rows, rejects = read_rows(tmp_path / "t.ecsv")
    assert rejects == []
    assert rows[1] == (2, [])
    np.testing.assert_array_equal(rows[0][1], [1.5, np.nan, 1000.0])


def test_arrays_in_parentheses_of_plain_csv_are_read_with_a_schema(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text('id,n\n1,"(1, 2, 3)"\n2,"(4, x, 6)"\n')
    yaml = "name: s\ntables:\n- name: t\n  columns:\n  - {name: id, datatype: long}\n  - {name: n, datatype: int, votable:arraysize: '*'}\n"
    schema, _ = read_schema(yaml)
    source = CsvSource(tmp_path / "t.csv")
    conformer = Conformer(schema.tables[0], source)
    [block] = source.read_blocks(conformer.source_names)
    batch, rejects = conformer.conform_block(block)
    assert batch.to_pylist() == [{"id": 1, "n": [1, 2, 3]}]
    assert [(reject.where, reject.column, reject.value) for reject in rejects] == [(3, "n", "(4, x, 6)")]


def test_what_astropy_writes_is_read(tmp_path: Path) -> None:
    table = Table({"id": [1, 2], "spectrum": np.array([[1.5, 2.5], [3.5, np.nan]]), "words": ["a b", "null?"]})
    table.write(tmp_path / "t.ecsv")
    rows, rejects = read_rows(tmp_path / "t.ecsv")
    assert rejects == []
    assert [(row[0], row[2]) for row in rows] == [(1, "a b"), (2, "null?")]
    np.testing.assert_array_equal([row[1] for row in rows], table["spectrum"])
    assert list_types(open_source(tmp_path / "t.ecsv")) == {"id": "BIGINT", "spectrum": "DOUBLE[]", "words": "CHAR"}


def test_folded_descriptions_have_no_line_end(tmp_path: Path) -> None:
    path = tmp_path / "t.ecsv"
    meta = "# meta:\n#   description: >\n#     A part of\n#     a catalogue\n"
    column = "# -\n#   name: ra\n#   datatype: float64\n#   description: >\n#     Right\n#     ascension\n"
    path.write_text(f"# %ECSV 1.0\n# ---\n# datatype:\n{column}{meta}ra\n1.5\n")
    source = open_source(path)
    assert (source.description, source.fields[0].description) == ("A part of a catalogue", "Right ascension")
