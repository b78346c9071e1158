"""Attached tables on a cluster: read by one server, joined with tables on all shards."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from adql import translate
from clickhouse_schema.engine_tables.catalogue_log import read_catalogue
from loaders.cluster.rebalance import prepare_servers
from loaders.pipeline.attach_request import AttachRequest
from loaders.pipeline.attach_table import attach_catalogue
from loaders.pipeline.load_request import LoadRequest
from loaders.pipeline.load_table import load_files
from loaders.tables.drop_table import drop_table
from tap_service.hats.gateway.file_gateway import FileGateway
from tap_service.storage.engine.engine import Engine
from tests.loaders.recorder import Recorder
from tests.tap_service.hats.hats_files import write_catalogue

NEAR = "DISTANCE(a.ra, a.dec, b.ra, b.dec) < 2"

QUERIES = [
    "SELECT COUNT(*), SUM(id), MIN(mag) FROM {0}",
    "SELECT id, mag FROM {0} WHERE DISTANCE(ra, dec, 120, -40) < 20 ORDER BY id",
    "SELECT ROUND(mag) AS m, COUNT(*) FROM {0} GROUP BY m ORDER BY m",
    f"SELECT a.id, b.id FROM {{0}} AS a JOIN lying.sharded AS b ON {NEAR} ORDER BY a.id, b.id",
    f"SELECT a.id, b.id FROM lying.sharded AS a JOIN {{0}} AS b ON {NEAR} ORDER BY a.id, b.id",
    f"SELECT a.id, b.id FROM lying.sharded AS a LEFT JOIN {{0}} AS b ON {NEAR} AND a.id < b.id ORDER BY a.id, b.id",
    f"SELECT COUNT(*) FROM {{0}} AS a JOIN {{0}} AS b ON {NEAR}",
    "SELECT a.id, b.mag FROM {0} AS a JOIN lying.sharded AS b ON a.id = b.id WHERE a.mag < 14 ORDER BY a.id",
    "SELECT id FROM lying.sharded WHERE id IN (SELECT id FROM {0} WHERE DISTANCE(ra, dec, 120, -40) < 20) ORDER BY id",
]


@pytest.fixture(scope="module")
def cluster(cluster_of: Callable[[int], Engine], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """Yield two shards with lying.sharded, and the same catalogue attached as lying.attached."""
    engine = cluster_of(2)
    folder = write_catalogue(tmp_path_factory.mktemp("hats") / "stars")
    load_files(engine, LoadRequest(files=(folder,), table="lying.sharded", rejects=folder / "rejects.csv"), Recorder())
    attach_catalogue(engine, AttachRequest(address=str(folder), table="lying.attached"), Recorder())
    yield engine
    for table in ("lying.sharded", "lying.attached"):
        drop_table(engine, table, Recorder())


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FileGateway]:
    gateway = FileGateway("127.0.0.1", tmp_path_factory.mktemp("cache"), 0)
    yield gateway
    gateway.close()


@pytest.mark.parametrize("query", QUERIES)
def test_the_answers_are_those_of_the_sharded_table(cluster: Engine, gateway: FileGateway, query: str) -> None:
    catalogue = gateway.publish(read_catalogue(cluster))
    answers = []
    for table in ("lying.sharded", "lying.attached"):
        translation = translate(query.format(table), catalogue)
        answers.append(cluster.fetch_table(translation.sql, translation.settings).to_pylist())
    assert answers[0] == answers[1] != []


def test_new_servers_need_no_table_for_it(cluster: Engine) -> None:
    reporter = Recorder()
    prepare_servers(cluster, reporter)
    assert reporter.lines == ["all servers have all tables"]
