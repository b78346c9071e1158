"""The writes of the alert database: a visit, a night, and corrections of stored rows."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from tests.benchmarks.seeds import alerts_tables
from tests.benchmarks.seeds.alerts_tables import DIA_OBJECT, FORCED_SOURCE, OBJECT_LAST, SOURCE
from tests.benchmarks.seeds.alerts_visits import ask_ccd, draw_visit, find_now
from tests.benchmarks.seeds.seed_service import SeedService
from tests.benchmarks.seeds.seed_workload import SeedTable, Size

#: Degrees: a visit's field
_FIELD_RADIUS = 1.75
_VISITS = {"S": 1, "M": 5, "F": 10}
#: Tenths of a year that are appended at once: a night of 1,000 visits is 15 M sources, 34 of them
_NIGHT_BATCHES = {"S": 1, "M": 4, "F": 34}
_CORRECTIONS = {"S": 1_000, "M": 1_000_000, "F": 1_000_000}
#: The latest versions of the objects
_LATEST = "alerts.dia_object_latest"
_LOOK_UPS = {"S": 5, "M": 100, "F": 100}


def store_visits(service: SeedService, size: Size) -> list[dict[str, Any]]:
    """Store the rows of visits, each in all tables, until queries see them; read CCDs before and after."""
    first = alerts_tables.list_epochs(SOURCE.batches[size]).start
    before = _read_ccds(service, size)
    seconds = []
    rows = 0
    for epoch in range(first, first + _VISITS[size]):
        files = [(table, _write_visit(service, table, size, epoch)) for table in (SOURCE, FORCED_SOURCE, DIA_OBJECT)]
        rows = sum(pq.read_metadata(path).num_rows for _, path in files)
        began = time.perf_counter()
        for table, path in files:
            service.append_files(table, [path])
        while not _has_visit(service, epoch):
            time.sleep(0.05)
        seconds.append(time.perf_counter() - began)
    after = _read_ccds(service, size)
    return [
        {"measure": "a visit stored and visible", "what": f"{rows:,} rows, and the latest versions", "figure": float(np.median(seconds)), "aim": 10.0, "longest": max(seconds)},
        {"measure": "reads of a CCD after it / before", "figure": after / before, "aim": 1.2, "is_ratio": True},
    ]  # fmt: skip


def _has_visit(service: SeedService, epoch: int) -> bool:
    queries = [f"SELECT COUNT(*) AS n FROM {table.name} WHERE visit = {epoch}" for table in (SOURCE, FORCED_SOURCE)]
    begun = f"validityStartMjdTai > {alerts_tables.find_mjd(epoch) - 0.01}"
    queries += [f"SELECT COUNT(*) AS n FROM {table} WHERE {begun}" for table in (DIA_OBJECT.name, _LATEST)]
    return all(int(service.fetch_text(query).split()[1]) > 0 for query in queries)


def _write_visit(service: SeedService, table: SeedTable, size: Size, epoch: int) -> Any:
    """Write the rows of one visit to the middle of the patch: the rows of its field."""
    side = alerts_tables.PATCH_SIDES[size]
    rows = alerts_tables.make_epoch(table, size, epoch)
    lon = pc.subtract(rows["ra"], alerts_tables.PATCH_WEST + side / 2).to_numpy()
    near = np.hypot(lon, rows["dec"].to_numpy()) < min(_FIELD_RADIUS, side / 3)
    path = service.folder / "files" / f"visit-{table.name}-{epoch}.parquet"
    pq.write_table(rows.filter(pa.array(near)), path)
    return path


def _read_ccds(service: SeedService, size: Size) -> float:
    """Return the median seconds of reading a CCD."""
    draw, now = random.Random(3), find_now(size)
    ccds = [corners for _ in range(2) for corners in draw_visit(draw, size)][: _LOOK_UPS[size]]
    seconds = []
    for corners in ccds:
        began = time.perf_counter()
        for table in (OBJECT_LAST.name, SOURCE.name, FORCED_SOURCE.name):
            service.run_query(ask_ccd(table, corners, now - 365).adql, "arrow")
        seconds.append(time.perf_counter() - began)
    return float(np.median(seconds))


def append_night(service: SeedService, size: Size) -> list[dict[str, Any]]:
    """Append many visits of sources and forced sources at once."""
    first = SOURCE.batches[size] + 1
    figures = []
    for table in (SOURCE, FORCED_SOURCE):
        files = [service.write_batch(table, number) for number in range(first, first + _NIGHT_BATCHES[size])]
        rows = sum(pq.read_metadata(path).num_rows for path in files)
        with service.measure_work() as work:
            service.append_files(table, files)
        for path in files:
            path.unlink()
        aim = {SOURCE.name: 15e6, FORCED_SOURCE.name: 67e6}[table.name]
        figures.append(
            {
                "measure": f"a night of {table.name}",
                "what": f"{rows:,} rows as one addition",
                **work.as_figures(),
                "figure": work.wall,
                "aim": round(600 * rows / aim, 1),
            }
        )
    return figures


def correct_sources(service: SeedService, size: Size) -> list[dict[str, Any]]:
    """Reassign objects of stored sources and set times of withdrawal; look-ups by id before and after."""
    ids = _list_ids(service, size)
    before = _look_up(service, ids, size)
    draw = np.random.default_rng(9)
    rows = {
        "diaSourceId": ids,
        "diaObjectId": draw.integers(1, 1 << 30, len(ids)),
        "timeWithdrawnMjdTai": draw.uniform(60_000, 61_000, len(ids)),
    }
    path = service.folder / "files" / "corrections.parquet"
    pq.write_table(pa.table(rows), path)
    with service.measure_work() as work:
        service.service.run_command(["update", SOURCE.name, str(path), "--max-errors", "0"])
    _check_correction(service, int(ids[0]), int(rows["diaObjectId"][0]))
    after = _look_up(service, ids, size)
    return [
        {"measure": "corrections", "what": f"{len(ids):,} sources", **work.as_figures(), "figure": work.wall, "aim": 60.0},
        {"measure": "look-ups by id after corrections / before", "figure": after / before, "aim": 1.1, "is_ratio": True},
    ]  # fmt: skip


def _list_ids(service: SeedService, size: Size) -> np.ndarray:
    """Return ids of stored sources, all over the table's years."""
    found: list[np.ndarray] = []
    for batch in range(SOURCE.batches[size]):
        parts = alerts_tables.list_source_ids(size, batch)
        found.append(parts)
    ids = np.concatenate(found)
    return np.random.default_rng(8).choice(ids, min(_CORRECTIONS[size], len(ids)), replace=False)


def _look_up(service: SeedService, ids: Sequence[int] | np.ndarray, size: Size) -> float:
    seconds = []
    for number in ids[: _LOOK_UPS[size]]:
        began = time.perf_counter()
        service.fetch_text(f"SELECT ra, dec, diaObjectId FROM {SOURCE.name} WHERE diaSourceId = {number}")
        seconds.append(time.perf_counter() - began)
    return float(np.median(seconds))


def _check_correction(service: SeedService, source: int, expected: int) -> None:
    while True:
        text = service.fetch_text(f"SELECT diaObjectId FROM {SOURCE.name} WHERE diaSourceId = {source}")
        if int(text.split()[1]) == expected:
            return
        time.sleep(0.1)  # until the service reads the new catalogue
