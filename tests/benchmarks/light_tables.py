"""The tables and queries of ``bench_light`` and ``bench_unfair``: 2 M stars of 12 columns, and observations.

Positions are spread over the sky at random and ids do not follow them, so each query reads rows that no other query
has read. The constants of each query are random too.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

#: odd, so that ``number * _SCATTER % 2**62`` gives each star a unique id, far from the ids of its neighbours
_SCATTER = 0x1E3779B97F4A7C15
#: one observation per this many stars
_STARS_PER_OBSERVATION = 10

SCHEMA = """
name: light
tables:
  - name: stars
    columns:
      - {name: source_id, datatype: long, nullable: false, "ivoa:ucd": meta.id;meta.main}
      - {name: ra, datatype: double, "ivoa:unit": deg, "ivoa:ucd": pos.eq.ra;meta.main}
      - {name: dec, datatype: double, "ivoa:unit": deg, "ivoa:ucd": pos.eq.dec;meta.main}
      - {name: parallax, datatype: double, "ivoa:unit": mas, "ivoa:ucd": pos.parallax}
      - {name: pmra, datatype: double, "ivoa:unit": mas/yr, "ivoa:ucd": pos.pm;pos.eq.ra}
      - {name: pmdec, datatype: double, "ivoa:unit": mas/yr, "ivoa:ucd": pos.pm;pos.eq.dec}
      - {name: phot_g_mean_mag, datatype: float, "ivoa:unit": mag, "ivoa:ucd": phot.mag;em.opt}
      - {name: phot_bp_mean_mag, datatype: float, "ivoa:unit": mag, "ivoa:ucd": phot.mag;em.opt.B}
      - {name: phot_rp_mean_mag, datatype: float, "ivoa:unit": mag, "ivoa:ucd": phot.mag;em.opt.R}
      - {name: bp_rp, datatype: float, "ivoa:unit": mag, "ivoa:ucd": phot.color}
      - {name: radial_velocity, datatype: float, "ivoa:unit": km/s, "ivoa:ucd": spect.dopplerVeloc}
      - {name: ruwe, datatype: float, "ivoa:ucd": stat.error}
    "skyhouse:layout": {position: [ra, dec], id: [source_id]}
"""


def source_id(number: int) -> int:
    return number * _SCATTER % 2**62


def make_stars(rows: int) -> pa.Table:
    draw = np.random.default_rng(15)
    numbers = np.arange(rows, dtype=np.uint64)
    magnitude = (21 - draw.exponential(1.8, rows)).astype(np.float32)
    colour = draw.normal(1.1, 0.45, rows).astype(np.float32)
    no_astrometry, no_colour, no_velocity = draw.random(rows) < 0.15, draw.random(rows) < 0.1, draw.random(rows) < 0.8
    red = magnitude - colour / 2
    columns = {
        "source_id": ((numbers * np.uint64(_SCATTER)) % np.uint64(2**62)).astype(np.int64),
        "ra": draw.uniform(0, 360, rows),
        "dec": np.degrees(np.arcsin(draw.uniform(-1, 1, rows))),
        "parallax": pa.array(draw.exponential(1.2, rows), mask=no_astrometry),
        "pmra": pa.array(draw.normal(0, 8, rows), mask=no_astrometry),
        "pmdec": pa.array(draw.normal(-2, 8, rows), mask=no_astrometry),
        "phot_g_mean_mag": magnitude,
        "phot_bp_mean_mag": pa.array(red + colour, mask=no_colour),
        "phot_rp_mean_mag": red,
        "bp_rp": pa.array(colour, mask=no_colour),
        "radial_velocity": pa.array(draw.normal(0, 40, rows).astype(np.float32), mask=no_velocity),
        "ruwe": draw.lognormal(0, 0.2, rows).astype(np.float32),
    }
    return pa.table(columns)


def make_observations(rows: int) -> pa.Table:
    """Images of circles and quadrangles over ten years; the other mandatory columns of ObsCore are NULL."""
    draw = np.random.default_rng(115)
    ra, dec = draw.uniform(0, 360, rows), np.degrees(np.arcsin(draw.uniform(-0.99, 0.99, rows)))
    radius, begin = draw.uniform(0.05, 0.7, rows), draw.uniform(57000, 60650, rows)
    exposure = draw.choice([30.0, 120.0, 600.0, 3600.0], rows)
    regions = [
        _quadrangle(*circle) if number % 2 else "Circle ICRS {:.5f} {:.5f} {:.4f}".format(*circle)
        for number, circle in enumerate(zip(ra.tolist(), dec.tolist(), radius.tolist(), strict=True))
    ]
    columns = {
        "dataproduct_type": draw.choice(["image", "spectrum", "cube"], rows),
        "calib_level": draw.integers(0, 5, rows).astype(np.int32),
        "obs_collection": [f"survey{number % 7}" for number in range(rows)],
        "obs_id": [f"exp{number // 3:08d}" for number in range(rows)],
        "obs_publisher_did": [f"ivo://example.org/light?{number:08d}" for number in range(rows)],
        "access_url": [f"https://example.org/products/{number:08d}.fits" for number in range(rows)],
        "access_format": ["image/fits"] * rows,
        "s_ra": ra,
        "s_dec": dec,
        "s_fov": 2 * radius,
        "s_region": regions,
        "t_min": begin,
        "t_max": begin + exposure / 86400,
        "t_exptime": exposure,
        "em_min": np.full(rows, 4e-7),
        "em_max": np.full(rows, 7e-7),
        "instrument_name": [f"camera{number % 5}" for number in range(rows)],
    }
    return pa.table(columns)


def _quadrangle(ra: float, dec: float, radius: float) -> str:
    wide = radius / np.cos(np.radians(dec))
    corners = (
        (ra - wide, dec - radius),
        (ra + wide, dec - radius),
        (ra + wide, dec + radius),
        (ra - wide, dec + radius),
    )
    return "Polygon ICRS " + " ".join(f"{x % 360:.5f} {y:.5f}" for x, y in corners)


def write_tables(folder: Path, rows: int) -> list[list[str]]:
    """Write the missing files; return the arguments of the commands that load them."""
    stars, observations, schema = folder / f"stars{rows}.parquet", folder / f"obs{rows}.parquet", folder / "light.yaml"
    schema.write_text(SCHEMA)
    if not stars.exists():
        pq.write_table(make_stars(rows), stars)
    if not observations.exists():
        pq.write_table(make_observations(max(100, rows // _STARS_PER_OBSERVATION)), observations)
    return [
        ["load", str(stars), "--table", "light.stars", "--schema", str(schema)],
        ["load", str(observations), "--table", "ivoa.ObsCore", "--schema", "obscore"],
    ]


def _cone(radius: float) -> Callable[[random.Random, int], str]:
    def ask(draw: random.Random, rows: int) -> str:
        ra, dec = draw.uniform(0, 360), draw.uniform(-85, 85)
        return f"SELECT * FROM light.stars WHERE 1 = CONTAINS(POINT(ra, dec), CIRCLE({ra:.6f}, {dec:.6f}, {radius}))"

    return ask


def _identifier(draw: random.Random, rows: int) -> str:
    return f"SELECT * FROM light.stars WHERE source_id = {source_id(draw.randrange(rows))}"


def _box(draw: random.Random, rows: int) -> str:
    ra, dec = round(draw.uniform(0, 355), 4), round(draw.uniform(-60, 55), 4)
    return (
        f"SELECT COUNT(*) AS n FROM light.stars WHERE ra BETWEEN {ra} AND {ra + 3} AND dec BETWEEN {dec} AND {dec + 3}"
    )


def _top(draw: random.Random, rows: int) -> str:
    return f"SELECT TOP {draw.randint(80, 120)} * FROM light.stars ORDER BY parallax DESC"


def _magnitude(draw: random.Random, rows: int) -> str:
    low = round(draw.uniform(12, 19), 4)
    return f"SELECT COUNT(*) AS n FROM light.stars WHERE phot_g_mean_mag BETWEEN {low} AND {low + 0.5:.4f}"


def _colour(draw: random.Random, rows: int) -> str:
    """About 3.5 % of the rows: 70,000 of two million."""
    low = round(draw.uniform(1.02, 1.08), 5)
    return (
        "SELECT source_id, ra, dec, phot_g_mean_mag, bp_rp FROM light.stars "
        f"WHERE bp_rp BETWEEN {low} AND {low + 0.044:.5f}"
    )


def _half(draw: random.Random, rows: int) -> str:
    """A million rows of two million, all columns: a download."""
    return f"SELECT TOP {rows // 2 - draw.randrange(1000)} * FROM light.stars"


def _observations(draw: random.Random, rows: int) -> str:
    ra, dec, begin = draw.uniform(0, 360), draw.uniform(-80, 80), draw.uniform(57000, 60000)
    return (
        "SELECT obs_publisher_did, dataproduct_type, t_min, t_max, t_exptime, instrument_name FROM ivoa.ObsCore "
        f"WHERE 1 = INTERSECTS(s_region, CIRCLE({ra:.5f}, {dec:.5f}, 1)) AND t_min < {begin + 365:.3f} AND t_max > {begin:.3f}"
    )


#: by name: a query with random constants for a table of the given number of rows
QUERIES: dict[str, Callable[[random.Random, int], str]] = {
    "cone0.1": _cone(0.1),
    "cone1": _cone(1.0),
    "id": _identifier,
    "box": _box,
    "top100": _top,
    "magnitude": _magnitude,
    "colour": _colour,
    "obscore": _observations,
    "half": _half,
}
