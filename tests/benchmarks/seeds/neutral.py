"""Neutral workloads: the queries of DMTN-298 on DP0.2, and the patterns by which LSDB is compared with Qserv.

The figures for comparison are Qserv's seconds (14 nodes at CC-IN2P3, DMTN-298, table of November 2024), without the
TAP service, for tables of 147 M objects; LSDB's issue 1557 names patterns without figures.
"""

from __future__ import annotations

import random
from functools import partial

from tests.benchmarks.seeds.dp02_tables import (
    CCD_VISIT,
    DIA_SOURCE,
    FORCED_SOURCE,
    MATCHES,
    OBJECT,
    OBJECT_WIDE,
    OWN_STARS,
    TRUTH,
    count_objects,
    make_object_id,
)
from tests.benchmarks.seeds.seed_workload import AskQuestion, Measure, Question, SeedWorkload, Size

_PRIMARY = "detect_isPrimary = TRUE"
_MAG, _SIGMA = "scisql_nanojanskyToAbMag({0})", "scisql_nanojanskyToAbMagSigma({0}, {0}Err)"


def _cone(ra: float, dec: float, radius: float, table: str = "", lon: str = "coord_ra", lat: str = "coord_dec") -> str:
    return f"CONTAINS(POINT('ICRS', {table}{lon}, {table}{lat}), CIRCLE('ICRS', {ra}, {dec}, {radius})) = 1"


def _mags(bands: str, kind: str = "cModel", table: str = "") -> str:
    return ", ".join(f"{_MAG.format(f'{table}{band}_{kind}Flux')} AS {band}mag" for band in bands)


def _ask(text: str, *, is_checked: bool = True) -> AskQuestion:
    question = Question(text, _to_duckdb(text) if is_checked else "")
    return lambda draw, size: question


def _to_duckdb(text: str) -> str:
    """Return the query with the macros of ``adql_functions.sql``."""
    return (
        text.replace("CONTAINS(POINT('ICRS', ", "in_circle((")
        .replace(", CIRCLE('ICRS', ", ", (")
        .replace("scisql_nanojanskyToAbMagSigma", "nano_to_ab_mag_sigma")
        .replace("scisql_nanojanskyToAbMag", "nano_to_ab_mag")
        .replace("scisql_s2PtInCircle", "in_circle_of_numbers")
    )


_Q1 = f"""SELECT diasrc.ra, diasrc.decl, diasrc.diaObjectId, diasrc.diaSourceId, diasrc.filterName, diasrc.midPointTai,
 {_MAG.format("diasrc.psFlux")} AS psAbMag, ccdvis.seeing, ccdvis.visitId FROM dp02.DiaSource AS diasrc
 JOIN dp02.CcdVisit AS ccdvis ON diasrc.ccdVisitId = ccdvis.ccdVisitId
 WHERE {_cone(62.0, -37.0, 0.02, "diasrc.", "ra", "decl")} AND diasrc.filterName = 'i'"""
_Q2 = f"""SELECT objectId, coord_ra, coord_dec, detect_isPrimary, {_mags("gir")},
 {", ".join(f"{_SIGMA.format(f'{b}_cModelFlux')} AS {b}mag_err" for b in "gir")} FROM dp02.Object
 WHERE {_cone(62.0, -37.0, 0.4)} AND {_PRIMARY}"""
_Q3 = f"SELECT * FROM dp02.ObjectWide WHERE {_cone(63.01804167, -32.87422222, 0.0277777)}"
_Q4 = f"SELECT TOP 200000 coord_ra, coord_dec FROM dp02.Object WHERE {_cone(62, -37, 1)} AND {_PRIMARY}"
_Q5 = f"""SELECT RADIANS(coord_ra) AS ra_radians, RADIANS(coord_dec) AS dec_radians FROM dp02.Object
 WHERE {_cone(62, -37, 1)} AND {_PRIMARY}"""
_Q6 = f"""SELECT {_mags("gri")} FROM dp02.Object WHERE {_cone(62, -37, 1)} AND {_PRIMARY}
 AND {_MAG.format("i_cModelFlux")} <= 25"""
_Q7 = f"""SELECT {_mags("gri")} FROM dp02.Object WHERE {_cone(62, -37, 1)} AND {_PRIMARY}
 AND r_cModelFlux BETWEEN g_cModelFlux AND i_cModelFlux"""
_Q9 = f"""SELECT {_MAG.format("fs.psfFlux")} AS mag, {_SIGMA.format("fs.psfFlux")} AS magerr, cv.band, cv.expMidptMJD
 FROM dp02.Object AS o JOIN dp02.ForcedSource AS fs ON o.objectId = fs.objectId
 JOIN dp02.CcdVisit AS cv ON fs.ccdVisitId = cv.ccdVisitId
 WHERE {_cone(62.1, -36.9, 0.01, "o.")} AND o.{_PRIMARY}"""
_Q10 = f"""SELECT mt.id_truth_type AS mt_id_truth_type, mt.match_objectId AS mt_match_objectId, ts.ra AS ts_ra, ts.dec AS ts_dec,
 ts.truth_type AS ts_truth_type, ts.mag_r AS ts_mag_r, ts.is_pointsource AS ts_is_pointsource, ts.redshift AS ts_redshift,
 {", ".join(f"ts.flux_{b} AS ts_flux_{b}" for b in "ugrizy")}, obj.coord_ra AS obj_coord_ra, obj.coord_dec AS obj_coord_dec,
 obj.refExtendedness AS obj_refExtendedness, {_MAG.format("obj.r_cModelFlux")} AS obj_cModelMag_r,
 {", ".join(f"obj.{b}_cModelFlux AS obj_{b}_cModelFlux" for b in "ugrizy")}
 FROM dp02.MatchesTruth AS mt JOIN dp02.TruthSummary AS ts ON mt.id_truth_type = ts.id_truth_type
 JOIN dp02.Object AS obj ON mt.match_objectId = obj.objectId
 WHERE scisql_s2PtInCircle(obj.coord_ra, obj.coord_dec, 62.0, -37.0, 0.1) = 1 AND ts.truth_type = 1 AND obj.{_PRIMARY}"""
_Q12 = f"""SELECT coord_ra, coord_dec FROM dp02.Object
 WHERE CONTAINS(POINT('ICRS', coord_ra, coord_dec),
 POLYGON('ICRS', 48.57, -44.63, 75.24, -44.63, 75.24, -26.78, 48.57, -26.78)) = 1
 AND r_extendedness = 1 AND {_PRIMARY} AND {_MAG.format("r_cModelFlux")} < 21.0"""
_Q13 = f"""SELECT fs.forcedSourceId, fs.objectId, fs.ccdVisitId, fs.detect_isPrimary, fs.band, {_MAG.format("fs.psfFlux")} AS psfMag,
 ccd.obsStartMJD, {_MAG.format("obj.r_psfFlux")} AS obj_rpsfMag FROM dp02.ForcedSource AS fs
 JOIN dp02.CcdVisit AS ccd ON fs.ccdVisitId = ccd.ccdVisitId JOIN dp02.Object AS obj ON fs.objectId = obj.objectId
 WHERE scisql_s2PtInCircle(obj.coord_ra, obj.coord_dec, 62, -37, 1.0) = 1 AND obj.{_PRIMARY} AND obj.r_extendedness = 0
 AND {_MAG.format("obj.r_cModelFlux")} > 19.5 AND {_MAG.format("obj.r_cModelFlux")} < 20.0 AND fs.band = 'r'"""


def _ask_ids(draw: random.Random, size: Size) -> Question:
    ids = ", ".join(str(make_object_id(draw.randrange(count_objects(size)))) for _ in range(12))
    text = f"SELECT objectId, {_mags('gri', 'psf')} FROM dp02.Object WHERE objectId IN ({ids})"
    return Question(text, _to_duckdb(text))


def _ask_truth(draw: random.Random, size: Size) -> Question:
    text = "SELECT id_truth_type, ra, dec, host_galaxy FROM dp02.TruthSummary WHERE id_truth_type = (SELECT MIN(id_truth_type) FROM dp02.TruthSummary)"
    return Question(text, text)


def _ask_id(draw: random.Random, size: Size) -> Question:
    text = f"SELECT * FROM dp02.Object WHERE objectId = {make_object_id(draw.randrange(count_objects(size)))}"
    return Question(text, text)


def _ask_cone(radius: float, draw: random.Random, size: Size) -> Question:
    ra, dec = round(draw.uniform(61.4, 62.6), 6), round(draw.uniform(-37.5, -36.5), 6)
    text = f"SELECT objectId, coord_ra, coord_dec, r_cModelFlux FROM dp02.Object WHERE {_cone(ra, dec, radius)}"
    return Question(text, _to_duckdb(text))


def _ask_light_curve(draw: random.Random, size: Size) -> Question:
    ra, dec = round(draw.uniform(61.8, 62.2), 6), round(draw.uniform(-37.2, -36.8), 6)
    text = f"SELECT * FROM dp02.ForcedSource WHERE {_cone(ra, dec, 0.01)}"
    return Question(text, _to_duckdb(text))


_MATCH = """SELECT s.star, o.objectId FROM dp02.own_stars AS s JOIN dp02.Object AS o
 ON DISTANCE(POINT(s.ra, s.dec), POINT(o.coord_ra, o.coord_dec)) < 1 / 3600."""
_CURVES = f"""SELECT fs.objectId, fs.band, COUNT(*) AS n, AVG(fs.psfFlux) AS flux FROM dp02.ForcedSource AS fs
 JOIN dp02.Object AS o ON fs.objectId = o.objectId WHERE {_cone(62, -37, 0.5, "o.")} AND o.r_extendedness = 0
 GROUP BY fs.objectId, fs.band"""


def _note(name: str, what: str, ask: AskQuestion, seconds: float, *tables: object, **more: object) -> Measure:
    """Return a measure of DMTN-298; its aim is to be faster than Qserv."""
    seed = f"Qserv {seconds:g} s, without the TAP service"
    return Measure(name, what, ask, seconds, seed, tables=tables, **({"format": "votable"} | more))  # type: ignore[arg-type]


_pattern = partial(Measure, seed="LSDB's pattern; no figure published")

WORKLOAD = SeedWorkload(
    number="neutral",
    title="DMTN-298's queries on DP0.2, and LSDB's patterns",
    source="lsst-dm/dmtn-298 (2024), Qserv at CC-IN2P3 with 147 M objects; astronomy-commons/lsdb issue 1557 (2026).",
    measures=(
        _note("Q1", "cone with a join", _ask(_Q1), 1, DIA_SOURCE, CCD_VISIT),
        _note("Q2", "cone of 0.4 degrees, magnitudes", _ask(_Q2), 2, OBJECT),
        _note("Q3", "cone, 991 columns", _ask(_Q3), 2, OBJECT_WIDE),
        _note("Q4", "200,000 rows of a degree", _ask(_Q4, is_checked=False), 6, OBJECT),
        _note("Q5", "rows of a degree in radians", _ask(_Q5), 5, OBJECT),
        _note("Q6", "magnitudes of a degree", _ask(_Q6), 5, OBJECT),
        _note("Q7", "fluxes in order", _ask(_Q7), 8, OBJECT),
        _note("Q8", "twelve ids", _ask_ids, 1, OBJECT, count=100),
        _note("Q9", "forced photometry of a cone", _ask(_Q9), 6, OBJECT, FORCED_SOURCE, CCD_VISIT),
        _note("Q10", "three tables and their truth", _ask(_Q10), 136, MATCHES, TRUTH, OBJECT),
        _note("Q11", "an id that is a text", _ask_truth, 1, TRUTH),
        _note("Q12", "polygon of 385 square degrees", _ask(_Q12, is_checked=False), 27, OBJECT),
        _note("Q13", "light curves of bright stars", _ask(_Q13), 1, FORCED_SOURCE, CCD_VISIT, OBJECT),
        _pattern("id", "one object", _ask_id, 0.05, count=100, tables=(OBJECT,)),
        _pattern("cone of an arcminute", "", partial(_ask_cone, 1 / 60), 0.05, count=100, tables=(OBJECT,)),
        _pattern("cone of a degree", "", partial(_ask_cone, 1.0), 1, tables=(OBJECT,)),
        _pattern("a column of all the sky", "", _ask("SELECT r_psfFlux FROM dp02.Object"), 5, format="parquet", tables=(OBJECT,)),
        _pattern("match with a user's stars", "", _ask(_MATCH, is_checked=False), 5, tables=(OBJECT, OWN_STARS)),
        _pattern("a light curve", "", _ask_light_curve, 0.1, count=50, tables=(FORCED_SOURCE,)),
        _pattern("light curves of a sample", "", _ask(_CURVES), 10, tables=(FORCED_SOURCE, OBJECT)),
    ),
)  # fmt: skip
