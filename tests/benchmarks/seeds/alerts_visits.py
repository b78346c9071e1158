"""Visits of the alert database: 189 CCDs in a field of 3.5 degrees, and the reads for each."""

from __future__ import annotations

import math
import random
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adql.regions.unit_vectors import position_to_vector
from tests.benchmarks.light_client import LightClient
from tests.benchmarks.seeds import alerts_tables
from tests.benchmarks.seeds.seed_service import SeedService
from tests.benchmarks.seeds.seed_workload import Question, Size

#: 15 by 15 CCDs without three by three in each corner
_SIDE, _CORNER = 15, 3
_FIELD_DEGREES = 3.5
CCD_DEGREES = _FIELD_DEGREES / _SIDE
#: Degrees around a CCD in which objects are read too
PADDING = 52 / 3600

_CLIENTS = 8
_VISITS = {"S": 1, "M": 3, "F": 6}
#: Years of history after which visits are read
_HISTORIES = {"S": (0.1,), "M": (0.1, 0.5, 1, 2, 3, 4), "F": (0.1, 0.5, 1, 2, 5, 10)}
_CCDS = {"S": 2, "M": 189, "F": 189}

_RECENT = {
    "alerts.dia_object_last": "",
    "alerts.dia_source": "midpointMjdTai",
    "alerts.dia_forced_source": "midpointMjdTai",
}

Corners = NDArray[np.float64]


def draw_visit(draw: random.Random, size: Size) -> list[Corners]:
    """Return the corners of the padded CCDs of a visit, longitudes and latitudes, shape (4, 2) each.

    The field lies anywhere within the patch, in any rotation.
    """
    room = max(0.0, alerts_tables.PATCH_SIDES[size] - _FIELD_DEGREES) / 2
    ra = alerts_tables.PATCH_WEST + alerts_tables.PATCH_SIDES[size] / 2 + draw.uniform(-room, room)
    dec = draw.uniform(-room, room)
    turn = draw.uniform(0, 2 * math.pi)
    ccds = list_ccds(ra, dec, turn)
    return ccds if size != "S" else ccds[len(ccds) // 2 :][: _CCDS[size]]


def list_ccds(ra: float, dec: float, turn: float) -> list[Corners]:
    """Return the corners of the padded CCDs of a field, ``turn`` in radians."""
    ccds = [
        (x, y) for x in range(_SIDE) for y in range(_SIDE) if not (_is_corner(x) and _is_corner(y))
    ]  # in the order of the readout
    return [_find_corners(ra, dec, turn, x - (_SIDE - 1) / 2, y - (_SIDE - 1) / 2) for x, y in ccds]


def _is_corner(coordinate: int) -> bool:
    return coordinate < _CORNER or coordinate >= _SIDE - _CORNER


def _find_corners(ra: float, dec: float, turn: float, x: float, y: float) -> Corners:
    half = 0.5 + PADDING / CCD_DEGREES
    offsets = np.array([(x + i * half, y + j * half) for i, j in ((-1, -1), (1, -1), (1, 1), (-1, 1))]) * CCD_DEGREES
    cos, sin = math.cos(turn), math.sin(turn)
    east, north = (offsets @ np.array([[cos, sin], [-sin, cos]])).T
    latitudes = dec + north
    return np.column_stack([(ra + east / np.cos(np.radians(latitudes))) % 360, latitudes])


def ask_ccd(table: str, corners: Corners, since: float) -> Question:
    """Return a query for all columns of the rows of a table in a CCD, of the last twelve months."""
    polygon = ", ".join(f"{coordinate:.7f}" for coordinate in corners.ravel())
    recent = f" AND {_RECENT[table]} > {since:.4f}" if _RECENT[table] else ""
    adql = f"SELECT * FROM {table} WHERE 1 = CONTAINS(POINT(ra, dec), POLYGON({polygon})){recent}"
    inside = " AND ".join(_sides_sql(corners))
    return Question(adql, f"SELECT * FROM {table} WHERE {inside}{recent}")


def _sides_sql(corners: Corners) -> list[str]:
    """Return conditions in SQL: on the inner side of each great circle."""
    vectors = np.array([position_to_vector(*np.round(corner, 7)) for corner in corners])
    middle = vectors.sum(axis=0)
    normals = [np.cross(one, other) for one, other in zip(vectors, np.roll(vectors, -1, axis=0), strict=True)]
    oriented = [normal * np.sign(normal @ middle) for normal in normals]
    return [
        f"{x!r} * cos(radians(dec)) * cos(radians(ra)) + {y!r} * cos(radians(dec)) * sin(radians(ra)) + {z!r} * sin(radians(dec)) >= 0"
        for x, y, z in (map(float, normal) for normal in oriented)
    ]


def ask_random_ccd(table: str) -> Any:
    def ask(draw: random.Random, size: Size) -> Question:
        return ask_ccd(table, draw.choice(draw_visit(draw, size)), find_now(size) - 365)

    return ask


def find_now(size: Size, years: float | None = None) -> float:
    """Return the time after this number of years, or at the end of all rows."""
    tenths = alerts_tables.SOURCE.batches[size] if years is None else round(years * alerts_tables.BATCHES_A_YEAR)
    return alerts_tables.find_mjd(alerts_tables.list_epochs(tenths - 1).stop)


# --- measures ---------------------------------------------------------------------------------------------------------


def read_visits(service: SeedService, size: Size) -> list[dict[str, Any]]:
    """Read visits after a growing history: eight clients, each a CCD at a time, all columns to Arrow.

    Each history is read right after the additions, and an hour later, when no merges run.
    """
    tables = (alerts_tables.OBJECT_LAST, alerts_tables.SOURCE, alerts_tables.FORCED_SOURCE)
    rows = []
    for years in _HISTORIES[size]:
        for table in tables:
            service.load_table(table, round(years * alerts_tables.BATCHES_A_YEAR))
        service.wait_for_merges()
        rows.append(_measure_visits(service, size, years, f"reads of a visit, {years:g} years"))
        service.merge_partitions(tables)
        rows.append(_measure_visits(service, size, years, f"reads of a visit at rest, {years:g} years"))
    return rows


def _measure_visits(service: SeedService, size: Size, years: float, measure: str) -> dict[str, Any]:
    now = find_now(size, years)
    draw = random.Random(2)
    _read_visit(service, draw_visit(draw, size), now)
    with service.measure_work() as work:
        seconds = [second for _ in range(_VISITS[size]) for second in _read_visit(service, draw_visit(draw, size), now)]
    figures = {name: value / _VISITS[size] for name, value in work.as_figures().items() if name != "load"}
    return {
        "measure": measure,
        **figures,
        "load": work.load,
        "figure": work.wall / _VISITS[size],
        "p95 of a CCD": float(np.quantile(seconds, 0.95)),
        "aim": 25.0 if years == 1 else None,
    }


def _read_visit(service: SeedService, ccds: list[Corners], now: float) -> list[float]:
    """Return the seconds of each CCD."""
    waiting = iter(ccds)

    def read_ccds(number: int) -> list[float]:
        client = LightClient(service.service.port, f"127.0.1.{number + 1}")
        seconds = []
        for corners in waiting:
            began = time.perf_counter()
            for table in _RECENT:
                question = ask_ccd(table, corners, now - 365).adql
                status, _ = client.ask(question, RESPONSEFORMAT="arrow", MAXREC="2000000000")
                if status != 200:
                    raise RuntimeError(f"status {status}: {question}")
            seconds.append(time.perf_counter() - began)
        client.close()
        return seconds

    with ThreadPoolExecutor(_CLIENTS) as threads:
        return [second for part in threads.map(read_ccds, range(_CLIENTS)) for second in part]
