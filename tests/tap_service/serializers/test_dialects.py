"""VOTable 1.4, 1.5 and 1.6: validated by their schemas and by votlint, read by astropy, STILTS and our own reader."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from astropy.io.votable import parse
from lxml import etree

from clickhouse_schema.datatypes import DOUBLE, UNICODE, ColumnType, CoordinateSystem, Field, TimeSystem
from tap_service.documents.error_document import cone_error_document, error_document
from tap_service.readers.votable_reader import VotableSource
from tap_service.serializers import UnknownFormatError, find_format, votable_dialect
from tests.support.stilts import read_output
from tests.tap_service.serializers.test_stilts import COLUMNS, FIELDS

SCHEMAS = Path(__file__).parents[2] / "schemas"
BODY = CoordinateSystem("BODY", "J2000.0", refposition="GEOCENTER")
SYSTEMS = [
    Field("ra", DOUBLE, "deg", coordinate_system=CoordinateSystem("ICRS", "J2016.0", refposition="BARYCENTER")),
    Field("l", DOUBLE, "deg", coordinate_system=CoordinateSystem("GALACTIC")),
    Field("lon", DOUBLE, "deg", coordinate_system=BODY),
    Field("lat", DOUBLE, "deg", coordinate_system=BODY),
    Field("mjd", DOUBLE, "d", time_system=TimeSystem("TDB", "BARYCENTER", "MJD-origin")),
    Field("year", DOUBLE, "yr", time_system=TimeSystem("TDB", "BARYCENTER")),
]
TEXTS = [
    Field("name", UNICODE),
    Field("code", ColumnType("char", "4")),
    Field("bounded", ColumnType("unicodeChar", "9*")),
    Field("fixed", ColumnType("unicodeChar", "5")),
    Field("words", ColumnType("unicodeChar", "3x*")),
]
VALUES = [["Høg, 星 & 𝄞", None], ["abcd", None], ["Åse", ""], ["Λ-CDM", None], ["één", None]]
VOTABLES = ("votable/b2", "votable/b", "votable/td")


def assert_valid(document: bytes, version: str) -> None:
    """Validate by the schema of the version that the document declares."""
    root = etree.fromstring(document)
    assert root.get("version") == version
    etree.XMLSchema(etree.parse(SCHEMAS / f"VOTable-{version}.xsd")).assertValid(root)


@pytest.mark.parametrize("version", ["", "1.4", "1.5"])
@pytest.mark.parametrize("responseformat", [*VOTABLES, "votable/td;content=mivot"])
def test_documents_are_valid(write: Any, responseformat: str, version: str) -> None:
    asked = f"{responseformat};version={version}" if version else responseformat
    assert_valid(write(asked, [*FIELDS, *SYSTEMS], [*COLUMNS, *[[1.5, None]] * len(SYSTEMS)]), version or "1.4")


def test_error_documents_are_valid() -> None:
    assert_valid(error_document("no such table", "SELECT 1"), "1.4")
    assert_valid(cone_error_document("SR is negative"), "1.4")


def test_the_operator_may_prefer_another(write: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(votable_dialect, "_default_version", "1.4")  # restored after the test
    votable_dialect.set_default_version("1.5")
    assert_valid(write("votable", SYSTEMS, [[]] * len(SYSTEMS)), "1.5")
    assert_valid(error_document("no such table"), "1.5")
    assert_valid(write("votable;version=1.4", SYSTEMS, [[]] * len(SYSTEMS)), "1.4")


@pytest.mark.parametrize("version", ["1.4", "1.5", "1.6"])
def test_each_version_reads_back_what_it_can_express(write: Any, tmp_path: Path, version: str) -> None:
    """All versions have complete times; 1.4 lacks reference positions and some frames, and reports what it omits."""
    path = tmp_path / "result.vot"
    path.write_bytes(write(f"votable;version={version}", SYSTEMS, [[]] * len(SYSTEMS)))
    read = VotableSource(path).fields
    assert [field.time_system for field in read] == [field.time_system for field in SYSTEMS]
    found = [field.coordinate_system for field in read if field.coordinate_system]
    notes = [info.get("value") for info in etree.parse(path).iter("{*}INFO") if info.get("name") == "note"]
    if version == "1.4":
        assert found == [CoordinateSystem("ICRS", "J2016.0"), CoordinateSystem("GALACTIC")]
        assert notes == [
            "VOTable 1.4 cannot express the coordinate system of lon, lat (BODY, epoch J2000.0, reference position "
            "GEOCENTER): request RESPONSEFORMAT=votable;version=1.5"
        ]
    else:
        assert found == [field.coordinate_system for field in SYSTEMS if field.coordinate_system]
        assert notes == []


@pytest.mark.parametrize("form", ["parquet", "arrow", "fits"])
def test_votables_inside_other_files_lack_nothing(write: Any, form: str) -> None:
    """Even if 1.4 is the default: no request names their version, and tables are loaded from them."""
    document = write(form, SYSTEMS, [[]] * len(SYSTEMS))
    votable = document[document.index(b"<?xml") : document.index(b"</VOTABLE>") + len(b"</VOTABLE>")]
    assert_valid(votable, "1.5")
    assert [b"BARYCENTER" in votable, b"BODY" in votable, b"note" in votable] == [True, True, False]


def test_1_4_has_the_former_names_of_frames(write: Any, tmp_path: Path) -> None:
    """A frame without a former name is omitted, because a COOSYS of 1.4 without a frame means FK5."""
    document = write("votable;version=1.4", SYSTEMS, [[1.5]] * len(SYSTEMS))
    votable = parse(io.BytesIO(document))
    systems = [(each.system, each.epoch) for each in votable.resources[0].coordinate_systems]
    assert (votable.version, systems) == ("1.4", [("ICRS", "J2016.0"), ("galactic", None)])
    path = tmp_path / "result.vot"
    path.write_bytes(document)
    assert read_output("votlint", str(path)) == b""


@pytest.mark.parametrize("responseformat", VOTABLES)
def test_1_6_has_utf8_in_char(write: Any, tmp_path: Path, responseformat: str) -> None:
    path = tmp_path / "result.vot"
    path.write_bytes(write(f"{responseformat};version=1.6", TEXTS, VALUES))
    declared = [(field.get("datatype"), field.get("arraysize")) for field in etree.parse(path).iter("{*}FIELD")]
    assert declared == [("char", "*"), ("char", "4"), ("char", "*"), ("unicodeChar", "5"), ("unicodeChar", "3x*")]
    source = VotableSource(path)
    [block] = source.read_blocks(tuple(field.name for field in source.fields))
    read = [column.to_pylist()[0] for column in block.batch.columns]
    assert read == [values[0] for values in VALUES]


@pytest.mark.parametrize("responseformat", VOTABLES)
def test_ascii_text_of_1_6_is_read_by_readers_of_1_5(write: Any, responseformat: str) -> None:
    document = write(f"{responseformat};version=1.6", [Field("name", UNICODE)], [["Vega", "Deneb"]])
    assert [*parse(io.BytesIO(document)).get_first_table().array["name"]] == ["Vega", "Deneb"]


@pytest.mark.parametrize(
    ("asked", "mime"),
    [
        ("votable;version=1.4", "application/x-votable+xml;version=1.4"),
        ("votable/td; Version=1.6", "application/x-votable+xml;serialization=TABLEDATA;version=1.6"),
        ("text/xml;content=mivot", "text/xml;content=mivot"),
        (
            "application/x-votable+xml;content=mivot;version=1.5;serialization=binary2",
            "application/x-votable+xml;serialization=BINARY2;content=mivot;version=1.5",
        ),
    ],
)
def test_parameters_of_the_media_type(asked: str, mime: str) -> None:
    found = find_format(asked)
    assert (found.mime, found.extension) == (mime, find_format(asked.partition(";")[0]).extension)
    assert found is find_format(mime)


@pytest.mark.parametrize(
    "asked", ["votable;version=1.3", "csv;version=1.4", "votable;version=1.4;version=1.5", "fits;content=mivot"]
)
def test_unknown_parameters_are_refused_with_the_known_ones(asked: str) -> None:
    with pytest.raises(UnknownFormatError, match=r"VOTables also take ;version=1\.4, .*;content=mivot$"):
        find_format(asked)
