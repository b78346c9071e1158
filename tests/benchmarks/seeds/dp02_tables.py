"""Tables of the shape of Rubin's DP0.2, as far as DMTN-298's queries need them: 300 square degrees of objects.

Objects are spread evenly over RA 48 to 76, Dec -45 to -26; a million of them have all of the real table's 991
columns, here floats. Forced sources and the truth belong to objects near (62, -37), which the queries ask for.
"""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tests.benchmarks.seeds.even_positions import Reals, draw_positions
from tests.benchmarks.seeds.seed_workload import SeedTable, Size

WEST, EAST, SOUTH, NORTH = 48.5, 75.5, -44.7, -26.7
CENTRE = (62.0, -37.0)
#: Degrees around the centre in which objects have forced sources and a truth
_NEAR = 1.1

_BATCH_ROWS: dict[Size, int] = {"S": 40_000, "M": 1_000_000, "F": 1_000_000}
_BATCHES: dict[Size, int] = {"S": 1, "M": 20, "F": 147}
_WIDE_COLUMNS = 991
_VISITS = 2_000
_FORCED_AN_OBJECT = {"S": 20, "M": 100, "F": 400}
_BANDS = "ugrizy"
_FIRST_ID = 1_248_640_588_874_548_987


def make_object_id(number: int) -> int:
    return _FIRST_ID + number * 7919


def count_objects(size: Size) -> int:
    return _BATCHES[size] * _BATCH_ROWS[size]


def _draw_positions(size: Size, batch: int, rows: int) -> tuple[Reals, Reals]:
    draw = np.random.default_rng((298, batch))
    west, east, south, north = (WEST, EAST, SOUTH, NORTH) if size != "S" else (61.0, 63.0, -38.0, -36.0)
    return draw_positions(draw, rows, west, east, south, north)


def _make_fluxes(draw: np.random.Generator, rows: int, kind: str) -> dict[str, NDArray[np.float32]]:
    bright = 10 ** draw.uniform(1.5, 5, rows)  # nJy: magnitudes 27.6 to 18.9
    columns = {}
    for band in _BANDS:
        flux = bright * 10 ** draw.normal(0, 0.15, rows)
        columns[f"{band}_{kind}Flux"] = flux.astype(np.float32)
        columns[f"{band}_{kind}FluxErr"] = (flux * draw.uniform(0.005, 0.1, rows)).astype(np.float32)
    return columns


def make_objects(size: Size, batch: int) -> pa.Table:
    rows = _BATCH_ROWS[size]
    ra, dec = _draw_positions(size, batch, rows)
    draw = np.random.default_rng((299, batch))
    return pa.table(
        {
            "objectId": _FIRST_ID + (np.arange(rows) + batch * rows) * 7919,
            "coord_ra": ra,
            "coord_dec": dec,
            "detect_isPrimary": draw.random(rows) < 0.8,
            "refExtendedness": (draw.random(rows) < 0.7).astype(np.float32),
            "r_extendedness": (draw.random(rows) < 0.7).astype(np.float32),
            **_make_fluxes(draw, rows, "cModel"),
            **_make_fluxes(draw, rows, "psf"),
        }
    )


def make_wide_objects(size: Size, batch: int) -> pa.Table:
    """Return the objects of a small field with all columns of the real table."""
    rows = 500 if size == "S" else 100_000
    draw = np.random.default_rng((300, batch))
    fill = {f"measurement{n:03d}": draw.normal(0, 1, rows).astype(np.float32) for n in range(_WIDE_COLUMNS - 3)}
    ids = _FIRST_ID + np.arange(batch * rows, (batch + 1) * rows) * 7919
    spread = 0.4
    ra, dec = draw.uniform(63 - spread, 63 + spread, rows), draw.uniform(-33 - spread, -33 + spread, rows)
    return pa.table({"objectId": ids, "coord_ra": ra, "coord_dec": dec, **fill})


def _list_near(size: Size, batch: int) -> tuple[NDArray[np.int64], Reals, Reals]:
    rows = _BATCH_ROWS[size]
    ra, dec = _draw_positions(size, batch, rows)
    near = np.hypot((ra - CENTRE[0]) * math.cos(math.radians(CENTRE[1])), dec - CENTRE[1]) < _NEAR
    ids = _FIRST_ID + (np.flatnonzero(near) + batch * rows) * 7919
    return ids, ra[near], dec[near]


def make_forced_sources(size: Size, batch: int) -> pa.Table:
    ids, ra, dec = _list_near(size, batch)
    times = _FORCED_AN_OBJECT[size]
    rows = len(ids) * times
    draw = np.random.default_rng((301, batch))
    return pa.table(
        {
            "forcedSourceId": batch * 1_000_000_000 + np.arange(rows),
            "objectId": np.repeat(ids, times),
            "coord_ra": np.repeat(ra, times),
            "coord_dec": np.repeat(dec, times),
            "ccdVisitId": draw.integers(0, _VISITS, rows),
            "detect_isPrimary": np.ones(rows, bool),
            "band": pa.array(np.array(list(_BANDS))[draw.integers(0, len(_BANDS), rows)]),
            "psfFlux": (10 ** draw.uniform(1.5, 5, rows)).astype(np.float32),
            "psfFluxErr": (10 ** draw.uniform(0, 2, rows)).astype(np.float32),
        }
    )


def make_visits(size: Size, batch: int) -> pa.Table:
    draw = np.random.default_rng(302)
    return pa.table(
        {
            "ccdVisitId": np.arange(_VISITS),
            "visitId": np.arange(_VISITS) // 189,
            "band": pa.array(np.array(list(_BANDS))[draw.integers(0, len(_BANDS), _VISITS)]),
            "expMidptMJD": draw.uniform(59580, 61400, _VISITS),
            "obsStartMJD": draw.uniform(59580, 61400, _VISITS),
            "seeing": draw.uniform(0.5, 1.5, _VISITS).astype(np.float32),
        }
    )


def make_truth_id(number: int) -> str:
    return f"MS_{number % 9999}_{number}"


def make_truth(size: Size, batch: int) -> pa.Table:
    ids, ra, dec = _list_near(size, batch)
    draw = np.random.default_rng((303, batch))
    numbers = (ids - _FIRST_ID) // 7919
    return pa.table(
        {
            "id_truth_type": [make_truth_id(int(number)) for number in numbers],
            "ra": ra,
            "dec": dec,
            "truth_type": draw.integers(1, 3, len(ids)).astype(np.int16),
            "host_galaxy": draw.integers(0, 1 << 40, len(ids)),
            "is_pointsource": (draw.random(len(ids)) < 0.3).astype(np.int16),
            "redshift": draw.uniform(0, 3, len(ids)).astype(np.float32),
            "mag_r": draw.uniform(16, 27, len(ids)).astype(np.float32),
            **{f"flux_{band}": (10 ** draw.uniform(1.5, 5, len(ids))).astype(np.float32) for band in _BANDS},
        }
    )


def make_matches(size: Size, batch: int) -> pa.Table:
    ids, _, _ = _list_near(size, batch)
    truths = [make_truth_id(int(number)) for number in (ids - _FIRST_ID) // 7919]
    return pa.table({"id_truth_type": truths, "match_objectId": ids})


def make_own_stars(size: Size, batch: int) -> pa.Table:
    """Return a user's catalogue: every hundredth object of the first batch, and as many positions without an object."""
    ra, dec = _draw_positions(size, 0, _BATCH_ROWS[size])
    draw = np.random.default_rng(305)
    ra, dec = ra[::100], dec[::100]
    lon = np.concatenate([ra + draw.normal(0, 1e-5, len(ra)), draw.permutation(ra)])
    return pa.table({"star": np.arange(len(lon)), "ra": lon, "dec": np.concatenate([dec, dec])})


def make_dia_sources(size: Size, batch: int) -> pa.Table:
    ids, ra, dec = _list_near(size, batch)
    rows = len(ids)
    draw = np.random.default_rng((304, batch))
    return pa.table(
        {
            "diaSourceId": batch * 1_000_000_000 + np.arange(rows),
            "diaObjectId": ids,
            "ra": ra,
            "decl": dec,
            "ccdVisitId": draw.integers(0, _VISITS, rows),
            "filterName": pa.array(np.array(list(_BANDS))[draw.integers(0, len(_BANDS), rows)]),
            "midPointTai": draw.uniform(59580, 61400, rows),
            "psFlux": (10 ** draw.uniform(1.5, 5, rows)).astype(np.float32),
        }
    )


# --- schemas ----------------------------------------------------------------------------------------------------------


def _format_schema(name: str, columns: str, layout: str) -> str:
    lines = [f"  - {{name: {word.split(':')[0]}, datatype: {word.split(':')[1]}}}" for word in columns.split()]
    return "\n".join(
        ("name: dp02", "tables:", f"- name: {name}", "  columns:", *lines, f"  skyhouse:layout: {layout}", "")
    )


_FLUXES = " ".join(f"{b}_{kind}Flux{e}:float" for kind in ("cModel", "psf") for b in _BANDS for e in ("", "Err"))
_BY_OBJECT = "{position: [coord_ra, coord_dec], id: [objectId]}"

OBJECT = SeedTable(
    "dp02.Object",
    _format_schema(
        "Object",
        f"objectId:long coord_ra:double coord_dec:double detect_isPrimary:boolean refExtendedness:float r_extendedness:float {_FLUXES}",
        _BY_OBJECT,
    ),
    _BATCHES,
    make_objects,
)
OBJECT_WIDE = SeedTable(
    "dp02.ObjectWide",
    _format_schema(
        "ObjectWide",
        "objectId:long coord_ra:double coord_dec:double "
        + " ".join(f"measurement{n:03d}:float" for n in range(_WIDE_COLUMNS - 3)),
        _BY_OBJECT,
    ),
    {"S": 1, "M": 4, "F": 10},
    make_wide_objects,
)
FORCED_SOURCE = SeedTable(
    "dp02.ForcedSource",
    _format_schema(
        "ForcedSource",
        "forcedSourceId:long objectId:long coord_ra:double coord_dec:double ccdVisitId:long detect_isPrimary:boolean band:string psfFlux:float psfFluxErr:float",
        "{position: [coord_ra, coord_dec], id: [forcedSourceId], indexes: [objectId]}",
    ),
    _BATCHES,
    make_forced_sources,
)
CCD_VISIT = SeedTable(
    "dp02.CcdVisit",
    _format_schema(
        "CcdVisit",
        "ccdVisitId:long visitId:long band:string expMidptMJD:double obsStartMJD:double seeing:float",
        "{id: [ccdVisitId]}",
    ),
    {"S": 1, "M": 1, "F": 1},
    make_visits,
)
TRUTH = SeedTable(
    "dp02.TruthSummary",
    _format_schema(
        "TruthSummary",
        "id_truth_type:string ra:double dec:double truth_type:short host_galaxy:long is_pointsource:short redshift:float mag_r:float "
        + " ".join(f"flux_{band}:float" for band in _BANDS),
        "{position: [ra, dec], id: [id_truth_type]}",
    ),
    _BATCHES,
    make_truth,
)
DIA_SOURCE = SeedTable(
    "dp02.DiaSource",
    _format_schema(
        "DiaSource",
        "diaSourceId:long diaObjectId:long ra:double decl:double ccdVisitId:long filterName:string midPointTai:double psFlux:float",
        "{position: [ra, decl], id: [diaSourceId]}",
    ),
    _BATCHES,
    make_dia_sources,
)
MATCHES = SeedTable(
    "dp02.MatchesTruth",
    _format_schema(
        "MatchesTruth", "id_truth_type:string match_objectId:long", "{id: [id_truth_type], indexes: [match_objectId]}"
    ),
    _BATCHES,
    make_matches,
)
OWN_STARS = SeedTable(
    "dp02.own_stars",
    _format_schema("own_stars", "star:long ra:double dec:double", "{position: [ra, dec], id: [star]}"),
    {"S": 1, "M": 1, "F": 1},
    make_own_stars,
)
