"""Parquet as the VOParquet note 1.0 has it, for STILTS 3.4 has no ``parqlint``: read by astropy and our own reader."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from astropy.table import Table

from clickhouse_schema.datatypes import DOUBLE, LONG, UNICODE, CoordinateSystem, Field, TimeSystem
from tap_service.readers.parquet_reader import ParquetSource
from tests.tap_service.serializers.test_dialects import assert_valid

FIELDS = [
    Field("id", LONG, "", "meta.id;meta.main", description="Identifier"),
    Field("ra", DOUBLE, "deg", "pos.eq.ra;meta.main", coordinate_system=CoordinateSystem("ICRS", "J2016.0")),
    Field("mjd", DOUBLE, "d", "time.epoch", time_system=TimeSystem("TDB", "BARYCENTER", "MJD-origin")),
    Field("name", UNICODE, utype="x:y.z"),
]
COLUMNS = [[1], [2.5], [3.5], ["Åse"]]


def test_the_footer_has_the_notes_keys(write: Any) -> None:
    """The version, and a VOTable without data that has the columns in their order."""
    metadata = pq.read_metadata(io.BytesIO(write("parquet", FIELDS, COLUMNS))).metadata
    assert metadata[b"IVOA.VOTable-Parquet.version"] == b"1.0"
    document = metadata[b"IVOA.VOTable-Parquet.content"]
    assert b"<DATA>" not in document
    assert_valid(document)


def test_astropy_reads_units_and_descriptions(write: Any, tmp_path: Path) -> None:
    path = tmp_path / "result.parquet"
    path.write_bytes(write("parquet", FIELDS[:3], COLUMNS[:3]))  # astropy warns of texts without a length
    table = Table.read(path, format="parquet.votable")
    assert table.colnames == [field.name for field in FIELDS[:3]]
    assert (table["ra"].unit, table["id"].description, table["ra"][0]) == ("deg", "Identifier", 2.5)


def test_our_reader_has_every_field_back(write: Any, tmp_path: Path) -> None:
    path = tmp_path / "result.parquet"
    path.write_bytes(write("parquet", FIELDS, COLUMNS))
    read = ParquetSource(path).fields
    assert read == tuple(FIELDS)
    assert [(field.coordinate_system, field.time_system) for field in read] == [
        (field.coordinate_system, field.time_system) for field in FIELDS
    ]
