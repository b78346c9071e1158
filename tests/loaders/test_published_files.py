"""Catalogues as data centres publish them, loaded by the command: options tell what the files do not show."""

from __future__ import annotations

import gzip
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from astropy.io import fits

from tests.loaders.test_cli import skyhouse

#: Two rows in the format of 2MASS' psc_*.gz, and their columns
POINT_SOURCES = "10.5|-5.25|00420000-0515000|12.345|\\N|2000-09-18\n11.5|-6.25|00460000-0615000|\\N|14.1|2000-09-18\n"
SCHEMA = """\
name: twomass
tables:
- name: psc
  skyhouse:files: {format: CSV, delimiter: "|", header: false, nulls: ['\\N']}
  columns:
  - {name: ra, datatype: double, ivoa:unit: deg}
  - {name: decl, datatype: double, ivoa:unit: deg}
  - {name: designation, datatype: string}
  - {name: j_m, datatype: float, ivoa:unit: mag}
  - {name: h_m, datatype: float, ivoa:unit: mag}
  - {name: date, datatype: timestamp}
  skyhouse:layout: {position: [ra, decl]}
"""


def test_a_schema_file_determines_how_the_files_of_a_survey_are_read(tmp_path: Path) -> None:
    (tmp_path / "psc_aaa.gz").write_bytes(gzip.compress(POINT_SOURCES.encode()))
    (tmp_path / "psc_aab.gz").write_bytes(gzip.compress(POINT_SOURCES.replace("10.5", "200.5").encode()))
    (tmp_path / "psc.yaml").write_text(SCHEMA)
    files = ("psc_aaa.gz", "psc_aab.gz")
    code, out, err = skyhouse(tmp_path, "load", *files, "--table", "twomass.psc", "--schema", "psc.yaml")
    assert (code, out) == (0, "loaded 4 rows into twomass.psc\n")
    assert err.count("note: ") == 1
    assert "psc_aaa.gz: CSV, gzip, delimiter |, no header, NULL is \\N" in err
    assert skyhouse(tmp_path, "verify", "twomass.psc")[0] == 0
    (tmp_path / "psc_aac.gz").write_bytes(gzip.compress(POINT_SOURCES.replace("10.5", "201.5").encode()))
    code, out, _ = skyhouse(tmp_path, "load", "psc_aac.gz", "--table", "twomass.psc", "--append")
    assert (code, out) == (0, "loaded 2 rows into twomass.psc\n")


def test_truncated_times_are_counted_at_the_end_of_a_load(tmp_path: Path) -> None:
    rows = [f"{n},2024-02-29T12:00:00{'.123456789' if n > 70_000 else ''}" for n in range(70_003)]
    (tmp_path / "t.csv").write_text("\n".join(["id,t", *rows]) + "\n")
    code, out, err = skyhouse(tmp_path, "load", "t.csv", "--table", "s.t")
    assert (code, out) == (0, "loaded 70,003 rows into s.t\n"), err
    assert "note: column t: 2 times were cut to microseconds\n" in err
    (tmp_path / "more.csv").write_text("id,t\n70003,2024-02-29T12:00:00.1234567\n")
    code, _, err = skyhouse(tmp_path, "load", "more.csv", "--table", "s.t", "--append")
    assert "note: column t: 1 time was cut to microseconds\n" in err


def test_describe_writes_the_given_file_form(tmp_path: Path) -> None:
    (tmp_path / "psc.txt").write_text(POINT_SOURCES)
    code, out, err = skyhouse(tmp_path, "describe", "psc.txt", "--no-header", "--delimiter", "|", "--table", "s.t")
    assert code == 0, err
    (tmp_path / "t.yaml").write_text(out)
    code, out, err = skyhouse(tmp_path, "load", "psc.txt", "--table", "s.t", "--schema", "t.yaml")
    assert (code, out) == (0, "loaded 2 rows into s.t\n"), err


def test_a_file_whose_nulls_were_recognised_is_not_appended_twice(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,v\n1,5\n2,NULL\n")
    (tmp_path / "b.csv").write_text("id,v\n3,6\n" + "4,7\n" * 10 + "5,NULL\n")
    assert skyhouse(tmp_path, "load", "a.csv", "b.csv", "--table", "s.t")[1] == "loaded 14 rows into s.t\n"
    code, out, _ = skyhouse(tmp_path, "load", "a.csv", "b.csv", "--table", "s.t", "--append")
    assert (code, out) == (0, "already loaded: s.t holds these files (14 rows)\n")


def test_columns_that_only_later_files_have_are_named(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,v\n1,5\n")
    (tmp_path / "b.csv").write_text("id,w,v,x\n2,7,6,8\n")
    code, _, err = skyhouse(tmp_path, "load", "a.csv", "b.csv", "--table", "s.t")
    assert (code, "/b.csv has columns that the table lacks: w, x; they are not loaded\n" in err) == (0, True), err


def test_types_that_the_schema_file_overrules_are_not_noted(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id,n,flag\n1,007,001\n2,010,002\n")
    columns = "".join(f"  - {{name: {name}, datatype: {type_}}}\n" for name, type_ in (("id", "int"), ("n", "int")))
    (tmp_path / "t.yaml").write_text(f"name: s\ntables:\n- name: t\n  columns:\n{columns}")
    (tmp_path / "u.yaml").write_text((tmp_path / "t.yaml").read_text() + "  - {name: flag, datatype: string}\n")
    _, _, err = skyhouse(tmp_path, "load", "t.csv", "--table", "s.t", "--schema", "t.yaml")
    assert "leading zeros" not in err
    _, _, err = skyhouse(tmp_path, "load", "t.csv", "--table", "s.t", "--schema", "u.yaml", "--replace")
    assert "; column flag stays text: it has leading zeros, as in '001'\n" in err
    skyhouse(tmp_path, "export", "s.t", "out.csv", "--format", "csv")
    assert (tmp_path / "out.csv").read_text() == "id,n,flag\n1,7,001\n2,10,002\n"


def test_a_schema_file_without_the_position_that_its_ucds_name_is_noted(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id,coord_ra,coord_dec\n1,10.5,-5\n")
    columns = "".join(
        f"  - {{name: coord_{name}, datatype: double, ivoa:ucd: pos.eq.{name};meta.main}}\n" for name in ("ra", "dec")
    )
    (tmp_path / "t.yaml").write_text(f"name: s\ntables:\n- name: t\n  columns:\n{columns}")
    code, _, err = skyhouse(tmp_path, "load", "t.csv", "--table", "s.t", "--schema", "t.yaml")
    assert code == 0, err
    assert "skyhouse:layout: {position: [coord_ra, coord_dec]} orders them by it\n" in err


def test_longitudes_from_minus_180_are_wrapped_if_the_schema_says_so(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id,ra,dec\n1,-179.5,1\n2,179.5,2\n")
    code, _, err = skyhouse(tmp_path, "load", "t.csv", "--table", "s.t", "--max-errors", "0")
    assert code == 1
    assert "'-179.5' is a longitude outside [0, 360]: skyhouse:wrap of its column in a --schema adds 360" in err
    _, described, _ = skyhouse(tmp_path, "describe", "t.csv", "--table", "s.t")
    (tmp_path / "t.yaml").write_text(described.replace("name: ra\n", "name: ra\n    skyhouse:wrap: true\n"))
    assert skyhouse(tmp_path, "load", "t.csv", "--table", "s.t", "--schema", "t.yaml")[1] == "loaded 2 rows into s.t\n"
    skyhouse(tmp_path, "export", "s.t", "out.csv", "--format", "csv")
    assert sorted((tmp_path / "out.csv").read_text().splitlines()[1:]) == ["1,180.5,1", "2,179.5,2"]


def test_tokens_of_one_column_do_not_affect_other_columns(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id,ra,mag\n-99,10,-99\n1,11,15.5\n")
    schema = (
        "name: s\ntables:\n- name: t\n  columns:\n  - {name: id, datatype: long}\n  - {name: ra, datatype: double}\n"
    )
    (tmp_path / "t.yaml").write_text(schema + "  - {name: mag, datatype: double, skyhouse:nulls: [-99]}\n")
    assert skyhouse(tmp_path, "load", "t.csv", "--table", "s.t", "--schema", "t.yaml")[0] == 0
    skyhouse(tmp_path, "export", "s.t", "out.csv", "--format", "csv")
    assert sorted((tmp_path / "out.csv").read_text().splitlines()[1:]) == ["-99,10,", "1,11,15.5"]


def test_a_load_with_other_tokens_is_another_load(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id,mag\n1,-99\n2,15.5\n")
    schema = (
        "name: s\ntables:\n- name: t\n  columns:\n  - {name: id, datatype: long}\n  - {name: mag, datatype: double}\n"
    )
    (tmp_path / "t.yaml").write_text(schema)
    load = ("load", "t.csv", "--table", "s.t", "--schema", "t.yaml", "--replace")
    assert skyhouse(tmp_path, *load)[1] == "loaded 2 rows into s.t\n"
    assert skyhouse(tmp_path, *load)[1].startswith("already loaded")
    assert skyhouse(tmp_path, *load, "--null", "-99")[1] == "loaded 2 rows into s.t\n"


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("--delimiter", "ab"), "is not one ASCII character"),
        (("--format", "xlsx"), "there is no format xlsx; the formats are"),
        (("--hdu", "2"), "--hdu is for files of FITS"),
    ],
)
def test_an_invalid_choice_is_rejected(tmp_path: Path, arguments: tuple[str, ...], reason: str) -> None:
    (tmp_path / "t.csv").write_text("id\n1\n2\n")
    code, _, err = skyhouse(tmp_path, "load", "t.csv", "--table", "s.t", *arguments)
    assert code != 0
    assert reason in " ".join(err.replace("│", " ").split())


def test_fits_marks_by_tokens_are_null(tmp_path: Path) -> None:
    columns = [
        fits.Column("id", "K", array=np.array([1, 2])),
        fits.Column("mag", "E", array=np.array([-99.0, 15.5], "f4")),
        fits.Column("n", "J", array=np.array([7, -99], "i4")),
    ]
    fits.BinTableHDU.from_columns(columns).writeto(tmp_path / "t.fits")
    assert skyhouse(tmp_path, "load", "t.fits", "--table", "s.t", "--null", "-99")[0] == 0
    skyhouse(tmp_path, "export", "s.t", "out.csv", "--format", "csv")
    assert sorted((tmp_path / "out.csv").read_text().splitlines()[1:]) == ["1,,7", "2,15.5,"]


TABLES = """<VOTABLE version="1.4"><RESOURCE>
<TABLE name="stars"><FIELD name="id" datatype="int"/><DATA><TABLEDATA><TR><TD>1</TD></TR></TABLEDATA></DATA></TABLE>
<TABLE name="refs"><FIELD name="code" datatype="char" arraysize="*"/><FIELD name="code" datatype="int"/>
<DATA><TABLEDATA><TR><TD>x</TD><TD>7</TD></TR></TABLEDATA></DATA></TABLE></RESOURCE></VOTABLE>
"""


def test_a_table_of_a_votable_is_chosen(tmp_path: Path) -> None:
    (tmp_path / "t.vot").write_text(TABLES)
    code, out, err = skyhouse(tmp_path, "load", "t.vot", "--table", "s.refs", "--table-index", "refs")
    assert (code, out) == (0, "loaded 1 rows into s.refs\n"), err
    note = "t.vot: VOTable, TABLE 2 (refs); the file has other TABLEs: 1 (stars); another column code is called code_2"
    assert err.count("note: ") == 1
    assert note in err
    code, out, err = skyhouse(tmp_path, "describe", "t.vot", "--table", "s.refs", "--table-index", "2")
    assert (code, out.count("- name: code")) == (0, 2)
    code, _, err = skyhouse(tmp_path, "load", "t.vot", "--table", "s.t", "--table-index", "3")
    assert code == 1
    assert "t.vot has no TABLE '3'; its tables are 1 (stars), 2 (refs)" in err


def test_ids_of_spark_and_names_of_the_storage_are_loaded_exactly(tmp_path: Path) -> None:
    ids = pa.array([Decimal(1237648720693755918), Decimal(9223372036854775807)], pa.decimal128(20, 0))
    pq.write_table(pa.table({"objid": ids, "ra": [1.5, 2.5], "hpx29": [1, 2]}), tmp_path / "t.parquet")
    _, described, err = skyhouse(tmp_path, "describe", "t.parquet", "--table", "s.t")
    assert "column hpx29, a name reserved for the storage, is called hpx29_2" in err
    (tmp_path / "t.yaml").write_text(described)
    code, out, err = skyhouse(tmp_path, "load", "t.parquet", "--table", "s.t", "--schema", "t.yaml")
    assert (code, out) == (0, "loaded 2 rows into s.t\n"), err
    skyhouse(tmp_path, "export", "s.t", "out.csv", "--format", "csv")
    rows = sorted((tmp_path / "out.csv").read_text().splitlines())
    assert rows == ["1237648720693755918,1.5,1", "9223372036854775807,2.5,2", "objid,ra,hpx29_2"]


def test_a_file_whose_column_is_double_is_appended_to_bigint_exactly_or_not(tmp_path: Path) -> None:
    pq.write_table(pa.table({"id": [1, 2**53 + 1]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"id": [3.0, None, 1e18]}), tmp_path / "b.parquet")
    code, out, err = skyhouse(tmp_path, "load", "a.parquet", "b.parquet", "--table", "s.t", "--max-errors", "1")
    assert (code, out.startswith("loaded 4 rows into s.t; 1 bad rows")) == (0, True), err
    assert "a DOUBLE in the file, which rounds integers of this size" in next(tmp_path.glob("*reject*")).read_text()
