"""PanDA's table of jobs: one row per job, 100 columns (40 floats, 30 integers, 20 words of few values, 10 texts).

It follows the workload of seed 004 (Ito et al., "Scalable Database Access Technologies for ATLAS Distributed
Computing"): 500,000 jobs a day, fewer at weekends; 150 sites by Zipf's law with exponent 1.1; labels as their users
weigh them. Ids are consecutive, so the rows of a day are together, as they arrive.
"""

from __future__ import annotations

from datetime import date, timedelta

import numpy as np
import pyarrow as pa

FIRST_ID = 1_200_000_000
FIRST_DAY = date(2011, 6, 1)  # a Wednesday
JOBS_A_DAY = 500_000

SITES = tuple(
    f"{kind}_{site}{number}"
    for number in range(5)
    for kind in ("ANALY", "PROD", "TEST")
    for site in ("CERN", "BNL", "FZK", "RAL", "IN2P3", "TRIUMF", "PIC", "NDGF", "SARA", "ASGC")
)
LABELS = {"user": 0.45, "managed": 0.35, "panda": 0.08, "test": 0.05, "ptest": 0.03, "install": 0.02, "prod_test": 0.02}

#: jobs of Monday to Sunday, as parts of a mean day
_WEEK = np.array([1.05, 1.12, 1.15, 1.15, 1.08, 0.75, 0.7])

#: word -> number of its values; the first three are drawn by the laws above
_WORDS = {
    "computingsite": 150, "prodsourcelabel": 7, "jobday": 0, "jobstatus": 9, "cloud": 12, "workinggroup": 25,
    "produsername": 500, "prodserieslabel": 6, "assignedpriorityclass": 5, "processingtype": 12, "cmtconfig": 8,
    "homepackageversion": 40, "transfertype": 4, "currentfiletype": 3, "relocationflag": 2, "country": 30,
    "schedulerid": 20, "pilotversion": 35, "creationhost": 24, "sourcesite": 150,
}  # fmt: skip

_INTEGERS = (
    "pandaid", "jobdefinitionid", "taskid", "attemptnr", "maxattempt", "assignedpriority", "currentpriority",
    "maxcpucount", "maxdiskcount", "minramcount", "cpucount", "nevents", "ninputfiles", "noutputfiles", "inputbytes",
    "outputbytes", "ddmerrorcode", "exeerrorcode", "piloterrorcode", "superrorcode", "taskbuffererrorcode",
    "brokerageerrorcode", "jobdispatchererrorcode", "transexitcode", "parentid", "jobsetid", "batchid", "corecount",
    "lockedby", "retries",
)  # fmt: skip
#: integers beyond 32 bits
_LONG = frozenset({"pandaid", "inputbytes", "outputbytes", "parentid", "batchid"})
_ERRORS = tuple(name for name in _INTEGERS if name.endswith(("errorcode", "exitcode")))

_FLOATS = (
    "waittime", "stageintime", "setuptime", "cpuconsumptiontime", "stageouttime", "walltime", "cpuefficiency",
    "cpuconversion", "inputrate", "outputrate", "load1", "load5", "load15", "memorymean", "memorymax", "swapmax",
    *(f"metric{number:02d}" for number in range(24)),
)  # fmt: skip
_DOUBLES = frozenset(("walltime", "cpuconsumptiontime", "inputrate", "outputrate"))

_TEXTS = (
    "jobname", "transformation", "jobparameters", "proddblock", "destinationdblock", "destinationse", "pilotid",
    "errordiag", "metadatapath", "specialhandling",
)  # fmt: skip

COLUMNS = (*_INTEGERS, *_FLOATS, *_WORDS, *_TEXTS)

_DATATYPES = (
    dict.fromkeys(_INTEGERS, "int")
    | dict.fromkeys(_LONG, "long")
    | dict.fromkeys(_FLOATS, "float")
    | dict.fromkeys(_DOUBLES, "double")
    | dict.fromkeys(_WORDS, "string")
    | dict.fromkeys(_TEXTS, "unicode")
)

JOBS_SCHEMA = "\n".join(
    (
        "name: panda",
        "tables:",
        "  - name: jobs",
        "    columns:",
        '      - {name: pandaid, datatype: long, nullable: false, "ivoa:ucd": meta.id;meta.main}',
        *(f"      - {{name: {name}, datatype: {_DATATYPES[name]}}}" for name in COLUMNS[1:]),
        '    "skyhouse:layout": {id: [pandaid]}',
        "",
    )
)


def make_jobs(rows: int, first_row: int, seed: int) -> pa.Table:
    """Return the jobs from number ``first_row`` on; the same for the same three arguments.

    Parameters
    ----------
    rows
        Number of jobs.
    first_row
        Number of the first job, from 0: its id is ``FIRST_ID + first_row``.
    seed
        Of all values but ids and days.
    """
    draw = np.random.default_rng((seed, first_row))
    numbers = np.arange(first_row, first_row + rows)
    found: dict[str, object] = {}
    for name in _INTEGERS:
        found[name] = _draw_integers(draw, name, numbers)
    for index, name in enumerate(_FLOATS):
        values = draw.lognormal(index % 7, 1.0, rows).astype(np.float64 if name in _DOUBLES else np.float32)
        found[name] = pa.array(values, mask=draw.random(rows) < 0.1) if index % 4 == 3 else values
    for name, count in _WORDS.items():
        found[name] = _draw_words(draw, name, count, numbers)
    for name in _TEXTS:
        found[name] = _write_texts(draw, name, numbers)
    return pa.table(found)


def _draw_integers(draw: np.random.Generator, name: str, numbers: np.ndarray) -> object:
    rows = len(numbers)
    if name == "pandaid":
        return numbers + FIRST_ID
    if name in _ERRORS:
        return pa.array(draw.integers(1000, 1400, rows, dtype=np.int32), mask=draw.random(rows) < 0.85)
    if name in _LONG:
        return draw.lognormal(20, 2, rows).astype(np.int64)
    return draw.geometric(0.02, rows).astype(np.int32)


def _draw_words(draw: np.random.Generator, name: str, count: int, numbers: np.ndarray) -> object:
    rows = len(numbers)
    if name == "jobday":
        return _take(_list_days(int(numbers[-1]) if rows else 0), _find_days(numbers))
    if name in ("computingsite", "sourcesite"):
        weights = np.arange(1, len(SITES) + 1) ** -1.1
        return _take(SITES, draw.choice(len(SITES), rows, p=weights / weights.sum()))
    if name == "prodsourcelabel":
        return _take(tuple(LABELS), draw.choice(len(LABELS), rows, p=list(LABELS.values())))
    return _take(tuple(f"{name[:6]}{number}" for number in range(count)), draw.integers(0, count, rows))


def _take(words: tuple[str, ...], indexes: np.ndarray) -> pa.Array:
    return pa.array(words).take(pa.array(indexes))


def find_day(number: int) -> str:
    """Return the day of a job, by its number from 0."""
    return str(FIRST_DAY + timedelta(days=int(_find_days(np.array([number]))[0])))


def _find_days(numbers: np.ndarray) -> np.ndarray:
    """Return the day of each job, counted from the first: weeks of 3.5 million jobs, fewer on their last two days."""
    ends = np.cumsum(np.roll(_WEEK, -FIRST_DAY.weekday())) * JOBS_A_DAY
    week, within = np.divmod(numbers, JOBS_A_DAY * 7)
    return week * 7 + np.searchsorted(ends, within, side="right").clip(max=6)


def _list_days(last: int) -> tuple[str, ...]:
    return tuple(str(FIRST_DAY + timedelta(days=day)) for day in range(int(_find_days(np.array([last]))[0]) + 1))


def _write_texts(draw: np.random.Generator, name: str, numbers: np.ndarray) -> pa.Array:
    rows = len(numbers)
    task = draw.integers(100_000, 400_000, rows).tolist()
    part = draw.integers(0, 10_000, rows).tolist()
    pairs = zip(task, part, strict=True)
    if name == "errordiag":
        missing = (draw.random(rows) < 0.85).tolist()
        texts = [
            None if gone else f"pilot: lost heartbeat of {a} on {b}"
            for (a, b), gone in zip(pairs, missing, strict=True)
        ]
    elif name == "jobparameters":
        texts = [f"-i input.{a}._{b:05d}.pool.root -o AOD.{a}.pool.root --maxEvents {b}" for a, b in pairs]
    elif name == "specialhandling":
        texts = [None] * rows
    else:
        texts = [f"{name}.{a:06d}._{b:05d}" for a, b in pairs]
    return pa.array(texts, pa.string())
