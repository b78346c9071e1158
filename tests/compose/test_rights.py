"""The rights of each user of compose/clickhouse/users.xml, on three servers without replicas."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from clickhouse_schema.engine_tables.catalogue_log import read_catalogue
from clickhouse_schema.engine_tables.engine_setup import prepare_engine
from loaders.backup.backup_manifest import Part
from loaders.backup.backup_request import BackupRequest
from loaders.backup.create_backup import create_backup
from loaders.cli.console_reporter import ConsoleReporter
from loaders.control.engine_opener import open_engine
from loaders.pipeline.attach_request import AttachRequest
from loaders.pipeline.attach_table import attach_catalogue
from loaders.pipeline.load_request import LoadRequest
from loaders.pipeline.load_table import load_files
from loaders.tables.verify_table import verify_table
from tap_service.config import Config
from tap_service.storage.engine.engine import Engine, EngineError
from tap_service.storage.open_storage import open_remote_engine
from tests.compose.serving import PASSWORDS, USERS, configured_cluster
from tests.servers.server_cluster import urls_of
from tests.support.environment import ROOT
from tests.support.running_service import RunningService, running_service
from tests.tap_service.hats.hats_files import write_catalogue
from tests.tap_service.users import User, write_accounts

ACCESS_DENIED = 497

OPENNGC = ROOT / "loaders" / "demo" / "openngc.parquet"

NOT_THE_LOADER = (
    "SELECT * FROM system.users",
    "CREATE TABLE system.more (a Int64) ENGINE = Memory",
    "CREATE USER more",
    "GRANT SELECT ON *.* TO default",
    "SYSTEM SHUTDOWN",
    "SELECT * FROM url('http://127.0.0.1/', CSV, 'a String')",
    "SELECT * FROM file('/etc/passwd', LineAsString)",
)

VOTABLE = """<VOTABLE version="1.4"><RESOURCE><TABLE><FIELD name="name" datatype="char" arraysize="*"/><DATA><TABLEDATA>
<TR><TD>NGC 224</TD></TR></TABLEDATA></DATA></TABLE></RESOURCE></VOTABLE>"""


def open_as(urls: str, user: str) -> Engine:
    return open_remote_engine(
        Config(clickhouse_url=urls, clickhouse_user=user, clickhouse_password=PASSWORDS[user])  # type: ignore[arg-type]
    )


@dataclass(frozen=True)
class Loaded:
    """A cluster, and the codes of statements that were refused to its loader.

    ``forgets``: when a server lost its disk.
    """

    urls: str
    refused: dict[str, int]
    forgets: int


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Loaded]:
    """Created by the loader, with a table in it."""
    folder = tmp_path_factory.mktemp("rights")
    with configured_cluster(folder) as servers, ConsoleReporter() as reporter:
        engine = open_as(urls_of(servers), "loader")
        prepare_engine(engine)
        for mode in ("create", "replace"):
            rejects, schema = folder / "rejects.csv", OPENNGC.with_suffix(".yaml")
            load_files(
                engine,
                LoadRequest(files=(OPENNGC,), table="openngc.objects", rejects=rejects, schema_file=schema, mode=mode),
                reporter,
            )
        verify_table(engine, "openngc.objects", reporter)
        attach_catalogue(
            engine, AttachRequest(address=str(write_catalogue(folder / "stars")), table="lying.stars"), reporter
        )
        refused = {statement: refusal(engine, statement) for statement in NOT_THE_LOADER}
        request = BackupRequest(
            data=folder, target=str(folder / "backups"), parts=frozenset({Part.TABLES}), disk="backups"
        )
        create_backup(engine, Config(clickhouse_url=urls_of(servers)), request, reporter)
        yield Loaded(urls_of(servers), refused, refusal(engine, "SYSTEM DROP REPLICA 'gone'"))
        engine.close()


@pytest.fixture(scope="module")
def engine(loaded: Loaded) -> Iterator[Engine]:
    """The engine of the service. The workers' user has the same role."""
    engine = open_as(loaded.urls, "skyhouse")
    yield engine
    engine.close()


def test_the_service_starts(loaded: Loaded, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the catalogue that the loader has left; commands need more rights."""
    monkeypatch.setenv("SKYHOUSE_CLICKHOUSE_URL", loaded.urls)
    monkeypatch.setenv("SKYHOUSE_CLICKHOUSE_USER", "skyhouse")
    monkeypatch.setenv("SKYHOUSE_CLICKHOUSE_PASSWORD", PASSWORDS["skyhouse"])
    with open_engine(tmp_path, is_read_only=True) as engine:
        assert "openngc" in [schema.name for schema in read_catalogue(engine).schemas]
    with pytest.raises(EngineError, match="Not enough privileges"), open_engine(tmp_path):
        pass


def refusal(engine: Engine, statement: str) -> int:
    """Return the code of the error; 0 if there is none."""
    try:
        engine.execute(statement)
    except EngineError as error:
        return error.code
    return 0


def test_the_loader_may_not(loaded: Loaded) -> None:
    assert loaded.refused == dict.fromkeys(NOT_THE_LOADER, ACCESS_DENIED)


def test_the_loader_may_have_a_server_forgotten(loaded: Loaded) -> None:
    """A server whose disk is lost comes back under its name, and no replica can report it."""
    assert loaded.forgets != ACCESS_DENIED


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO skyhouse.catalogue SELECT 1, '', '', ''",
        "ALTER TABLE skyhouse.catalogue DELETE WHERE 1",
        "TRUNCATE TABLE skyhouse.catalogue",
        "DROP TABLE skyhouse.catalogue",
        "INSERT INTO openngc.objects (name) SELECT 'x'",
        "ALTER TABLE openngc.objects ADD COLUMN x Int64",
        "CREATE TABLE openngc.more (a Int64) ENGINE = MergeTree ORDER BY a",
        "CREATE VIEW skyhouse.v AS SELECT 1",
        "CREATE TABLE skyhouse.more (a Int64) ENGINE = MergeTree ORDER BY a",
        "TRUNCATE TABLE TAP_SCHEMA.tables",
        "INSERT INTO TAP_SCHEMA.schemas (schema_name) SELECT 'x'",
        "DROP TABLE skyhouse.user_tables",
        "CREATE DATABASE more",
        "DROP DATABASE openngc",
        "CREATE USER more",
        "GRANT SELECT ON system.* TO default",
        "SELECT * FROM system.users",
        "SELECT * FROM file('/etc/passwd', LineAsString)",
        "SELECT * FROM url('http://127.0.0.1/', CSV, 'a String')",
        "SELECT * FROM s3('http://127.0.0.1/bucket/file', CSV, 'a String')",
        "INSERT INTO FUNCTION file('out', CSV, 'a Int64') SELECT 1",
        "BACKUP TABLE openngc.objects TO Disk('backups', 'mine')",
        "SYSTEM SHUTDOWN",
        "SYSTEM DROP MARK CACHE",
        "CREATE FUNCTION f AS x -> x",
        "CREATE DICTIONARY skyhouse.d (a UInt64) PRIMARY KEY a SOURCE(NULL()) LAYOUT(FLAT()) LIFETIME(0)",
    ],
)
def test_the_service_may_not(engine: Engine, statement: str) -> None:
    assert refusal(engine, statement) == ACCESS_DENIED


@pytest.mark.parametrize(
    "setting", [{"skip_unavailable_shards": 1}, {"distributed_product_mode": "local"}, {"workload": "more"}]
)
def test_the_service_may_not_set(engine: Engine, setting: dict) -> None:
    with pytest.raises(EngineError) as caught:
        engine.fetch_table("SELECT 1", setting)
    assert "readonly" in caught.value.detail


def test_the_service_does_its_work(engine: Engine, tmp_path: Path) -> None:
    """Queries over all shards, uploads, jobs, and a user table from its creation to its end."""
    settings = {
        "query_log": "",
        "clickhouse_url": "http://is.open",
        "accounts": write_accounts(tmp_path / "accounts.sqlite"),
        "jobs_path": tmp_path / "jobs",
        "piece_seconds": 0.0001,
    }
    with running_service(Config(**settings), engine) as service:
        alice = User(service, "alice")
        assert alice.count("openngc.objects WHERE 1 = CONTAINS(POINT(ra, dec), CIRCLE(10.68, 41.27, 0.5))") > 1
        match = "openngc.objects AS a JOIN openngc.objects AS b ON DISTANCE(a.ra, a.dec, b.ra, b.dec) < 0.01"
        assert alice.count(match) > 13_000
        assert alice.count("lying.stars WHERE mag > -99") == 1200
        assert alice.count("lying.stars WHERE DISTANCE(ra, dec, 120, -40) < 20") > 20
        _upload(service)
        _find_names(service)
        assert alice.put("mydb.mine", "id,ra,dec\n1,10.5,41.2\n2,11.5,-20.5\n").status_code == 201
        assert alice.load("mydb.mine", "id,ra,dec\n3,0,0\n").status_code == 200
        assert alice.create_index("mydb.mine", "id", UNIQUE="true").phase == "COMPLETED"
        groups = "SELECT type, COUNT(*) AS n FROM openngc.objects GROUP BY type"
        job = alice.job("async", LANG="ADQL", FORMAT="csv", QUERY=groups)
        assert job.run().wait_for_end() == "COMPLETED", job.summary
        assert alice.rows("SELECT table_name FROM TAP_SCHEMA.tables WHERE schema_name = 'mydb'") == [["mydb.mine"]]
        assert alice.count("mydb.mine") == 3
        assert alice.http("DELETE", "tables/mydb.mine").status_code == 204
        alice.session.close()
    assert engine.list_running_ids("async-") == []
    assert engine.read_progress(["async-1"]) == {}


def _upload(service: RunningService) -> None:
    query = "SELECT COUNT(*) AS n FROM openngc.objects AS o JOIN TAP_UPLOAD.mine AS m ON o.name = m.name"
    answer = service.ask(query, FORMAT="csv", UPLOAD="mine,param:table", table=VOTABLE)
    assert answer.status_code == 200, answer.text


def _find_names(service: RunningService) -> None:
    """Find names by the index of names, and by its dictionary on each shard."""
    for parameters in ({"name": "M31"}, {"prefix": "androm"}):
        answer = httpx.get(f"{service.tap}/names", params=parameters, timeout=60)
        assert [found["main_name"] for found in answer.json()["objects"]] == ["NGC0224"], answer.text


def test_the_system_tables_that_are_granted_are_those_that_are_read() -> None:
    """The service may read what its modules read, including clickhouse_schema; the loader may read all of it."""
    service, load = (_granted(role) for role in ("service", "load"))
    assert _read("tap_service", "workers") <= service <= _read("tap_service", "workers", "clickhouse_schema")
    assert load == _read("tap_service", "workers", "clickhouse_schema", "loaders")


def _granted(role: str) -> set[str]:
    [text] = re.findall(rf"<{role}>\s+<grants>.*?</{role}>", USERS.read_text(), re.DOTALL)
    return set(re.findall(r"GRANT SELECT ON system\.(\w+)", text))


def _read(*folders: str) -> set[str]:
    trees = (ast.parse(path.read_text()) for folder in folders for path in (ROOT / folder).rglob("*.py"))
    nodes = (node for tree in trees for node in ast.walk(tree))
    texts = (node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str))
    return {name for text in texts for name in re.findall(r"\bsystem\.([a-z_]+)\b", text)}
