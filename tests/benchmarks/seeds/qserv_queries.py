"""The queries of Qserv's evaluation (section 6.2) in ADQL, each with its form for DuckDB."""

from __future__ import annotations

import random

from tests.benchmarks.seeds.qserv_tables import (
    BOX_SOUTH,
    BOX_WEST,
    SMALL_SKY,
    count_box_objects,
    count_wide_objects,
    make_id,
)
from tests.benchmarks.seeds.seed_workload import Question, Size

_MAGNITUDE = "fluxToAbMag({})"
_IN_DUCKDB = (("fluxToAbMag", "flux_to_ab_mag"), ("scisql_angSep", "sky_distance"))


def _ask(text: str) -> Question:
    translated = text
    for name, macro in _IN_DUCKDB:
        translated = translated.replace(name, macro)
    return Question(text, translated)


def ask_object(draw: random.Random, size: Size) -> Question:
    number = draw.randrange(count_wide_objects(size))
    return _ask(f"SELECT * FROM qserv.object_wide WHERE objectId = {make_id(number)}")


def ask_sources(draw: random.Random, size: Size) -> Question:
    number = draw.randrange(count_box_objects(size))
    columns = "taiMidPoint, fluxToAbMag(psfFlux) AS mag, fluxToAbMag(psfFluxErr) AS err, ra, decl"
    return _ask(f"SELECT {columns} FROM qserv.source WHERE objectId = {make_id(number)}")


def ask_stars_in_box(draw: random.Random, size: Size) -> Question:
    """A square degree within 20 degrees of the equator."""
    if size == "S":
        ra, dec = draw.uniform(SMALL_SKY[0], SMALL_SKY[1] - 1), draw.uniform(SMALL_SKY[0], SMALL_SKY[1] - 1)
    else:
        ra, dec = draw.uniform(0, 359), draw.uniform(-20, 19)
    g, r, i, z = (_MAGNITUDE.format(f"{band}Flux_PS") for band in "griz")
    return _ask(
        f"SELECT COUNT(*) AS n FROM qserv.object WHERE ra_PS BETWEEN {ra:.6f} AND {ra + 1:.6f}"
        f" AND decl_PS BETWEEN {dec:.6f} AND {dec + 1:.6f} AND {z} BETWEEN 21 AND 21.5"
        f" AND {g} - {r} BETWEEN 0.3 AND 0.4 AND {i} - {z} BETWEEN 0.1 AND 0.12"
    )


def ask_count(draw: random.Random, size: Size) -> Question:
    return _ask("SELECT COUNT(*) AS n FROM qserv.object")


def ask_extreme_colours(draw: random.Random, size: Size) -> Question:
    return _ask(
        "SELECT objectId, ra_PS, decl_PS, uFlux_PS, gFlux_PS, rFlux_PS, iFlux_PS, zFlux_PS, yFlux_PS FROM qserv.object"
        " WHERE fluxToAbMag(iFlux_PS) - fluxToAbMag(zFlux_PS) > 4"
    )


def ask_groups(draw: random.Random, size: Size) -> Question:
    cell = "ivo_healpix_index(5, ra_PS, decl_PS)"
    return _ask(
        f"SELECT COUNT(*) AS n, AVG(ra_PS) AS ra, AVG(decl_PS) AS dec, {cell} AS chunkId FROM qserv.object GROUP BY {cell}"
    )


def ask_pairs(draw: random.Random, size: Size) -> Question:
    return _ask(
        "SELECT COUNT(*) AS n FROM qserv.field AS o1 JOIN qserv.field AS o2"
        " ON scisql_angSep(o1.ra_PS, o1.decl_PS, o2.ra_PS, o2.decl_PS) < 0.1"
    )


def ask_forced_match(draw: random.Random, size: Size) -> Question:
    east, north = BOX_WEST + 13, BOX_SOUTH + 13
    return _ask(
        "SELECT o.objectId, s.sourceId, s.ra, s.decl, o.ra_PS, o.decl_PS FROM qserv.box_object AS o"
        " JOIN qserv.source AS s ON o.objectId = s.objectId"
        f" WHERE o.ra_PS BETWEEN {BOX_WEST} AND {east} AND o.decl_PS BETWEEN {BOX_SOUTH} AND {north}"
        " AND scisql_angSep(s.ra, s.decl, o.ra_PS, o.decl_PS) > 0.0045"
    )
