"""Tables with a column of every datatype and xtype, and rows of NULLs, NaN, infinities, bounds and odd texts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa

from clickhouse_schema.catalogue import Catalogue, TableEntry
from clickhouse_schema.schema_model import Column, Layout, Schema, Table
from clickhouse_schema.servers import Servers
from clickhouse_schema.shape_cover import cover_column, shape_column
from clickhouse_schema.table_ddl import create_table_sql
from tap_service.models.upload_parameter import UPLOAD_SCHEMA as UPLOADED
from tap_service.readers import shape_columns
from tap_service.storage.engine.engine import Engine
from tests.adql.storing import catalogue_of, store

_ID = Column(name="id", datatype="int", nullable=False)
_POSITION = (Column(name="ra", datatype="double", unit="deg"), Column(name="dec", datatype="double", unit="deg"))
_LAYOUT = Layout(position=("ra", "dec"), id=("id",))

KINDS = Table(
    name="kinds",
    columns=(
        _ID,
        *_POSITION,
        Column(name="b", datatype="byte"),
        Column(name="s", datatype="short"),
        Column(name="i", datatype="int"),
        Column(name="l", datatype="long"),
        Column(name="f", datatype="float", unit="mag"),
        Column(name="d", datatype="double", unit="mas"),
        Column(name="c", datatype="string"),
        Column(name="u", datatype="unicode"),
        Column(name="o", datatype="boolean"),
        Column(name="t", datatype="timestamp"),
        Column(name="p", datatype="double", arraysize="2", xtype="point"),
        Column(name="k", datatype="double", arraysize="3", xtype="circle"),
        Column(name="v", datatype="double", arraysize="*", xtype="polygon"),
        Column(name="r", datatype="string", xtype="adql:REGION"),
        Column(name="m", datatype="string", xtype="moc"),
        Column(name="span", datatype="double", arraysize="2", xtype="interval"),
        Column(name="a", datatype="double", arraysize="*"),
        Column(name="n", datatype="int", arraysize="3"),
    ),
    layout=_LAYOUT,
)
FEW = Table(name="few", columns=KINDS.columns[:13], layout=_LAYOUT)
NONE = Table(name="none", columns=(_ID, *_POSITION, KINDS.columns[8], KINDS.columns[10]), layout=_LAYOUT)
FUZZ = Schema(name="fuzz", tables=(KINDS, FEW, NONE))
UPLOAD = Table(name="mine", columns=FEW.columns, layout=Layout(position=("ra", "dec")))

_EVER = (datetime(1900, 1, 1, tzinfo=UTC), datetime(2020, 2, 29, 23, 59, 59, 999_999, tzinfo=UTC), datetime(2299, 12, 31, tzinfo=UTC))  # fmt: skip
_POOLS: dict[str, Sequence[Any]] = {
    "ra": (0.0, 10.0, 10.0001, 359.9999, 360.0, 180.0, 270.0, math.nan, None),
    "dec": (0.0, 20.0, 20.0001, 90.0, -90.0, -20.0, 89.9999, math.nan, -45.0, None),
    "b": (0, 1, 255, None),
    "s": (0, 1, -1, 32767, -32768, None),
    "i": (0, 1, -1, 2**31 - 1, -(2**31), None),
    "l": (0, 1, -1, 2**53 + 1, 2**63 - 1, -(2**63), None),
    "f": (0.0, 1.5, -1.5, math.nan, math.inf, 3e38, 1e-45, None),
    "d": (0.0, -0.0, 1.5, 5e-324, 1.7e308, -math.inf, math.nan, None),
    "c": ("", "a", "12", "10:20:30", "it's", "%_\\", None),
    "u": ("", "é", "\U0001f52d", "-5 30", "2020-01-01", " x ", None),
    "o": (True, False, None),
    "t": (*_EVER, None),
    "p": ([10.0, 20.0], [0.0, 90.0], [359.5, -0.5], []),
    "k": ([10.0, 20.0, 1.0], [0.0, -90.0, 180.0], [10.0, 20.0, 0.0], []),
    "v": ([9.0, 19.0, 11.0, 19.0, 10.0, 21.0], [350.0, -5.0, 10.0, -5.0, 10.0, 5.0, 350.0, 5.0], []),
    "r": ("Circle ICRS 10 20 1", "Union (Circle 0 0 1 Box 45 0 9 9)", "polygon 9 19 11 19 10 21", None),
    "m": ("4/100-120", "0/0-11", "29/1", None),
    "span": ([0.0, 1.0], [-1e300, 1e300], []),
    "a": ([1.0, 2.0], [math.nan], [0.0] * 40, []),
    "n": ([1, 2, 3], [2**31 - 1, -(2**31), 0], []),
}
_SIZES = {"kinds": 60, "few": 12, "none": 0, "mine": 7}


def _batches(table: Table) -> list[pa.RecordBatch]:
    """Pools of lengths that have few factors in common meet in ever other pairs."""
    size = _SIZES[table.name]
    arrays: dict[str, pa.Array] = {"id": pa.array(range(size), pa.int32())}
    for number, column in enumerate(table.columns[1:]):
        pool = _POOLS[column.name]
        values = [pool[(i + number + i // len(pool) * (number % 3)) % len(pool)] for i in range(size)]
        arrays[column.name] = pa.array(values, column.type.arrow)
        if column.type.is_text and column.type.is_geometry:
            shape, cover, bad = shape_columns.read_regions(column.type, arrays[column.name])
            assert not bad
            arrays |= {shape_column(column.name): shape, cover_column(column.name): cover}
    return pa.table(arrays).to_batches() if size else []


def fuzz_catalogues(engine: Engine) -> tuple[Catalogue, Catalogue]:
    """The tables in the engine, with an upload; as nobody has counted them, and as if all but one were large."""
    engine.execute("CREATE DATABASE IF NOT EXISTS fuzz")
    for table in FUZZ.tables:
        store(engine, "fuzz", table, _batches(table))
    servers = Servers(engine)  # an upload is on the server that is asked, here any of them
    servers.execute_everywhere("DROP TABLE IF EXISTS fuzz.mine SYNC", create_table_sql(UPLOAD, "fuzz.mine"))
    servers.insert_batches("fuzz.mine", _batches(UPLOAD))
    upload = TableEntry(Schema(name=UPLOADED, tables=(UPLOAD,)), UPLOAD, rows=7, stored_sql="`fuzz`.`mine`")
    plain = catalogue_of(engine, FUZZ)
    counts = {("fuzz", "kinds"): 50_000_000, ("fuzz", "few"): 12, ("fuzz", "none"): 30_000_000}
    sized = replace(plain, counts=counts, local_densities=dict.fromkeys(counts, 1000.0))
    return plain.add_entries((upload,)), sized.add_entries((upload,))
