"""Queries that need no estimate: they read few rows, and the row limit does not cut them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from adql import translate
from adql.regions import Moc
from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.healpix import ORDER
from tap_service.models.engine_share import Lane, choose_share
from tap_service.models.work_class import SmallReading
from tap_service.services.estimates.estimator import Estimator
from tap_service.services.estimates.row_density import find_covered_parts
from tap_service.services.estimates.table_sizes import TableSize
from tap_service.storage.engine.embedded_engine import EmbeddedEngine


class Rates:
    def read_rates(self) -> dict[str, float]:
        return {}

    def set_rate(self, kind: str, seconds_per_gigabyte: float) -> None:
        raise AssertionError


@pytest.fixture
def find(demo_engine: EmbeddedEngine, demo_catalogue: Catalogue) -> Callable[[str], SmallReading | None]:
    estimator = Estimator(demo_engine, Rates())
    return lambda query: estimator.find_small_reading(translate(query, demo_catalogue, limit=100_001), 1)


CONE = "1 = CONTAINS(POINT(ra, dec), CIRCLE(56.75, 24.12, 1))"


@pytest.mark.parametrize(
    "query",
    [
        f"SELECT * FROM tycho2.bright WHERE {CONE}",
        f"SELECT COUNT(*) AS n FROM tycho2.bright WHERE {CONE} AND vt_mag < 9",
        "SELECT TOP 10 * FROM tycho2.bright",
        "SELECT * FROM openngc.objects WHERE name = 'NGC0224'",
    ],
)
def test_small(
    query: str, find: Callable[[str], SmallReading | None], demo_engine: EmbeddedEngine, demo_catalogue: Catalogue
) -> None:
    """The estimated rows to read are at least the rows of the result."""
    expected = find(query)
    assert expected is not None
    result = demo_engine.fetch_table(
        (translation := translate(query, demo_catalogue)).sql, settings=translation.settings
    )
    assert expected.rows >= result.num_rows


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM tycho2.bright AS a JOIN tycho2.bright AS b ON a.vt_mag = b.vt_mag",
        "SELECT TOP 1 * FROM tycho2.bright, openngc.objects AS o WHERE o.name = 'NGC0224'",
    ],
)
def test_joins_need_an_estimate(query: str, find: Callable[[str], SmallReading | None]) -> None:
    assert find(query) is None


@pytest.mark.parametrize(
    ("query", "left_out"),
    [
        (f"SELECT * FROM tycho2.bright WHERE {CONE}", {"optimize_use_projections", "query_plan_remove_unused_columns"}),
        ("SELECT * FROM openngc.objects WHERE name = 'NGC0224'", {"query_plan_remove_unused_columns"}),
        (f"SELECT * FROM openngc.objects WHERE {CONE} AND name = 'NGC0224'", {"query_plan_remove_unused_columns"}),
    ],
)
def test_plans_of_small_queries(query: str, left_out: set[str], find: Callable[[str], SmallReading | None]) -> None:
    """The engine looks for a projection only in look-ups by id."""
    reading = find(query)
    assert reading is not None
    settings = dict(choose_share(Lane.LIGHT, reading).list_settings())
    assert {name for name, value in settings.items() if value == 0} == left_out
    assert settings["max_threads"] == 1


def test_rows_in_cells() -> None:
    """The sum of the rows at the borders equals the sum of the covered parts of all cells."""
    draw = np.random.default_rng(3)
    size = TableSize(2, np.append(draw.integers(0, 1000, 192), 7), {})
    for number in range(1, 40):
        starts = draw.integers(0, 12 * 4**ORDER, number)
        cells = Moc.from_ranges([(int(start), int(min(start + 4**27 // number, 12 * 4**ORDER))) for start in starts])
        expected = (find_covered_parts(2, cells) * size.cell_rows).sum()
        assert size.count_in_cells(cells) == pytest.approx(expected, rel=1e-9, abs=1e-6)
    assert size.count_in_cells(Moc.from_ranges([(0, 12 * 4**ORDER)])) == size.total - 7
    assert size.count_in_cells(Moc.from_ranges([])) == 0
