"""The coverage of tables in space and time, as in their records."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from adql.regions import Moc
from clickhouse_schema.catalogue import TableEntry
from clickhouse_schema.schema_model import Schema, Table
from clickhouse_schema.table_ddl import create_table_sql
from tap_service.documents.registry_records import Coverage
from tap_service.services.registry.table_coverage import format_moc, join_coverages, read_times
from tap_service.storage.engine.embedded_engine import EmbeddedEngine


@pytest.fixture(scope="module")
def database(svc_engine: EmbeddedEngine) -> Iterator[EmbeddedEngine]:
    svc_engine.execute("CREATE DATABASE times")
    yield svc_engine
    svc_engine.execute("DROP DATABASE times")


def make_table(engine: EmbeddedEngine, name: str, times: list[str], years: bool, column: dict[str, Any]) -> TableEntry:
    table = Table.model_validate(
        {
            "name": name,
            "columns": ({"name": "id", "datatype": "long", "nullable": False}, {"name": "t t", **column}),
            "skyhouse:layout": {"id": ("id",), "time": "t t", "years": years},
        }
    )
    engine.execute(create_table_sql(table, f"`times`.`{name}`"))
    engine.execute(f"INSERT INTO times.{name} (id, `t t`) VALUES " + ", ".join(f"(1, {value})" for value in times))
    return TableEntry(Schema(name="times", tables=(table,)), table, rows=len(times))


MJD = {"timescale": "TAI", "refposition": "TOPOCENTER", "timeorigin": "MJD-origin"}


def test_times_of_any_kind_are_mjds(database: EmbeddedEngine) -> None:
    tables = {
        "stamps": (["'2000-01-01 12:00:00'", "NULL", "'1999-12-31 00:00:00'"], {"datatype": "timestamp"}),
        "days": (
            ["51544.5", "NULL", "51543", "nan", "inf"],
            {"datatype": "double", "ivoa:unit": "d", "skyhouse:timesys": MJD},
        ),
        "seconds": (
            ["43200.0", "-86400.0"],
            {
                "datatype": "double",
                "nullable": False,
                "ivoa:unit": "s",
                "skyhouse:timesys": {**MJD, "timeorigin": 2451544.5},
            },
        ),
    }
    for name, (times, column) in tables.items():
        for years in (False, True):
            entry = make_table(database, f"{name}_{int(years)}", times, years, column)
            assert read_times(database, entry) == pytest.approx((51543, 51544.5), abs=1e-6), name


def test_large_tables_say_what_their_parts_know(database: EmbeddedEngine) -> None:
    """No row of a large table is read: without years, or with a NaN among the years, the times stay unknown."""
    stamps = ["'2000-01-01 12:00:00'", "NULL", "'1999-12-31 00:00:00'"]
    days: dict[str, Any] = {"datatype": "double", "ivoa:unit": "d", "skyhouse:timesys": MJD}
    in_years = make_table(database, "large_1", stamps, True, {"datatype": "timestamp"})
    whole = make_table(database, "large_0", stamps, False, {"datatype": "timestamp"})
    unlimited = make_table(database, "large_days", ["51543", "inf"], True, days)
    found = [read_times(database, replace(entry, rows=10**12)) for entry in (in_years, whole, unlimited)]
    assert found == [pytest.approx((51543, 51544.5), abs=1e-6), None, None]
    assert read_times(database, replace(in_years, rows=None)) == found[0]


def test_times_that_nobody_explains_are_not_told(database: EmbeddedEngine) -> None:
    bare = make_table(database, "bare", ["1"], False, {"datatype": "double"})
    empty = make_table(database, "empty", ["NULL"], False, {"datatype": "timestamp"})
    assert read_times(database, bare) is None
    assert read_times(database, empty) is None


def test_coverages_are_joined() -> None:
    first, second = Moc.parse_ascii("2/0-3"), Moc.parse_ascii("2/8")
    joined = join_coverages([(first, (50000.001, 50001)), (second, None), (second, (49999.999, 50000))])
    assert joined == Coverage("1/0 2/8", (49999.99, 50001.0))
    assert join_coverages([]) == Coverage("")


def test_a_long_moc_becomes_coarser_around_itself() -> None:
    cells = np.random.default_rng(5).choice(12 * 4**6, 4000, replace=False).tolist()
    fine = Moc.from_cells([(6, cells)])
    text = format_moc(fine, 2000)
    assert 0 < len(text) <= 2000 < len(str(fine))
    coarse = Moc.parse_ascii(text)
    assert str(coarse.union(fine)) == str(coarse)
    assert format_moc(fine, 10**6) == str(fine)
