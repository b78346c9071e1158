"""Parquet as in the VOParquet note 1.0, read by astropy and our reader, since STILTS 3.4 has no ``parqlint``."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from astropy.table import Table
from astropy.utils.exceptions import AstropyUserWarning

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
    assert_valid(document, "1.5")


def test_astropy_reads_numbers_and_texts(write: Any, tmp_path: Path) -> None:
    """astropy 8.0 can read numbers, and texts that have a maximum length and are not NULL."""
    code = Field("code", replace(UNICODE, arraysize="9*"), ucd="meta.code", description="Class")
    fields = [*FIELDS[:3], Field("magnitude", DOUBLE, "mag"), code]
    path = tmp_path / "result.parquet"
    path.write_bytes(write("parquet", fields, [[1, 2], [2.5, 0], [3.5, 4], [12.5, None], ["Åse", ""]]))
    with pytest.warns(AstropyUserWarning, match="longest string"):  # of each column of texts
        table = Table.read(path, format="parquet.votable")
    assert table.colnames == [field.name for field in fields]
    assert (table["ra"].unit, table["id"].description, table["code"].description) == ("deg", "Identifier", "Class")
    assert [list(table[name]) for name in ("id", "ra", "code")] == [[1, 2], [2.5, 0], ["Åse", ""]]
    assert np.isnan(table["magnitude"]).tolist() == [False, True]


def test_our_reader_has_every_field_back(write: Any, tmp_path: Path) -> None:
    path = tmp_path / "result.parquet"
    path.write_bytes(write("parquet", FIELDS, COLUMNS))
    read = ParquetSource(path).fields
    assert read == tuple(FIELDS)
    assert [(field.coordinate_system, field.time_system) for field in read] == [
        (field.coordinate_system, field.time_system) for field in FIELDS
    ]
