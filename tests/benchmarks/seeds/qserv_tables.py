"""The tables of seed 000, Qserv: objects of the whole sky, wide objects, and objects and sources of two fields.

Objects of a field have the seed's density, 41,200 a square degree (1.7e9 objects over the sky), with 41 sources each.
Magnitudes follow 10^(0.3 m) from 16 to 26.5 in i; colours are normal. Fluxes are in erg/s/cm2/Hz.
"""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tests.benchmarks.seeds.even_positions import Reals, draw_positions, find_area
from tests.benchmarks.seeds.seed_workload import SeedTable, Size

#: Objects of the seed in a square degree, and the mean number of sources of each
CROWDING = 1.7e9 / 41_253
SOURCES_AN_OBJECT = 41

BANDS = "ugrizy"
#: Mean and width of the colour of each band with the one before it, from g on; y follows z
_COLOURS = {"u-g": (1.2, 0.4), "g-r": (0.6, 0.4), "r-i": (0.3, 0.25), "i-z": (0.15, 0.35), "z-y": (0.05, 0.2)}
_FAINTEST, _BRIGHTEST = 26.5, 16.0
#: The part of the objects with i - z above 4, which HV2 selects: 70,000 of 1.7e9
_EXTREME = 4.1e-5

_SCATTER = 0x1E3779B97F4A7C15  # odd: each number has a unique id

WIDE_COLUMNS = 250
_WIDE_FLOATS, _WIDE_DOUBLES, _WIDE_FLAGS = 188, 27, 20

#: Degrees: the box of SHV2 of the seed, and the side of the field of SHV1
BOX_WEST, BOX_SOUTH = 224.1, -7.5
_BOX_SIDES: dict[Size, float] = {"S": 0.2, "M": 18**0.5, "F": 13.0}
FIELD_SIDES: dict[Size, float] = {"S": 0.25, "M": 3.0, "F": 10.0}

_BATCH_ROWS = 2_000_000


def make_id(number: int) -> int:
    """Return the objectId of an object."""
    return number * _SCATTER % 2**62


def _make_ids(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    return ((numbers.astype(np.uint64) * np.uint64(_SCATTER)) % np.uint64(2**62)).astype(np.int64)


def _draw_magnitudes(draw: np.random.Generator, rows: int) -> dict[str, Reals]:
    low, high = (10 ** (0.3 * magnitude) for magnitude in (_BRIGHTEST, _FAINTEST))
    colours = {name: draw.normal(*law, rows) for name, law in _COLOURS.items()}
    extreme = draw.random(rows) < _EXTREME
    colours["i-z"] = np.where(extreme, draw.uniform(4, 5, rows), np.minimum(colours["i-z"], 3.9))
    found = {"i": np.log10(draw.uniform(low, high, rows)) / 0.3}
    found["r"] = found["i"] + colours["r-i"]
    found["g"] = found["r"] + colours["g-r"]
    found["u"] = found["g"] + colours["u-g"]
    found["z"] = found["i"] - colours["i-z"]
    found["y"] = found["z"] - colours["z-y"]
    return found


def _make_fluxes(draw: np.random.Generator, rows: int) -> dict[str, NDArray[np.float32]]:
    magnitudes = _draw_magnitudes(draw, rows)
    fluxes = {band: 10 ** (-0.4 * (magnitudes[band] + 48.6)) for band in BANDS}
    errors = {band: flux * draw.uniform(0.005, 0.1, rows) for band, flux in fluxes.items()}
    return {f"{band}Flux_PS": flux.astype(np.float32) for band, flux in fluxes.items()} | {
        f"{band}FluxErr_PS": error.astype(np.float32) for band, error in errors.items()
    }


def _make_objects(draw: np.random.Generator, first: int, ra: Reals, dec: Reals) -> dict[str, NDArray[np.generic]]:
    numbers = np.arange(first, first + len(ra))
    return {"objectId": _make_ids(numbers), "ra_PS": ra, "decl_PS": dec, **_make_fluxes(draw, len(ra))}


# --- objects of the whole sky -----------------------------------------------------------------------------------------

_OBJECT_ROWS: dict[Size, int] = {"S": 40_000, "M": _BATCH_ROWS, "F": _BATCH_ROWS}

#: At size S all objects are in these longitudes and latitudes, so that the boxes of LV3 have some
SMALL_SKY = (0.0, 4.0)


def _make_object_batch(size: Size, number: int) -> pa.Table:
    draw = np.random.default_rng((0, number))
    rows = _OBJECT_ROWS[size]
    if size == "S":
        ra, dec = draw.uniform(*SMALL_SKY, rows), draw.uniform(*SMALL_SKY, rows)
    else:
        ra, dec = draw_positions(draw, rows, 0, 360, -90, 90)
    return pa.table(_make_objects(draw, number * rows, ra, dec))


_FLUX_COLUMNS = "\n".join(
    f"  - {{name: {band}{kind}_PS, datatype: float, ivoa:unit: erg.s**-1.cm**-2.Hz**-1}}"
    for kind in ("Flux", "FluxErr")
    for band in BANDS
)
_OBJECT_COLUMNS = f"""
  - {{name: objectId, datatype: long, nullable: false}}
  - {{name: ra_PS, datatype: double, ivoa:unit: deg}}
  - {{name: decl_PS, datatype: double, ivoa:unit: deg}}
{_FLUX_COLUMNS}
"""


def _object_schema(name: str) -> str:
    return f"""
name: qserv
tables:
- name: {name}
  columns: {_OBJECT_COLUMNS}
  skyhouse:layout: {{position: [ra_PS, decl_PS], id: [objectId], overlap_radius: 0.1}}
"""


OBJECT = SeedTable("qserv.object", _object_schema("object"), {"S": 2, "M": 100, "F": 250}, _make_object_batch)


def count_objects(size: Size) -> int:
    return OBJECT.batches[size] * _OBJECT_ROWS[size]


# --- wide objects -----------------------------------------------------------------------------------------------------

_WIDE_ROWS: dict[Size, int] = {"S": 2_000, "M": 100_000, "F": 100_000}


def _make_wide_batch(size: Size, number: int) -> pa.Table:
    """Return objects in 500 square degrees at the equator, with the seed's 1,073 bytes a row."""
    draw = np.random.default_rng((1, number))
    rows = _WIDE_ROWS[size]
    side = math.sqrt(500) / 2
    ra, dec = draw.uniform(180 - side, 180 + side, rows), draw.uniform(-side, side, rows)
    columns = _make_objects(draw, number * rows, ra, dec)
    columns |= {f"shape{n:03d}": draw.normal(0, 1, rows).astype(np.float32) for n in range(_WIDE_FLOATS)}
    columns |= {f"moment{n:02d}": draw.normal(0, 1, rows) for n in range(_WIDE_DOUBLES)}
    columns |= {f"flag{n:02d}": draw.integers(0, 2, rows).astype(np.int16) for n in range(_WIDE_FLAGS)}
    return pa.table(columns)


def _wide_schema() -> str:
    more = [f"shape{n:03d}, datatype: float" for n in range(_WIDE_FLOATS)]
    more += [f"moment{n:02d}, datatype: double" for n in range(_WIDE_DOUBLES)]
    more += [f"flag{n:02d}, datatype: short" for n in range(_WIDE_FLAGS)]
    columns = _OBJECT_COLUMNS + "\n".join(f"  - {{name: {each}}}" for each in more)
    return f"""
name: qserv
tables:
- name: object_wide
  columns: {columns}
  skyhouse:layout: {{position: [ra_PS, decl_PS], id: [objectId], row_store: true}}
"""


OBJECT_WIDE = SeedTable("qserv.object_wide", _wide_schema(), {"S": 1, "M": 40, "F": 200}, _make_wide_batch)


def count_wide_objects(size: Size) -> int:
    return OBJECT_WIDE.batches[size] * _WIDE_ROWS[size]


# --- a field of objects, and a box of objects with their sources ------------------------------------------------------


def _make_field_batch(size: Size, number: int) -> pa.Table:
    return make_field(FIELD_SIDES[size], CROWDING, 2)


def make_field(side: float, crowding: float, seed: int) -> pa.Table:
    """Return a square at the equator, evenly filled with ``density`` objects per square degree."""
    rows = round(crowding * find_area(side, -side / 2, side / 2))
    ra, dec = draw_positions(np.random.default_rng(seed), rows, 10, 10 + side, -side / 2, side / 2)
    return pa.table({"objectId": np.arange(rows), "ra_PS": ra, "decl_PS": dec})


FIELD = SeedTable(
    "qserv.field",
    """
name: qserv
tables:
- name: field
  columns:
  - {name: objectId, datatype: long, nullable: false}
  - {name: ra_PS, datatype: double, ivoa:unit: deg}
  - {name: decl_PS, datatype: double, ivoa:unit: deg}
  skyhouse:layout: {position: [ra_PS, decl_PS], id: [objectId], overlap_radius: 0.1}
""",
    {"S": 1, "M": 1, "F": 1},
    _make_field_batch,
)

_BOX_BATCHES: dict[Size, int] = {"S": 2, "M": 16, "F": 152}


def count_box_objects(size: Size) -> int:
    return round(CROWDING * _BOX_SIDES[size] ** 2 / _BOX_BATCHES[size]) * _BOX_BATCHES[size]


def _make_box_objects(size: Size, number: int) -> tuple[NDArray[np.int64], Reals, Reals]:
    """Return ids and positions of the objects of one batch, all over the box."""
    draw = np.random.default_rng((4, number))
    side, rows = _BOX_SIDES[size], count_box_objects(size) // _BOX_BATCHES[size]
    ids = _make_ids(np.arange(number * rows, (number + 1) * rows))
    return ids, draw.uniform(BOX_WEST, BOX_WEST + side, rows), draw.uniform(BOX_SOUTH, BOX_SOUTH + side, rows)


def _make_box_batch(size: Size, number: int) -> pa.Table:
    ids, ra, dec = _make_box_objects(size, number)
    draw = np.random.default_rng((5, number))
    return pa.table({"objectId": ids, "ra_PS": ra, "decl_PS": dec, **_make_fluxes(draw, len(ids))})


BOX_OBJECT = SeedTable("qserv.box_object", _object_schema("box_object"), _BOX_BATCHES, _make_box_batch)

#: Scatter of a source around its object; one in a hundred is off by more than SHV2's 0.0045 degrees
_SCATTER_DEGREES = 0.3 / 3600
_OFF_DEGREES = 0.006


def _make_source_batch(size: Size, number: int) -> pa.Table:
    """Return the sources of the objects of the batch of the same number, over ten years."""
    ids, ra, dec = _make_box_objects(size, number)
    draw = np.random.default_rng((6, number))
    of_object = draw.poisson(SOURCES_AN_OBJECT, len(ids))
    rows = int(of_object.sum())
    ra, dec, ids = np.repeat(ra, of_object), np.repeat(dec, of_object), np.repeat(ids, of_object)
    off = np.where(draw.random(rows) < 0.01, _OFF_DEGREES, 0.0)
    flux = 10 ** (-0.4 * (draw.uniform(18, 25, rows) + 48.6))
    first = number * 100_000_000
    columns: dict[str, NDArray[np.generic]] = {
        "sourceId": np.arange(first, first + rows),
        "objectId": ids,
        "taiMidPoint": draw.uniform(60_000, 60_000 + 3652.5, rows),
        "ra": ra + draw.normal(0, _SCATTER_DEGREES, rows) / np.cos(np.radians(dec)),
        "decl": dec + draw.normal(0, _SCATTER_DEGREES, rows) + off,
        "filterId": draw.integers(0, 6, rows).astype(np.int16),
        "psfFlux": flux.astype(np.float32),
        "psfFluxErr": (flux * draw.uniform(0.005, 0.1, rows)).astype(np.float32),
        "apFlux": (flux * draw.normal(1, 0.02, rows)).astype(np.float32),
        "ixx": draw.normal(4, 0.5, rows).astype(np.float32),
        "iyy": draw.normal(4, 0.5, rows).astype(np.float32),
        "flags": draw.integers(0, 16, rows).astype(np.int32),
    }
    return pa.table(columns)


SOURCE = SeedTable(
    "qserv.source",
    """
name: qserv
tables:
- name: source
  columns:
  - {name: sourceId, datatype: long, nullable: false}
  - {name: objectId, "@id": "#source.objectId", datatype: long, nullable: false}
  - {name: taiMidPoint, datatype: double, ivoa:unit: d}
  - {name: ra, datatype: double, ivoa:unit: deg}
  - {name: decl, datatype: double, ivoa:unit: deg}
  - {name: filterId, datatype: short}
  - {name: psfFlux, datatype: float, ivoa:unit: erg.s**-1.cm**-2.Hz**-1}
  - {name: psfFluxErr, datatype: float, ivoa:unit: erg.s**-1.cm**-2.Hz**-1}
  - {name: apFlux, datatype: float, ivoa:unit: erg.s**-1.cm**-2.Hz**-1}
  - {name: ixx, datatype: float}
  - {name: iyy, datatype: float}
  - {name: flags, datatype: int}
  skyhouse:layout: {position: [ra, decl], id: [sourceId], time: taiMidPoint, indexes: [objectId], overlap_radius: 0.01}
""",
    _BOX_BATCHES,
    _make_source_batch,
)
