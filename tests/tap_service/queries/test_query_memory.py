"""Match five million rows within 300 MB: every kind of join has the same answer as without a limit.

A tenth of the rows are in one cell of the sky, as in a globular cluster, and others at both poles and on both sides
of right ascension 0. It takes long because it matches five million rows, twice each.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator
from functools import cache

import httpx
import pytest

from adql import translate
from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.engine_tables.catalogue_log import read_catalogue, register_table, unregister_table
from clickhouse_schema.engine_tables.density_table import update_density
from clickhouse_schema.schema_model import Schema
from clickhouse_schema.table_ddl import create_table_sql
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tests.support.running_service import RunningService
from tests.tap_service.async_client import create_job

STARS = 5_000_000
MEMORY = 300_000_000
EVERYTHING = {"FORMAT": "csv", "MAXREC": "10000000"}

_COLUMNS = [
    {"name": "id", "datatype": "long", "nullable": False},
    {"name": "ra", "datatype": "double"},
    {"name": "dec", "datatype": "double"},
    {"name": "mag", "datatype": "short"},
    {"name": "radius", "datatype": "double"},
]
_LAYOUT = {"position": ["ra", "dec"], "id": ["id"]}
SCHEMA = Schema.model_validate_json(
    json.dumps(
        {
            "name": "crowded",
            "tables": [
                {"name": name, "columns": _COLUMNS, "skyhouse:layout": _LAYOUT} for name in ("stars", "others", "few")
            ],
        }
    )
)

#: Of a hundred rows ten are in the cluster, one is at each pole, and one near right ascension 0.
_U, _V = (f"(cityHash64(number, {salt}) / 18446744073709551616.)" for salt in (1, 2))
_RA = f"multiIf(number % 10 = 3, 201 + 1.2 * {_U}, number % 100 = 27, ({_U} - 0.5) / 50 + if({_U} < 0.5, 360, 0), 360 * {_U})"
_DEC = (
    f"multiIf(number % 10 = 3, -47 - 0.8 * {_V}, number % 100 = 7, 90 - {_V} / 5, number % 100 = 17, {_V} / 5 - 90,"
    f" degrees(asin(2 * {_V} - 1)))"
)
_ROWS = {
    "stars": f"SELECT number, {_RA}, {_DEC}, number % 20, number % 5 / 40000 FROM numbers({STARS})",
    # a fifth of them, including the cluster, the poles and ra 0, moved by up to 0.0003 degrees
    "others": "SELECT id, ra + if(ra > 359.9999, -359.9999, 0.0001), dec + if(dec > 0, -1, 1) * (id % 30) / 100000, mag + 1,"
    " radius FROM crowded.stars WHERE id % 10 IN (3, 7)",
    "few": "SELECT * FROM crowded.others WHERE id % 1000 = 3",
}

STARS_OTHERS = "crowded.stars AS a {} JOIN crowded.others AS b ON"
NEAR = "DISTANCE(POINT(a.ra, a.dec), POINT(b.ra, b.dec)) < 0.0002"
POSITIONS = "POINT(a.ra, a.dec), POINT(b.ra, b.dec)"
SUMS = "COUNT(*) AS n, COUNT(a.id) AS na, COUNT(b.id) AS nb, SUM(a.id) AS a, SUM(b.id + a.mag) AS b"

QUERIES = {
    "inner": f"SELECT {SUMS} FROM {STARS_OTHERS.format('')} {NEAR}",
    "conditions": f"SELECT {SUMS} FROM {STARS_OTHERS.format('')} {NEAR} AND a.mag < b.mag - 2 WHERE a.dec < 60",
    "left": f"SELECT {SUMS} FROM {STARS_OTHERS.format('LEFT')} {NEAR} AND a.mag < 15",
    "right": f"SELECT {SUMS} FROM {STARS_OTHERS.format('RIGHT')} {NEAR}",
    "full": f"SELECT {SUMS} FROM {STARS_OTHERS.format('FULL')} {NEAR}",
    "exists": f"SELECT COUNT(*) AS n, SUM(id) AS s FROM crowded.stars AS a WHERE EXISTS"
    f" (SELECT 1 FROM crowded.others AS b WHERE {NEAR})",
    "not exists": f"SELECT COUNT(*) AS n, SUM(id) AS s FROM crowded.stars AS a WHERE NOT EXISTS"
    f" (SELECT 1 FROM crowded.others AS b WHERE {NEAR} AND b.mag <> a.mag)",
    "nearest": f"SELECT {SUMS} FROM {STARS_OTHERS.format('')} 1 = skyhouse_nearest(1, {POSITIONS}, 0.0002)",
    "mutual": f"SELECT {SUMS} FROM {STARS_OTHERS.format('')} 1 = skyhouse_mutual({POSITIONS}, 0.0002)",
    "count": f"SELECT COUNT(*) AS n FROM {STARS_OTHERS.format('')} {NEAR}",
    "count of each row": f"SELECT COUNT(*) AS n, SUM(k) AS s FROM"
    f" (SELECT b.id, COUNT(*) AS k FROM {STARS_OTHERS.format('')} {NEAR} GROUP BY b.id) AS q",
    "groups": f"SELECT b.mag, COUNT(*) AS n, SUM(a.id) AS s FROM {STARS_OTHERS.format('')} {NEAR} GROUP BY b.mag",
    "circles": f"SELECT {SUMS} FROM {STARS_OTHERS.format('')} 1 = CONTAINS(POINT(a.ra, a.dec), CIRCLE(b.ra, b.dec, b.radius))",
    "circles, full": f"SELECT {SUMS} FROM {STARS_OTHERS.format('FULL')} 1 = CONTAINS(POINT(a.ra, a.dec), CIRCLE(b.ra, b.dec, b.radius))",
    "few": f"SELECT {SUMS} FROM crowded.stars AS a JOIN crowded.few AS b ON {NEAR}",
    "by id": f"SELECT {SUMS} FROM {STARS_OTHERS.format('')} a.id = b.id",
    "sorted": f"SELECT TOP 500 a.id, b.id AS j FROM {STARS_OTHERS.format('')} {NEAR} ORDER BY MOD(a.id, 9973), a.id, b.id",
}

#: With a subquery in its condition a match keeps one of the tables in memory.
OF_ALL = "b.mag > (SELECT MIN(mag) - 1 FROM crowded.few)"


def keep_in_memory(query: str) -> str:
    return query.replace(" ON ", f" ON {OF_ALL} AND ")


KEPT = {f"{kind}, kept": keep_in_memory(QUERIES[kind]) for kind in ("inner", "left", "nearest", "mutual")}

#: Queries whose stored rows are written to disk
ON_DISK = frozenset({*KEPT, "right", "full", "exists", "not exists"})


@pytest.fixture(scope="module")
def catalogue(svc_engine: EmbeddedEngine) -> Iterator[Catalogue]:
    svc_engine.execute("CREATE DATABASE crowded")
    for table in SCHEMA.tables:
        svc_engine.execute(create_table_sql(table, f"crowded.{table.name}"))
        svc_engine.execute(f"INSERT INTO crowded.{table.name} (id, ra, dec, mag, radius) {_ROWS[table.name]}")
        update_density(svc_engine, "crowded", table)
        register_table(svc_engine, SCHEMA, table)
    yield read_catalogue(svc_engine)
    for table in SCHEMA.tables:
        unregister_table(svc_engine, "crowded", table.name)
    svc_engine.execute("DROP DATABASE crowded SYNC")


@pytest.fixture(scope="module")
def small(catalogue: Catalogue, serve: Callable[..., RunningService]) -> RunningService:
    return serve(query_memory=MEMORY, sync_seconds=1000)


@pytest.fixture(scope="module")
def answer_without_limit(svc_engine: EmbeddedEngine, catalogue: Catalogue) -> Callable[[str], list[list[str]]]:
    @cache
    def answer(kind: str) -> list[list[str]]:
        translation = translate(QUERIES[kind.removesuffix(", kept")], catalogue)
        rows = svc_engine.fetch_table(translation.sql, translation.settings).to_pylist()
        return sorted(["" if value is None else str(value) for value in row.values()] for row in rows)

    return answer


Answer = Callable[[str], list[list[str]]]


def count_parts_on_disk(service: RunningService) -> int:
    """Return how often joins have written rows to disk so far."""
    found = service.engine.fetch_table(
        "SELECT sum(value) AS n FROM system.events WHERE event = 'ExternalJoinWritePart'"
    )
    return int(found["n"][0].as_py())


def read_rows(text: str) -> list[list[str]]:
    return sorted(list(csv.reader(io.StringIO(text)))[1:])


@pytest.mark.parametrize("kind", [*QUERIES, *KEPT])
def test_the_answer_is_that_without_a_limit(small: RunningService, answer_without_limit: Answer, kind: str) -> None:
    before = count_parts_on_disk(small)
    asked = {"LANG": "ADQL", "QUERY": (QUERIES | KEPT)[kind], **EVERYTHING}
    response = httpx.post(small.sync, data=asked, timeout=600)  # on a busy machine
    assert response.status_code == 200, response.text
    assert kind not in ON_DISK or count_parts_on_disk(small) > before
    rows = read_rows(response.text)
    assert rows == answer_without_limit(kind)
    assert int(rows[0][0]) > 100 or len(rows) > 2


def test_the_rows_do_not_fit_into_memory(svc_engine: EmbeddedEngine, catalogue: Catalogue) -> None:
    """Without the disk, a match fails."""
    translation = translate(QUERIES["full"], catalogue)
    with pytest.raises(Exception, match="memory limit"):
        svc_engine.fetch_table(translation.sql, translation.settings | {"max_memory_usage": MEMORY})


@pytest.mark.parametrize("kind", ["left", "groups"])
def test_jobs_run_in_pieces_that_fit(small: RunningService, answer_without_limit: Answer, kind: str) -> None:
    job = create_job(small.tap, keep_in_memory(QUERIES[kind]), PHASE="RUN", **EVERYTHING)
    assert job.wait_for_end() == "COMPLETED", job.message
    assert read_rows(job.rows()) == answer_without_limit(kind)
    info = job.info
    assert 2 <= int(info["pieces"] or 0) <= 12
    assert info["piecesDone"] == info["pieces"]
    assert (info["plan"] or "").splitlines()[0].endswith("whose groups are merged, so that each fits into memory")
    assert int(info["peakMemory"] or 0) <= MEMORY


def test_estimate_and_plan_say_what_goes_to_disk(small: RunningService) -> None:
    says = "MB of rows and have 75 MB of memory for them: the rest goes to disk"
    for kind, is_said in (("nearest, kept", True), ("few", False), ("by id", False)):
        data = {"LANG": "ADQL", "QUERY": (QUERIES | KEPT)[kind]}
        plan = httpx.post(f"{small.tap}/estimate", data=data).json()["plan"]
        assert (says in plan[0]) == is_said, plan
    job = create_job(small.tap, keep_in_memory(QUERIES["sorted"]), PHASE="RUN", **EVERYTHING)
    assert job.wait_for_end() == "COMPLETED", job.message
    first, second, *_ = (job.info["plan"] or "").splitlines()
    assert first == "in one: ORDER BY compares all rows"
    assert says in second
