"""docs/formats.md agrees with the code."""

from __future__ import annotations

import io
import re
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from astropy.io import fits

from clickhouse_schema.column_links import InputParam, Link, PlacedLink, PlacedService, ResultLinks, Service
from clickhouse_schema.datatypes import CHAR, FLOAT, POINT, SCALARS, TEXT, TIMESTAMP, UNICODE, ColumnType, Field, Scalar
from tap_service.serializers import FORMATS, ResultInfo, overflow_status
from tests.support.environment import ROOT
from tests.tap_service.serializers.values import ALL, LOSSES

PAGE = (ROOT / "docs" / "formats.md").read_text()
#: cells of the lines of all tables, without the marks of code
ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in PAGE.splitlines() if line.startswith("|")]


def names(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def test_all_formats_are_listed() -> None:
    said = [(tuple(names(row[0])), *names(row[1]), *names(row[2])) for row in ROWS if len(row) == 4 and "/" in row[1]]
    assert said == [(entry.aliases, entry.mime, f".{entry.extension}") for entry in FORMATS]


def test_all_types_are_listed() -> None:
    for scalar in SCALARS.values():
        row = (scalar.votable, scalar.clickhouse, str(scalar.arrow), scalar.fits, scalar.parquet, scalar.ecsv)
        assert [f"`{cell}`" for cell in row] in ROWS
    timestamp = [row for row in ROWS if "xtype `timestamp`" in row[0]]
    assert [names(cell) for cell in timestamp[0][1:3]] == [[TIMESTAMP.clickhouse], [str(TIMESTAMP.arrow)]]


@pytest.mark.parametrize("scalar", SCALARS.values(), ids=lambda scalar: scalar.votable)
def test_types_are_written_as_in_the_table(write: Any, scalar: Scalar) -> None:
    fields = [Field("x", ColumnType(scalar.votable, "*" if scalar.votable in TEXT else ""))]
    column = pq.ParquetFile(io.BytesIO(write("parquet", fields, [[]]))).schema.column(0)
    logical = {"NONE": "", "UTF8": " STRING"}.get(column.converted_type, f" {column.converted_type}")
    assert column.physical_type + logical == scalar.parquet
    arrow = pa.ipc.open_stream(write("arrow", fields, [[]])).schema.field(0).type
    assert (arrow.value_type if fields[0].type.is_complex else arrow) == scalar.arrow
    with fits.open(io.BytesIO(write("fits", fields, [[]]))) as hdus:
        assert hdus[1].columns["x"].format.lstrip("1") == scalar.fits
    key, shape = ("subtype", "[2]") if fields[0].type.is_complex else ("datatype", "")
    assert f'{key}: "{scalar.ecsv}{shape}"' in write("ecsv", fields, [[]]).decode()


@pytest.mark.parametrize("form", ALL)
def test_losses_of_formats_are_listed(form: str) -> None:
    [said] = [row[1] for row in ROWS if len(row) == 2 and form in names(row[0])]
    losses = [loss.said for loss in LOSSES if form in loss.formats and loss.said]
    assert [loss for loss in losses if loss not in said] == []
    assert losses or said.startswith("nothing")


def test_the_service_descriptor_is_up_to_date(write: Any) -> None:
    link = Link(href="https://archive.example.org/page?id=${did}", content_role="doc")
    service = Service(
        name="links",
        standard_id="ivo://ivoa.net/std/DataLink#links-1.1",
        access_url="https://archive.example.org/links",
        input_params=(InputParam(name="ID", ref="did"),),
    )
    indexes = {"did": 0}
    info = ResultInfo(links=ResultLinks((PlacedLink(0, link, indexes),), (PlacedService(service, indexes),)))
    document = write("votable", [Field("did", CHAR)], [[]], info=info).decode()
    [sample] = re.findall(r"```xml\n(.*?)```", PAGE, re.DOTALL)
    field, descriptor = sample.split("\n", 1)
    assert field in document.splitlines()
    assert descriptor in document


def test_the_json_is_up_to_date(write: Any) -> None:
    fields = [
        Field("name", UNICODE),
        Field("mag", FLOAT, "mag", "phot.mag", description="Magnitude"),
        Field("position", POINT, "deg"),
    ]
    columns = [["Vega", None], [0.03, float("nan")], [[279.23, 38.78], None]]
    info = ResultInfo("SELECT TOP 3 name, mag, position FROM stars", "Skyhouse", 2)
    cut = overflow_status(2, "Ask for more with MAXREC, up to 10000000.")
    [sample] = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    assert write("json", fields, columns, status=cut, info=info).decode() == sample
