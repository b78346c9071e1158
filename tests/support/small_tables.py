"""Small tables with NULLs, duplicates and awkward values."""

from __future__ import annotations

from datetime import UTC, datetime

import pyarrow as pa

from clickhouse_schema.schema_model import Column, Layout, Schema, Table
from tests.support.adql_rows import Rows

STARS = Table(
    name="stars",
    columns=(
        Column(name="id", datatype="int", nullable=False, unit="", ucd="meta.id;meta.main"),
        Column(name="name", datatype="unicode"),
        Column(name="mag", datatype="float", unit="mag", ucd="phot.mag;em.opt.V"),
        Column(name="parallax", datatype="double", unit="mas"),
        Column(name="n_obs", datatype="short"),
        Column(name="big", datatype="long"),
        Column(name="variable", datatype="boolean"),
        Column(name="Mixed Case", datatype="int"),
    ),
    layout=Layout(id=("id",)),
)

SPECTRA = Table(
    name="spectra",
    columns=(
        Column(name="id", datatype="int", nullable=False),
        Column(name="star", datatype="int"),
        Column(name="flux", datatype="double"),
        Column(name="name", datatype="unicode"),
    ),
    layout=Layout(id=("id",)),
)

VISITS = Table(
    name="visits",
    columns=(
        Column(name="id", datatype="int", nullable=False),
        Column(name="star", datatype="int"),
        Column(name="begun", datatype="timestamp"),
        Column(name="ended", datatype="timestamp"),
    ),
    layout=Layout(id=("id",)),
)

SMALL = Schema(name="small", tables=(STARS, SPECTRA, VISITS))

_STAR_ROWS: Rows = [
    (1, "alpha", 1.5, 10.0, 3, 9_000_000_000, True, 1),
    (2, "Beta", 2.5, None, None, -9_000_000_000, False, 2),
    (3, None, None, 0.5, 0, 9_223_372_036_854_775_807, None, 3),
    (4, "alpha", 1.5, -3.25, -7, 0, True, None),
    (5, "Éta_é", 12.25, 1e10, 32767, None, False, 5),
    (6, "100%", 0.0, 7.0, 2, 1, None, 6),
    (7, "back\\slash", -1.25, 7.0, -1, 2, True, 7),
    (8, "", 4.0, None, 10, 3, False, 8),
    (9, "it's", 9.0, 2.5, 5, 4, None, 9),
]

_SPECTRUM_ROWS: Rows = [
    (1, 1, 0.5, "a"),
    (2, 1, 1.5, "b"),
    (3, 2, None, "Beta"),
    (4, None, 7.0, None),
    (5, 4, 7.0, "alpha"),
    (6, 99, -1.0, "none"),
    (7, 9, 2.5, "it's"),
    (8, 5, -0.0, None),
    (9, None, 0.0, ""),
]

_NEW_YEAR = datetime(2020, 1, 1, tzinfo=UTC)

_LATER = datetime(2020, 1, 1, 12, 30, 0, 500_000, tzinfo=UTC)

_VISIT_ROWS: Rows = [
    (1, 1, _NEW_YEAR, _LATER),
    (2, 1, _LATER, None),
    (3, 2, _NEW_YEAR, _NEW_YEAR),
    (4, None, None, _LATER),
    (5, 9, datetime(1969, 7, 20, 20, 17, 40, tzinfo=UTC), _NEW_YEAR),
    (6, 4, datetime(2019, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC), None),
]


def _arrow(table: Table, rows: Rows) -> pa.RecordBatch:
    schema = pa.schema([(c.name, c.type.arrow) for c in table.columns])
    return pa.RecordBatch.from_arrays(
        [pa.array([r[i] for r in rows], f.type) for i, f in enumerate(schema)], schema=schema
    )


#: the small tables with their rows
CONTENT = tuple(
    (table, _arrow(table, rows))
    for table, rows in ((STARS, _STAR_ROWS), (SPECTRA, _SPECTRUM_ROWS), (VISITS, _VISIT_ROWS))
)
