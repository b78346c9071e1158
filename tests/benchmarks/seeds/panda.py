"""Seed 004, PanDA: whole rows of 100 columns by job id, and seven indexes of several columns, for ten clients."""

from __future__ import annotations

import random
from functools import partial

from tests.benchmarks.seeds.panda_jobs import FIRST_ID, JOBS_SCHEMA, LABELS, SITES, find_day, make_jobs
from tests.benchmarks.seeds.seed_workload import Measure, Question, SeedTable, SeedWorkload, Size

_BATCH_ROWS: dict[Size, int] = {"S": 20_000, "M": 500_000, "F": 500_000}

#: The seed names one of the seven; the others have columns of it too
_INDEXES = (
    ("computingsite", "prodsourcelabel", "jobday"),
    ("jobstatus", "computingsite"),
    ("produsername", "jobday"),
    ("taskid", "jobstatus"),
    ("jobdefinitionid", "prodsourcelabel"),
    ("cloud", "jobstatus", "jobday"),
    ("destinationdblock",),
)
_LISTED = ", ".join(f"[{', '.join(columns)}]" for columns in _INDEXES)

JOBS = SeedTable(
    "panda.jobs",
    JOBS_SCHEMA.replace("{id: [pandaid]}", f"{{id: [pandaid], row_store: true, indexes: [{_LISTED}]}}"),
    {"S": 1, "M": 40, "F": 200},
    lambda size, number: make_jobs(_BATCH_ROWS[size], number * _BATCH_ROWS[size], 4),
)


def _count_jobs(size: Size) -> int:
    return JOBS.batches[size] * _BATCH_ROWS[size]


def _ask_job(draw: random.Random, size: Size) -> Question:
    text = f"SELECT * FROM panda.jobs WHERE pandaid = {FIRST_ID + draw.randrange(_count_jobs(size))}"
    return Question(text, text)


def _ask_ids(draw: random.Random, size: Size) -> Question:
    ids = ", ".join(str(FIRST_ID + draw.randrange(_count_jobs(size))) for _ in range(10))
    text = f"SELECT * FROM panda.jobs WHERE pandaid IN ({ids})"
    return Question(text, text)


def _ask_site_and_day(draw: random.Random, size: Size) -> Question:
    """Jobs of a site, a label and a day: few, as in the seed's example."""
    site, label = draw.choice(SITES[20:]), draw.choice(tuple(LABELS)[2:])
    day = find_day(draw.randrange(_count_jobs(size)))
    text = (
        "SELECT pandaid, jobstatus, produsername, cpuconsumptiontime FROM panda.jobs"
        f" WHERE computingsite = '{site}' AND prodsourcelabel = '{label}' AND jobday = '{day}'"
    )
    return Question(text, text)


def _ask_mix(draw: random.Random, size: Size) -> Question:
    """Seven of ten queries by id, a quarter by an index of several columns, the others by two columns."""
    kind = draw.random()
    if kind < 0.7:
        return _ask_job(draw, size)
    if kind < 0.95:
        return _ask_site_and_day(draw, size)
    status, cloud = f"jobsta{draw.randrange(9)}", f"cloud{draw.randrange(12)}"
    text = f"SELECT COUNT(*) AS n FROM panda.jobs WHERE jobstatus = '{status}' AND cloud = '{cloud}'"
    return Question(text, text)


_measure = partial(Measure, tables=(JOBS,), format="votable")
_SEEK = "10 ms an entry, 10 clients = 1,000/s; Oracle 100 ms (110 spindles)"

WORKLOAD = SeedWorkload(
    number="004",
    title="PanDA: a job's row by its id",
    source="Ito et al. 2011 (ATLAS), Cassandra on 3 nodes of 24 cores; 100 columns a job, 500,000 jobs a day.",
    measures=(
        *(
            _measure(
                f"rows by id, {clients} client{'s' * (clients > 1)}", "100 columns, through /sync", _ask_job,
                400 if clients == 10 else None, _SEEK, 0.010 * 72, count=300 * clients, clients=clients, is_rate=True,
                is_cold=clients == 10,
            )
            for clients in (1, 2, 4, 10, 32)
        ),
        _measure("ten ids, 10 clients", "100 columns, ten rows a query", _ask_ids, 100, _SEEK, count=500, clients=10, is_rate=True),
        _measure(
            "index of three columns", "a site, a label and a day: 0 to 500 rows", _ask_site_and_day, 0.025,
            "4 ms an entry; Oracle 0.5 to 15 ms", count=300,
        ),
        _measure("mix, 10 clients", "70 % ids, 25 % indexes, 5 % two columns", _ask_mix, 400, "at least 1,500/s in all", count=2000, clients=10, is_rate=True),
    ),
)  # fmt: skip
