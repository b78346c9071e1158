"""VOTable 1.4, 1.5 and 1.6: validated by the schema of 1.5 and by votlint, read by astropy, STILTS and our own reader."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from astropy.io.votable import parse
from lxml import etree

from clickhouse_schema.datatypes import DOUBLE, UNICODE, ColumnType, CoordinateSystem, Field, TimeSystem
from tap_service.documents.error_document import error_document
from tap_service.readers.votable_reader import VotableSource
from tap_service.serializers import UnknownFormatError, find_format, votable_dialect
from tests.tap_service.serializers.test_stilts import COLUMNS, FIELDS, stilts

SCHEMA = Path(__file__).parents[2] / "schemas" / "VOTable-1.5.xsd"
SYSTEMS = [
    Field("ra", DOUBLE, "deg", coordinate_system=CoordinateSystem("ICRS", "J2016.0", refposition="BARYCENTER")),
    Field("l", DOUBLE, "deg", coordinate_system=CoordinateSystem("GALACTIC")),
    Field("lon", DOUBLE, "deg", coordinate_system=CoordinateSystem("BODY", refposition="GEOCENTER")),
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


def assert_valid(document: bytes) -> None:
    etree.XMLSchema(etree.parse(SCHEMA)).assertValid(etree.fromstring(document))


@pytest.mark.parametrize("responseformat", [*VOTABLES, "votable/td;version=1.4", "votable/td;content=mivot"])
def test_documents_are_valid(write: Any, responseformat: str) -> None:
    assert_valid(write(responseformat, [*FIELDS, *SYSTEMS], [*COLUMNS, *[[1.5, None]] * len(SYSTEMS)]))


def test_error_document_is_valid() -> None:
    assert_valid(error_document("no such table", "SELECT 1"))


def test_the_default_is_1_5(write: Any) -> None:
    versions = [parse(io.BytesIO(write(name, TEXTS[:2], VALUES[:2]))).version for name in (*VOTABLES, "text/xml")]
    assert versions == ["1.5"] * 4


def test_the_operator_may_prefer_another(write: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(votable_dialect, "_default_version", "1.5")  # restored after the test
    votable_dialect.set_default_version("1.4")
    documents = [write("votable", SYSTEMS, [[]] * len(SYSTEMS)), error_document("no such table")]
    asked = write("votable;version=1.5", SYSTEMS, [[]] * len(SYSTEMS))
    assert [b'<VOTABLE version="1.4"' in each for each in (*documents, asked)] == [True, True, False]


def test_1_4_has_the_former_names_of_frames(write: Any, tmp_path: Path) -> None:
    """A frame without one is left out, for COOSYS of 1.4 without a frame means FK5."""
    document = write("votable;version=1.4", SYSTEMS, [[1.5]] * len(SYSTEMS))
    votable = parse(io.BytesIO(document))
    systems = [(each.system, each.epoch) for each in votable.resources[0].coordinate_systems]
    assert (votable.version, systems) == ("1.4", [("ICRS", "J2016.0"), ("galactic", None)])
    assert b"refposition" not in document.replace(b'refposition="BARYCENTER" timeorigin', b"").replace(
        b'timescale="TDB" refposition="BARYCENTER"', b""
    )
    path = tmp_path / "result.vot"
    path.write_bytes(document)
    assert stilts("votlint", str(path)) == ""


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
def test_unknown_parameters_are_told_with_the_known(asked: str) -> None:
    with pytest.raises(UnknownFormatError, match=r"VOTables also take ;version=1\.4, .*;content=mivot$"):
        find_format(asked)
