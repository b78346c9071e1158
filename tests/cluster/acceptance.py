"""A cluster does what one server does: it loads, answers, and tolerates a stopped server. Uses only functions of commands.

Here the cluster has three shards, each of one server on this machine. On another cluster, without a schema called
acceptance (``tests.cluster.real`` has what is to be set):

    CLUSTER_URL=http://ch1:8123,http://ch2:8123 python -m pytest tests/cluster/acceptance.py tests/cluster/test_equality.py
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from clickhouse_schema.cluster_topology import read_topology
from clickhouse_schema.engine_tables.catalogue_log import read_catalogue
from clickhouse_schema.engine_tables.engine_setup import prepare_engine
from clickhouse_schema.failpoints import Failpoint
from loaders.cli.console_reporter import ConsoleReporter
from loaders.cluster import cluster_publication
from loaders.pipeline.load_request import LoadRequest, Mode
from loaders.pipeline.load_table import load_files
from loaders.tables.drop_table import drop_table
from loaders.tables.verify_table import verify_table
from tap_service.config import Config
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tap_service.storage.engine.engine import Engine, EngineUnavailable
from tap_service.storage.open_storage import open_remote_engine
from tests.cluster import real
from tests.cluster.dying import killed_at
from tests.servers.server_cluster import running_cluster, urls_of
from tests.support.adql_rows import make_comparable, query_rows

STARS, SOURCES = 8_000, 20_000

SCHEMA = """
name: acceptance
tables:
- name: stars
  columns:
  - {name: id, datatype: long, nullable: false}
  - {name: ra, datatype: double}
  - {name: dec, datatype: double}
  - {name: mag, datatype: float}
  skyhouse:layout: {position: [ra, dec], id: [id], overlap_radius: 0.5}
- name: sources
  columns:
  - {name: number, datatype: long, nullable: false}
  - {name: star, datatype: long, nullable: false}
  - {name: ra, datatype: double}
  - {name: dec, datatype: double}
  - {name: mjd, datatype: double}
  - {name: flux, datatype: float}
  constraints:
  - {name: of, "@type": ForeignKey, columns: ["#sources.star"], referencedColumns: ["#stars.id"]}
  skyhouse:layout: {position: [ra, dec], id: [number], time: mjd, overlap_radius: 0.5, parent: of}
- name: bands
  columns:
  - {name: id, datatype: long, nullable: false}
  - {name: band, datatype: string}
"""

_NEAR = "DISTANCE(POINT(a.ra, a.dec), POINT(b.ra, b.dec)) < {}"

QUERIES = [
    "SELECT COUNT(*), SUM(id), MIN(mag), MAX(mag) FROM acceptance.stars",
    "SELECT id, mag FROM acceptance.stars WHERE 1 = CONTAINS(POINT(ra, dec), CIRCLE(120, -30, 5))",
    "SELECT id FROM acceptance.stars WHERE 1 = CONTAINS(POINT(ra, dec), CIRCLE(0, 90, 10))",
    "SELECT id FROM acceptance.stars WHERE 1 = CONTAINS(POINT(ra, dec), POLYGON(10, -5, 20, -5, 20, 5, 10, 5))",
    "SELECT * FROM acceptance.stars WHERE id IN (7, 77, 777, 7777)",
    "SELECT * FROM acceptance.stars WHERE ra IS NULL",
    "SELECT FLOOR(mag) AS bin, COUNT(*), AVG(mag), STDDEV(mag) FROM acceptance.stars GROUP BY FLOOR(mag)",
    "SELECT TOP 20 id, mag FROM acceptance.stars ORDER BY mag, id OFFSET 5",
    "SELECT DISTINCT MOD(id, 17) FROM acceptance.stars",
    f"SELECT a.id, b.id FROM acceptance.stars AS a JOIN acceptance.stars AS b ON {_NEAR.format(0.1)}",
    f"SELECT a.id, b.id FROM acceptance.stars AS a JOIN acceptance.stars AS b ON {_NEAR.format(0.7)} WHERE a.mag < 11",
    f"SELECT a.id, b.id FROM acceptance.stars AS a LEFT JOIN acceptance.stars AS b ON {_NEAR.format(0.4)} AND b.mag < 12",
    f"SELECT COUNT(*) FROM acceptance.stars AS a JOIN acceptance.stars AS b ON {_NEAR.format(0.5)} WHERE a.id < b.id",
    "SELECT a.id, b.id FROM acceptance.stars AS a JOIN acceptance.stars AS b"
    " ON 1 = skyhouse_nearest(1, POINT(a.ra, a.dec), POINT(b.ra, b.dec), 0.5)",
    "SELECT s.id, COUNT(*), AVG(d.flux) FROM acceptance.stars AS s JOIN acceptance.sources AS d ON d.star = s.id"
    " WHERE 1 = CONTAINS(POINT(s.ra, s.dec), CIRCLE(200, 20, 8)) GROUP BY s.id",
    "SELECT number FROM acceptance.sources WHERE mjd BETWEEN 60100 AND 60110",
    "SELECT b.band, COUNT(*) FROM acceptance.stars AS s JOIN acceptance.bands AS b ON MOD(s.id, 6) = b.id GROUP BY b.band",
    "SELECT id FROM acceptance.stars WHERE id IN (SELECT star FROM acceptance.sources WHERE flux > 3)",
    "SELECT id FROM acceptance.stars EXCEPT SELECT star FROM acceptance.sources",
    "SELECT table_name FROM TAP_SCHEMA.tables WHERE schema_name = 'acceptance'",
]


@dataclass(frozen=True)
class Cluster:
    """``stop`` and ``start`` take the address of a server."""

    engine: Engine
    urls: tuple[str, ...]
    stop: Callable[[str], object]
    start: Callable[[str], object]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with ExitStack() as stack:
        found = _real() if real.IS_GIVEN else _start(stack, tmp_path_factory.mktemp("acceptance"))
        stack.callback(found.engine.close)
        prepare_engine(found.engine)
        assert "acceptance" not in [schema.name for schema in read_catalogue(found.engine).schemas]
        yield found
        if real.IS_GIVEN:
            made = [
                each.qualified_name for each in read_catalogue(found.engine).entries if each.schema.name == "acceptance"
            ]
            with ConsoleReporter() as reporter:
                for table in made:
                    drop_table(found.engine, table, reporter)


def _real() -> Cluster:
    return Cluster(real.engine(), real.config().clickhouse_urls, real.stop, real.start)


def _start(stack: ExitStack, folder: Path) -> Cluster:
    patch = stack.enter_context(pytest.MonkeyPatch.context())
    patch.setattr(cluster_publication, "LINGER_SECONDS", 0)  # nobody reads the replaced tables
    servers = stack.enter_context(running_cluster(folder, 3))
    by_url = {server.url: server for server in servers}
    engine = open_remote_engine(Config(clickhouse_url=urls_of(servers)))
    return Cluster(engine, tuple(by_url), lambda url: by_url[url].kill(), lambda url: by_url[url].start())


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a Parquet file for each table, in two halves, and schema.yaml of each."""
    folder = tmp_path_factory.mktemp("files")
    random = np.random.default_rng(5)
    stars = _sky(random)
    star = random.integers(1, STARS - 500, SOURCES)
    sources = pa.table(
        {
            "number": np.arange(SOURCES),
            "star": stars["id"].take(star),
            "ra": stars["ra"].take(star),
            "dec": stars["dec"].take(star),
            "mjd": random.uniform(60_000, 60_400, SOURCES),
            "flux": random.normal(0, 1, SOURCES).astype(np.float32),
        }
    )
    bands = pa.table({"id": range(6), "band": list("ugrizy")})
    for name, table in (("stars", stars), ("sources", sources), ("bands", bands)):
        half = table.num_rows // 2
        pq.write_table(table.slice(0, half), folder / f"{name}_0.parquet")
        pq.write_table(table.slice(half), folder / f"{name}_1.parquet")
    (folder / "schema.yaml").write_text(SCHEMA)
    return folder


def _sky(random: np.random.Generator, count: int = STARS) -> pa.Table:
    """Half of the positions are crowded, so that there are pairs; the first has none."""
    ra = np.where(np.arange(count) % 2, random.uniform(0, 360, count), random.normal(120, 4, count) % 360)
    dec = np.where(
        np.arange(count) % 2, np.degrees(np.arcsin(random.uniform(-1, 1, count))), random.normal(-30, 4, count)
    )
    mask = np.arange(count) == 0
    return pa.table(
        {
            "id": np.arange(count),
            "ra": pa.array(ra, mask=mask),
            "dec": pa.array(dec, mask=mask),
            "mag": random.uniform(10, 25, count).astype(np.float32),
        }
    )


def _load(engine: Engine, files: Path, table: str, mode: Mode, *halves: int) -> None:
    with ConsoleReporter() as reporter:
        paths = tuple(files / f"{table}_{half}.parquet" for half in halves)
        name = f"acceptance.{table}"
        load_files(
            engine,
            LoadRequest(
                files=paths, table=name, rejects=files / "rejects.csv", schema_file=files / "schema.yaml", mode=mode
            ),
            reporter,
        )


@pytest.fixture(scope="module")
def both(cluster: Cluster, engine: EmbeddedEngine, files: Path) -> tuple[Engine, Engine]:
    """The cluster and one server with the same tables: loaded, replaced, and appended to."""
    prepare_engine(engine)
    for each in (cluster.engine, engine):
        _load(each, files, "stars", "create", 0)
        _load(each, files, "stars", "append", 1)
        _load(each, files, "sources", "create", 0, 1)  # parents before children
        _load(each, files, "bands", "create", 0)
        _load(each, files, "bands", "replace", 0, 1)
    return cluster.engine, engine


def _rows(engine: Engine, query: str) -> list[tuple[Any, ...]]:
    return sorted(make_comparable(query_rows(engine, read_catalogue(engine), query)), key=repr)


def test_all_rows_are_where_they_belong(both: tuple[Engine, Engine]) -> None:
    cluster, _ = both
    with ConsoleReporter() as reporter:
        for table in ("stars", "sources", "bands"):
            verify_table(cluster, f"acceptance.{table}", reporter)
    for table, count in (("stars", STARS), ("sources", SOURCES), ("bands", 6)):
        assert query_rows(cluster, read_catalogue(cluster), f"SELECT COUNT(*) FROM acceptance.{table}") == [(count,)]


def test_the_answers_are_those_of_one_server(both: tuple[Engine, Engine]) -> None:
    cluster, alone = both
    assert [query for query in QUERIES if _rows(cluster, query) != _rows(alone, query)] == []
    assert all(_rows(alone, query) for query in QUERIES)


def test_a_load_that_is_killed_goes_on_where_it_was(both: tuple[Engine, Engine], files: Path) -> None:
    cluster, alone = both
    for point in (
        Failpoint.STAGING_CREATE,
        Failpoint.SHARDS_SEND_COPIES,
        Failpoint.SHARDS_SEND,
        Failpoint.STAGING_VERIFY,
        Failpoint.DENSITY_WRITE,
    ):
        with killed_at(cluster, point) as dying:
            _load(dying, files, "stars", "replace", 1, 0)
    assert _rows(cluster, QUERIES[0]) == _rows(alone, QUERIES[0])
    _load(cluster, files, "stars", "replace", 1, 0)
    with ConsoleReporter() as reporter:
        verify_table(cluster, "acceptance.stars", reporter)
    assert _rows(cluster, QUERIES[0]) == _rows(alone, QUERIES[0])


def test_any_server_may_go_away(both: tuple[Engine, Engine], cluster: Cluster) -> None:
    """If another server has its rows, queries continue; otherwise they fail, and are correct again when it is back."""
    query = QUERIES[6]
    wanted = _rows(both[1], query)
    has_replicas = read_topology(cluster.engine).is_replicated
    for url in cluster.urls:
        cluster.stop(url)
        try:
            for _ in range(4):
                with nullcontext() if has_replicas else pytest.raises(EngineUnavailable):
                    assert _rows(cluster.engine, query) == wanted
        finally:
            cluster.start(url)
        assert _rows(cluster.engine, query) == wanted
