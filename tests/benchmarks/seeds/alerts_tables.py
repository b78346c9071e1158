"""The alert database of seeds 001 and 002: a patch of sky with the density, the cadence and the columns of the whole.

A visit reads only data near its position, so the patch is complete: 134 visits a year to each position; 1,039
variable objects per square degree, seen at each visit, and 529 sources of noise, which are never seen again.
Photometry is forced at all variable objects, and at noise for thirty days. A batch of rows is a tenth of a year.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tests.benchmarks.seeds import apdb_columns
from tests.benchmarks.seeds.even_positions import Reals, draw_positions, find_area
from tests.benchmarks.seeds.seed_workload import SeedTable, Size

VISITS_A_YEAR = 134
_VARIABLE_DENSITY, _NOISE_DENSITY = 1039, 529
_FORCED_EPOCHS = round(VISITS_A_YEAR * 30 / 365)
FIRST_MJD = 60_000.0

#: Degrees: the patch begins here, at both sides of the equator
PATCH_WEST = 10.0
PATCH_SIDES: dict[Size, float] = {"S": 0.5, "M": 4.56, "F": 4.56}

#: Tenths of years
_BATCHES: dict[Size, int] = {"S": 1, "M": 40, "F": 100}
BATCHES_A_YEAR = 10

_BANDS = np.array(["u", "g", "r", "i", "z", "y"])
_POOL_VALUES = 1 << 22


def find_mjd(epoch: int) -> float:
    return FIRST_MJD + 365.25 * epoch / VISITS_A_YEAR


def list_epochs(batch: int) -> range:
    """Return the visits to each position in a tenth of a year."""
    first, end = (round(VISITS_A_YEAR * tenth / BATCHES_A_YEAR) for tenth in (batch, batch + 1))
    return range(first, end)


def _draw_positions(key: tuple[int, ...], density: float, size: Size) -> tuple[Reals, Reals]:
    draw = np.random.default_rng(key)
    side = PATCH_SIDES[size]
    count = round(density * find_area(side, -side / 2, side / 2))
    return draw_positions(draw, count, PATCH_WEST, PATCH_WEST + side, -side / 2, side / 2)


def _list_variables(size: Size) -> tuple[NDArray[np.int64], Reals, Reals]:
    ra, dec = _draw_positions((1, 0), _VARIABLE_DENSITY, size)
    return np.arange(len(ra)), ra, dec


def _list_noise(size: Size, epoch: int) -> tuple[NDArray[np.int64], Reals, Reals]:
    """Return objects that each have one source; ids of different epochs differ."""
    ra, dec = _draw_positions((1, 1, epoch), _NOISE_DENSITY, size)
    return (epoch + 1) * 10_000_000 + np.arange(len(ra)), ra, dec


def _join(parts: Sequence[tuple[NDArray[np.int64], Reals, Reals]]) -> tuple[NDArray[np.int64], Reals, Reals]:
    ids, ra, dec = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    return ids, ra, dec


# --- rows -------------------------------------------------------------------------------------------------------------


class _Filler:
    """Random columns: floats and booleans are slices of a pool."""

    def __init__(self, key: tuple[int, ...], rows: int) -> None:
        self._draw = np.random.default_rng(key)
        self._rows = rows
        self._floats = self._draw.normal(1000, 300, max(_POOL_VALUES, 2 * rows)).astype(np.float32)

    def make_column(self, kind: str) -> NDArray[np.generic] | pa.Array:
        match kind:
            case "float":
                start = self._draw.integers(0, len(self._floats) - self._rows)
                return self._floats[start : start + self._rows]
            case "double":
                return self._draw.uniform(0, 1000, self._rows)
            case "boolean":
                return self._draw.random(self._rows) < 0.02
            case "int":
                return self._draw.integers(0, 100, self._rows).astype(np.int32)
            case "short":
                return self._draw.integers(0, 189, self._rows).astype(np.int16)
            case "long":
                return self._draw.integers(0, 1 << 40, self._rows)
            case _:
                return pa.array(_BANDS[self._draw.integers(0, len(_BANDS), self._rows)])


def read_columns(text: str) -> dict[str, tuple[str, bool]]:
    """Return type and nullability by name."""
    words = (word.split(":") for word in text.split())
    return {name: (kind.removesuffix("!"), not kind.endswith("!")) for name, kind in words}


def _fill_rows(text: str, key: tuple[int, ...], given: dict[str, NDArray[np.generic]]) -> pa.Table:
    filler = _Filler(key, len(next(iter(given.values()))))
    columns = read_columns(text)
    return pa.table({name: given.get(name, filler.make_column(kind)) for name, (kind, _) in columns.items()})


def make_objects_last(size: Size, batch: int) -> pa.Table:
    """Return the objects that are new in these visits."""
    epochs = list_epochs(batch)
    parts = [*([_list_variables(size)] if batch == 0 else []), *(_list_noise(size, epoch) for epoch in epochs)]
    ids, ra, dec = _join(parts)
    begun = np.repeat([find_mjd(epochs[0])] * (batch == 0) + [find_mjd(e) for e in epochs], [len(p[0]) for p in parts])
    given = {"diaObjectId": ids, "ra": ra, "dec": dec, "validityStartMjdTai": begun, "firstDiaSourceMjdTai": begun}
    return _fill_rows(apdb_columns.DIA_OBJECT_LAST, (2, batch), given)


def make_sources(size: Size, batch: int) -> pa.Table:
    return _make_sources_of(size, list_epochs(batch))


def _make_sources_of(size: Size, epochs: range) -> pa.Table:
    variables = _list_variables(size)
    parts = [_join([variables, _list_noise(size, epoch)]) for epoch in epochs]
    return _make_seen(apdb_columns.DIA_SOURCE, "diaSourceId", (3, epochs[0]), epochs, parts)


def list_source_ids(size: Size, batch: int) -> NDArray[np.int64]:
    """Return the ids of ``make_sources``."""
    rows = len(_list_variables(size)[0]) + len(_list_noise(size, 0)[0])
    return np.concatenate([_make_seen_ids(epoch, np.arange(rows)) for epoch in list_epochs(batch)])


def make_forced_sources(size: Size, batch: int) -> pa.Table:
    return _make_forced_sources_of(size, list_epochs(batch))


def _make_forced_sources_of(size: Size, epochs: range) -> pa.Table:
    parts = _list_followed(size, epochs)
    return _make_seen(apdb_columns.DIA_FORCED_SOURCE, "diaForcedSourceId", (4, epochs[0]), epochs, parts)


def _list_followed(size: Size, epochs: range) -> list[tuple[NDArray[np.int64], Reals, Reals]]:
    """Return the objects at which photometry is forced, at each of these visits."""
    variables = _list_variables(size)
    recent = {e: _list_noise(size, e) for e in range(max(0, epochs[0] - _FORCED_EPOCHS + 1), epochs[-1] + 1)}
    return [
        _join([variables, *(recent[e] for e in range(max(0, epoch - _FORCED_EPOCHS + 1), epoch + 1))])
        for epoch in epochs
    ]


def make_versions(size: Size, batch: int) -> pa.Table:
    return _make_versions_of(size, list_epochs(batch))


def _make_versions_of(size: Size, epochs: range) -> pa.Table:
    """Return the versions of objects that visits make: one for each object at which photometry is forced."""
    parts = _list_followed(size, epochs)
    ids, ra, dec = _join(parts)
    begun = np.repeat([find_mjd(epoch) for epoch in epochs], [len(part[0]) for part in parts])
    given = {"diaObjectId": ids, "validityStartMjdTai": begun, "ra": ra, "dec": dec, "lastDiaSourceMjdTai": begun}
    return _fill_rows(apdb_columns.DIA_OBJECT, (5, epochs[0]), given)


def make_epoch(table: SeedTable, size: Size, epoch: int) -> pa.Table:
    """Return the rows of one visit to all of the patch."""
    make = {
        SOURCE.name: _make_sources_of,
        FORCED_SOURCE.name: _make_forced_sources_of,
        DIA_OBJECT.name: _make_versions_of,
    }
    return make[table.name](size, range(epoch, epoch + 1))


def _make_seen_ids(epoch: NDArray[np.int64] | int, number: NDArray[np.int64]) -> NDArray[np.int64]:
    return (np.asarray(epoch, np.int64) + 1) * 100_000_000 + number


def _make_seen(
    text: str,
    id_name: str,
    key: tuple[int, ...],
    epochs: range,
    parts: Sequence[tuple[NDArray[np.int64], Reals, Reals]],
) -> pa.Table:
    ids, ra, dec = _join(parts)
    epoch = np.repeat(np.array(epochs), [len(part[0]) for part in parts])
    number = np.concatenate([np.arange(len(part[0])) for part in parts])
    scatter = np.random.default_rng(key).normal(0, 1e-5, (2, len(ids)))
    given = {
        id_name: _make_seen_ids(epoch, number),
        "diaObjectId": ids,
        "visit": epoch.astype(np.int64),
        "ra": ra + scatter[0],
        "dec": dec + scatter[1],
        "midpointMjdTai": FIRST_MJD + 365.25 * epoch / VISITS_A_YEAR + number * 1e-9,
    }
    return _fill_rows(text, key, given)


# --- tables -----------------------------------------------------------------------------------------------------------


def format_schema(name: str, text: str, layout: str) -> str:
    columns = "\n".join(
        f"  - {{name: {column}, datatype: {kind}{'' if nullable else ', nullable: false'}}}"
        for column, (kind, nullable) in read_columns(text).items()
    )
    return f"name: alerts\ntables:\n- name: {name}\n  columns:\n{columns}\n  skyhouse:layout: {layout}\n"


_SEEN = "{{position: [ra, dec], id: [{}], time: midpointMjdTai, years: true, indexes: [diaObjectId]}}"

#: All versions of the objects; the latest version of each object is in a separate table
DIA_OBJECT = SeedTable(
    "alerts.dia_object",
    format_schema(
        "dia_object",
        apdb_columns.DIA_OBJECT,
        "{position: [ra, dec], id: [diaObjectId, validityStartMjdTai], time: validityStartMjdTai,"
        " versions: {key: [diaObjectId], by: validityStartMjdTai, last: dia_object_latest}}",
    ),
    {"S": 1, "M": 1, "F": 10},
    make_versions,
)
OBJECT_LAST = SeedTable(
    "alerts.dia_object_last",
    format_schema("dia_object_last", apdb_columns.DIA_OBJECT_LAST, "{position: [ra, dec], id: [diaObjectId]}"),
    _BATCHES,
    make_objects_last,
)
SOURCE = SeedTable(
    "alerts.dia_source",
    format_schema("dia_source", apdb_columns.DIA_SOURCE, _SEEN.format("diaSourceId")),
    _BATCHES,
    make_sources,
)
FORCED_SOURCE = SeedTable(
    "alerts.dia_forced_source",
    format_schema("dia_forced_source", apdb_columns.DIA_FORCED_SOURCE, _SEEN.format("diaForcedSourceId")),
    _BATCHES,
    make_forced_sources,
)
