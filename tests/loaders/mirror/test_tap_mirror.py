"""A mirror of another Skyhouse: pieces below the limit of the origin have each row once, also at borders and poles."""

from __future__ import annotations

import gzip
import math
import signal
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from clickhouse_schema.engine_tables import catalogue_log
from loaders.load_error import LoadError
from loaders.mirror.mirror_load import mirror_table
from loaders.mirror.mirror_request import MirrorRequest
from loaders.pipeline import startup_cleanup
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tests.cluster.dying import killed_at
from tests.loaders.mirror.gaia_mirror import PATIENCE
from tests.loaders.recorder import Recorder
from tests.loaders.test_cli import Service, skyhouse, started
from tests.servers.origin_server import serving_origin
from tests.servers.unsteady_proxy import running_proxy

ROWS = 2000
TABLE = "mirrored.stars"

SCHEMA = """\
name: origin
tables:
- name: stars
  description: Synthetic stars
  columns:
  - {name: id, datatype: long, nullable: false, "ivoa:ucd": "meta.id;meta.main", description: An identifier}
  - {name: ra, datatype: double, "ivoa:unit": deg, "ivoa:ucd": "pos.eq.ra;meta.main"}
  - {name: dec, datatype: double, "ivoa:unit": deg, "ivoa:ucd": "pos.eq.dec;meta.main"}
  - {name: mag, datatype: float, "ivoa:unit": mag, "tap:principal": true}
  - {name: size, datatype: int, description: A reserved word}
  - {name: ratio, datatype: double}
  - {name: name, datatype: unicode}
  skyhouse:layout: {position: [ra, dec], id: [id]}
"""


def make_rows() -> list[dict[str, Any]]:
    """Rows on the borders of pieces, on both sides of 0h, at the poles, many at one position, and without a position."""
    random = np.random.default_rng(11)
    ra, dec = random.uniform(0, 360, ROWS), np.degrees(np.arcsin(random.uniform(-1, 1, ROWS)))
    ra[:40], dec[:40] = np.tile([0.0, 360.0, 90.0, 180.0], 10), np.repeat([-90.0, -45.0, 0.0, 45.0, 90.0], 8)
    ra[40:300], dec[40:300] = 10.0, np.round(dec[40:300], 1)
    ra[300:600] = np.where(ra[300:600] < 180, ra[300:600] / 1e4, 360 - ra[300:600] / 1e5)
    return [
        {
            "id": number,
            "ra": None if number % 50 == 7 else float(ra[number]),
            "dec": None if number % 50 in (7, 8) else float(dec[number]),
            "mag": None if number % 3 == 0 else float(np.float32(random.normal(15, 2))),
            "size": number % 7,
            "ratio": math.inf if number == 5 else float(number),
            "name": f"Ω {number}",
        }
        for number in range(ROWS)
    ]


@pytest.fixture(scope="module")
def rows() -> list[dict[str, Any]]:
    return make_rows()


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Any]]) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("tap_origin")
    pq.write_table(pa.Table.from_pylist(rows), folder / "stars.parquet")
    (folder / "origin.yaml").write_text(SCHEMA)
    code, _, err = skyhouse(folder, "load", "stars.parquet", "--table", "origin.stars", "--schema", "origin.yaml")
    assert code == 0, err
    service = started(folder)
    yield service
    service.process.send_signal(signal.SIGTERM)
    service.process.communicate(timeout=30)


@pytest.fixture
def request_(service: Service, tmp_path: Path) -> MirrorRequest:
    return MirrorRequest(
        recipe=f"tap+http://127.0.0.1:{service.port}/tap",
        table=TABLE,
        work=tmp_path / "work",
        rejects=tmp_path / "rejects.csv",
        origin_table="origin.stars",
        piece_rows=500,
    )


def run(engine: EmbeddedEngine, request: MirrorRequest) -> Recorder:
    recorder = Recorder()
    mirror_table(engine, request, recorder, PATIENCE)
    return recorder


def read_rows(engine: EmbeddedEngine) -> list[dict[str, Any]]:
    return engine.fetch_table(f"SELECT id, ra, dec, mag, size, ratio, name FROM {TABLE} ORDER BY id").to_pylist()


def test_all_rows_come_in_pieces(
    request_: MirrorRequest, rows: list[dict[str, Any]], mirror_engine: EmbeddedEngine
) -> None:
    recorder = run(mirror_engine, request_)
    assert recorder.lines == [f"loaded {ROWS:,} rows into {TABLE}"]
    assert read_rows(mirror_engine) == rows
    assert "has 2,000 rows, of which at most 500 are fetched at a time" in recorder.messages[0]


def test_an_address_may_end_with_a_slash(
    request_: MirrorRequest, rows: list[dict[str, Any]], mirror_engine: EmbeddedEngine
) -> None:
    run(mirror_engine, request_.model_copy(update={"recipe": f"{request_.recipe}/", "piece_rows": 5000}))
    assert read_rows(mirror_engine) == rows


def test_a_table_below_the_limit_is_one_piece(
    request_: MirrorRequest, rows: list[dict[str, Any]], mirror_engine: EmbeddedEngine
) -> None:
    recorder = run(mirror_engine, request_.model_copy(update={"piece_rows": 3000}))
    assert recorder.messages[-1].startswith("1 of 1 files, 2,000 rows")
    assert read_rows(mirror_engine) == rows


def test_an_id_divides_the_rows(
    request_: MirrorRequest, rows: list[dict[str, Any]], mirror_engine: EmbeddedEngine
) -> None:
    run(mirror_engine, request_.model_copy(update={"by": "id", "piece_rows": 300}))
    assert read_rows(mirror_engine) == rows


def test_a_condition_and_columns_are_part_of_the_queries(
    request_: MirrorRequest, rows: list[dict[str, Any]], mirror_engine: EmbeddedEngine
) -> None:
    run(mirror_engine, request_.model_copy(update={"where": "mag < 14 OR mag IS NULL -- bright", "columns": ("name",)}))
    found = mirror_engine.fetch_table(f"SELECT * FROM {TABLE} ORDER BY id").to_pylist()
    wanted = [row for row in rows if row["mag"] is None or row["mag"] < 14]
    assert found == [{name: row[name] for name in ("id", "ra", "dec", "name")} for row in wanted]


def test_metadata_are_mirrored_too(request_: MirrorRequest, mirror_engine: EmbeddedEngine) -> None:
    run(mirror_engine, request_)
    (entry,) = catalogue_log.read_catalogue(mirror_engine).find_tables("stars", True, "mirrored", True)
    table = entry.table
    assert table.description == "Synthetic stars"
    assert (table.layout.position, table.layout.id) == (("ra", "dec"), ("id",))
    assert table.get_column("size").description == "A reserved word"
    assert (table.get_column("mag").unit, table.get_column("ra").ucd) == ("mag", "pos.eq.ra;meta.main")
    assert table.get_column("mag").principal


@pytest.mark.parametrize(("point", "count"), [("mirror.begin", 2), ("mirror.record", 3), ("mirror.publish", 1)])
def test_killed_and_started_again(
    request_: MirrorRequest, rows: list[dict[str, Any]], mirror_engine: EmbeddedEngine, point: str, count: int
) -> None:
    from clickhouse_schema.failpoints import Failpoint

    with killed_at(mirror_engine, Failpoint(point), count) as dying:
        run(dying, request_)
    startup_cleanup.finish_killed_loads(mirror_engine)
    run(mirror_engine, request_)
    assert read_rows(mirror_engine) == rows


def test_no_jobs_are_left(request_: MirrorRequest, service: Service, mirror_engine: EmbeddedEngine) -> None:
    form = urllib.parse.urlencode({"QUERY": "SELECT TOP 1 id FROM origin.stars", "LANG": "ADQL"}).encode()
    with urllib.request.urlopen(f"http://127.0.0.1:{service.port}/tap/async", form, timeout=30) as created:
        job = created.url.rpartition("/")[2]
    before = skyhouse(service.folder, "jobs", "list")[1]
    assert job in before
    run(mirror_engine, request_)
    assert skyhouse(service.folder, "jobs", "list")[1].count("\n") == before.count("\n")


def test_files_get_their_metadata_from_a_service(
    service: Service, rows: list[dict[str, Any]], mirror_engine: EmbeddedEngine, tmp_path: Path
) -> None:
    (tmp_path / "origin").mkdir()
    lines = [f"{row['id']}|{row['ra'] or ''}|{row['mag'] or ''}\n" for row in rows[:50]]
    (tmp_path / "origin" / "stars_1.gz").write_bytes(gzip.compress("".join(lines).encode()))
    with serving_origin(tmp_path / "origin") as server:
        (tmp_path / "recipe.yaml").write_text(
            f"name: x\ntable: {TABLE}\ncolumns: {{id: int, ra: '', magnitude: ''}}\nrenamed: {{mag: magnitude}}\n"
            f"origin: {{files: '{server.url}/stars_{{1..1}}.gz', form: {{delimiter: '|', header: false}}}}\n"
            f"metadata: {{tap: 'http://127.0.0.1:{service.port}/tap', table: origin.stars}}\n"
        )
        recorder = run(
            mirror_engine,
            MirrorRequest(
                recipe=str(tmp_path / "recipe.yaml"), table=TABLE, work=tmp_path / "w", rejects=tmp_path / "r"
            ),
        )
    assert any(line.startswith("note: the files do not have these columns") for line in recorder.messages)
    (entry,) = catalogue_log.read_catalogue(mirror_engine).find_tables("stars", True, "mirrored", True)
    found = [(column.name, column.datatype, column.unit, column.description) for column in entry.table.columns]
    assert found == [("id", "int", "", "An identifier"), ("ra", "double", "deg", ""), ("magnitude", "float", "mag", "")]
    magnitudes = mirror_engine.fetch_table(f"SELECT magnitude FROM {TABLE} ORDER BY id").column(0).to_pylist()
    assert magnitudes == [row["mag"] for row in rows[:50]]


def test_rows_at_one_position_cannot_be_divided(request_: MirrorRequest, mirror_engine: EmbeddedEngine) -> None:
    with pytest.raises(LoadError, match=r"rows are in one piece that cannot be divided .* with --by"):
        run(mirror_engine, request_.model_copy(update={"by": "size", "piece_rows": 50}))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"origin_table": "origin.nothing"}, "rejects SELECT TOP 1 .* there is no table origin.nothing"),
        ({"origin_table": "origin.stars; DROP"}, "is not the name of a table"),
        ({"by": "name"}, "--by: origin.stars has no numeric column name"),
        ({"by": "ratio", "piece_rows": 50}, "origin.stars cannot be divided by ratio, which has infinite"),
        ({"where": "brightness > 1"}, "--where: .*brightness"),
    ],
)
def test_what_the_origin_does_not_have_is_an_error(
    request_: MirrorRequest, mirror_engine: EmbeddedEngine, changes: dict[str, str], said: str
) -> None:
    with pytest.raises(LoadError, match=said):
        run(mirror_engine, request_.model_copy(update=changes))  # type: ignore[arg-type]


def test_an_address_without_a_service_is_an_error(
    request_: MirrorRequest, service: Service, mirror_engine: EmbeddedEngine
) -> None:
    address = f"tap+http://127.0.0.1:{service.port}/nothing/"
    with pytest.raises(LoadError, match=f"{service.port}/nothing/async"):
        run(mirror_engine, request_.model_copy(update={"recipe": address}))


def test_a_mirror_waits_for_a_busy_origin(
    request_: MirrorRequest, service: Service, rows: list[dict[str, Any]], mirror_engine: EmbeddedEngine
) -> None:
    with running_proxy(service.port, period=4) as proxy:
        run(mirror_engine, request_.model_copy(update={"recipe": f"tap+{proxy.url}/tap"}))
    assert read_rows(mirror_engine) == rows
    assert proxy.requests > 100


def test_an_origin_that_truncates_results_silently_is_asked_for_smaller_pieces(
    request_: MirrorRequest, service: Service, rows: list[dict[str, Any]], mirror_engine: EmbeddedEngine
) -> None:
    with running_proxy(service.port, max_rows=300) as proxy:
        recorder = run(mirror_engine, request_.model_copy(update={"recipe": f"tap+{proxy.url}/tap"}))
    assert read_rows(mirror_engine) == rows
    assert any("truncates results after 300 rows: fetching smaller pieces" in line for line in recorder.messages)
    assert (proxy.most_jobs, proxy.jobs) == (1, 0)
