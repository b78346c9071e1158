"""Backups of ClickHouse servers and of their jobs in Redis, and their restores on other servers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from clickhouse_schema.engine_tables.catalogue_log import read_catalogue
from clickhouse_schema.engine_tables.engine_setup import prepare_engine
from loaders.backup import engine_backup
from loaders.backup.backup_manifest import Manifest, Part
from loaders.backup.backup_request import BackupRequest
from loaders.backup.backup_target import BackupTarget
from loaders.backup.create_backup import create_backup
from loaders.backup.restore_backup import restore_engine, restore_jobs
from loaders.load_error import LoadCancelled, LoadError
from loaders.pipeline.load_request import LoadRequest
from loaders.pipeline.load_table import load_files
from loaders.tables.drop_table import drop_table
from loaders.tables.verify_table import verify_table
from tap_service.config import Config
from tap_service.models.result_provenance import ResultProvenance, TableVersion
from tap_service.models.share import Share
from tap_service.models.uws_job import ExecutionPhase, Job, JobResult
from tap_service.models.watch import Watch
from tap_service.storage.engine.engine import Engine, EngineError
from tap_service.storage.jobs.redis_job_store import RedisJobStore
from tap_service.storage.open_storage import open_remote_engine, open_result_store
from tap_service.storage.share_store import ShareStore
from tap_service.storage.watch_store import WatchStore
from tests.loaders.recorder import Recorder
from tests.servers.clickhouse_server import ClickHouseServer
from tests.servers.object_store import running_object_store
from tests.servers.server_cluster import running_cluster, running_server, urls_of
from tests.tap_service.storage.redis_server import redis_server

ROWS = 4000
TABLES = frozenset({Part.TABLES})
DISK = """<storage_configuration><disks><backups><type>local</type><path>{folder}/</path></backups></disks></storage_configuration>
<backups><allowed_disk>backups</allowed_disk></backups>"""


def configure(folder: Path) -> Callable[[int], str]:
    """A disk for backups, which the server of the same shard has in every cluster of these tests."""
    return lambda shard: DISK.format(folder=folder / str(shard))


def open_servers(servers: Sequence[ClickHouseServer]) -> tuple[Engine, Config]:
    config = Config(clickhouse_url=urls_of(servers))
    return open_remote_engine(config), config


def load_stars(engine: Engine, folder: Path, first: int, rows: int, name: str = "s.stars") -> None:
    random = np.random.default_rng(first)
    columns = {"ra": random.uniform(0, 360, rows), "dec": np.degrees(np.arcsin(random.uniform(-1, 1, rows)))}
    path = folder / f"{name}-{first}-{rows}.parquet"
    pq.write_table(pa.table({"id": np.arange(first, first + rows), **columns}), path)
    load_files(
        engine, LoadRequest(files=(path,), table=name, rejects=folder / "rejects.csv", mode="append"), Recorder()
    )


def count_rows(engine: Engine, sql: str = "cluster('skyhouse', 's', 'stars__local')") -> list[int]:
    found = engine.fetch_table(
        f"SELECT count() AS n, uniqExact(id) AS different, sum(id) AS total FROM {sql}"
    ).to_pylist()
    return [int(value) for value in found[0].values()]


@pytest.fixture(scope="module")
def disks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("disks")


@pytest.fixture(scope="module")
def source(disks: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Engine, Config]]:
    """Yield a cluster with a table."""
    folder = tmp_path_factory.mktemp("source")
    with running_cluster(folder, 2, configure=configure(disks)) as servers:
        engine, config = open_servers(servers)
        with closing(engine):
            prepare_engine(engine)
            load_stars(engine, folder, 0, ROWS)
            yield engine, config


def back_up(engine: Engine, config: Config, target: Path, **options: object) -> Manifest:
    request = BackupRequest(data=config.data, target=str(target), **{"parts": TABLES, "disk": "backups", **options})  # type: ignore[arg-type]
    return create_backup(engine, config, request, Recorder())


def test_cluster_is_restored_on_another(source: tuple[Engine, Config], disks: Path, tmp_path: Path) -> None:
    engine, config = source
    full = back_up(engine, config, tmp_path / "target")
    load_stars(engine, tmp_path, ROWS, 100)
    added = back_up(engine, config, tmp_path / "target")
    assert (full.base, added.base, added.tables) == ("", full.name, ("s.stars",))
    assert 0 < added.engine_bytes < full.engine_bytes
    expected = [
        count_rows(engine, sql)
        for sql in ("s.stars__local", "s.stars__overlap", "cluster('skyhouse', 's', 'stars__local')")
    ]
    load_stars(engine, tmp_path, ROWS + 100, 100)
    target = BackupTarget(str(tmp_path / "target"))
    with running_cluster(tmp_path / "other", 2, configure=configure(disks)) as servers:
        other, _ = open_servers(servers)
        with closing(other):
            # a restore that was killed
            for server in other.require_servers():
                server.execute("CREATE DATABASE s COMMENT 'skyhouse restore is not finished'")
                server.execute("CREATE TABLE s.stars__local (x Int8) ENGINE = MergeTree ORDER BY x")
            restore_engine(other, target, added, Recorder())
            assert [
                count_rows(other, sql)
                for sql in ("s.stars__local", "s.stars__overlap", "cluster('skyhouse', 's', 'stars__local')")
            ] == expected
            recorder = Recorder()
            prepare_engine(other)
            verify_table(other, "s.stars", recorder)
            assert f"s.stars: {ROWS + 100:,} rows, {ROWS + 100:,} were loaded from 2 inputs" in recorder.lines
            load_stars(other, tmp_path, ROWS + 100, 50)
            verify_table(other, "s.stars", Recorder())
            with pytest.raises(LoadError, match="has the databases s, skyhouse already"):
                restore_engine(other, target, added, Recorder())


def test_backup_of_a_cluster_is_refused_by_one_server(source: tuple[Engine, Config], tmp_path: Path) -> None:
    manifest = back_up(*source, tmp_path)
    with running_server(tmp_path / "one") as server:
        engine, _ = open_servers([server])
        with closing(engine), pytest.raises(LoadError) as refused:
            restore_engine(engine, BackupTarget(str(tmp_path)), manifest, Recorder())
    assert "was made on a cluster of 2 shards, and this is one server" in str(refused.value)


def test_servers_need_a_disk(source: tuple[Engine, Config], tmp_path: Path) -> None:
    with pytest.raises(LoadError, match="name a disk of the servers with --disk"):
        back_up(*source, tmp_path, disk="")
    with pytest.raises(EngineError, match="other"):
        back_up(*source, tmp_path, disk="other")
    assert BackupTarget(str(tmp_path)).list_backups() == []


def test_tables_are_of_one_moment(
    source: tuple[Engine, Config], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If a load is published after BACKUP has started, BACKUP starts again."""
    engine, config = source
    wait = engine_backup._Operation.wait_until_copying
    loads: list[int] = []

    def load_meanwhile(operation: engine_backup._Operation, reporter: Recorder) -> None:
        if len(loads) < 2:
            loads.append(1)
            load_stars(engine, tmp_path, 10 * len(loads), 10, "s.more")
        wait(operation, reporter)

    monkeypatch.setattr(engine_backup._Operation, "wait_until_copying", load_meanwhile)
    recorder = Recorder()
    request = BackupRequest(data=config.data, target=str(tmp_path / "target"), parts=TABLES, disk="backups")
    manifest = create_backup(engine, config, request, recorder)
    again = "a table was changed meanwhile: copying the tables again"
    assert recorder.messages.count(again) >= 1
    assert manifest.tables == ("s.more", "s.stars")
    drop_table(engine, "s.more", Recorder())


def test_interrupt_ends_it(source: tuple[Engine, Config], tmp_path: Path) -> None:
    engine, config = source
    request = BackupRequest(data=config.data, target=str(tmp_path), parts=TABLES, disk="backups", is_full=True)
    with pytest.raises(LoadCancelled):
        create_backup(engine, config, request, Recorder(stop_after=0))
    assert BackupTarget(str(tmp_path)).list_backups() == []
    running = "SELECT count() AS n FROM system.backups WHERE status = 'CREATING_BACKUP'"
    assert [server.fetch_table(running).to_pylist() for server in engine.require_servers()] == [[{"n": 0}]] * 2


@pytest.fixture(scope="module")
def bucket() -> Iterator[str]:
    """Yield a bucket of an S3-compatible server."""
    with running_object_store("backups") as url:
        yield url


def test_object_store_and_retention(bucket: str, tmp_path: Path) -> None:
    with running_server(tmp_path / "one") as first, running_server(tmp_path / "two") as second:
        engine, config = open_servers([first])
        target = BackupTarget(f"{bucket}/all")
        with closing(engine):
            prepare_engine(engine)
            load_stars(engine, tmp_path, 0, 100)
            made = [
                create_backup(
                    engine,
                    config,
                    BackupRequest(data=config.data, target=f"{bucket}/all", parts=TABLES, is_full=full, keep=keep),
                    Recorder(),
                )
                for full, keep in ((True, 0), (False, 0), (True, 0), (False, 2))
            ]
        assert [each.base for each in made] == ["", made[0].name, "", made[2].name]
        assert [each.name for each in target.list_backups()] == [each.name for each in made[2:]]
        other, _ = open_servers([second])
        with closing(other):
            restore_engine(other, target, made[3], Recorder())
            prepare_engine(other)
            verify_table(other, "s.stars", Recorder())
            assert [entry.qualified_name for entry in read_catalogue(other).entries if entry.schema.name == "s"] == [
                "s.stars"
            ]


def test_jobs_of_redis(tmp_path: Path) -> None:
    now = datetime(2026, 11, 1, tzinfo=UTC)
    done = JobResult("one-1", 5, "text/csv", "csv", "tag")
    jobs = [
        Job("one", "alice", now, now + timedelta(days=9), 60, ExecutionPhase.COMPLETED, result=done, attempt=1),
        Job("two", None, now + timedelta(seconds=1), now + timedelta(days=9), 60, client="10.0.0.1"),
    ]
    with redis_server(tmp_path / "a") as first, redis_server(tmp_path / "b") as second:
        configs = [
            Config(
                clickhouse_url="http://127.0.0.1:1", redis_url=each.url, results_url=str(tmp_path / f"results{number}")
            )
            for number, each in enumerate((first, second))
        ]
        writer = open_result_store(configs[0].results_url).create_result("one-1")
        writer.write(b"a,b\n1")
        writer.commit()
        with closing(RedisJobStore(first.url)) as store:
            for job in jobs:
                store.create_job(job)
        provenance = ResultProvenance("f" * 64, 1, False, (TableVersion("s.stars", "17", now, 600),))
        share = Share("kept", "alice", now, now + timedelta(days=9), now + timedelta(days=9), "q", 10, provenance)
        with closing(ShareStore.open(first.url, None)) as shares:
            shares.write_share(share)
        watch = Watch("w1", "alice", "bright", now, "SELECT 1", "s.stars", "bright", 0)
        with closing(WatchStore.open(first.url, None)) as watches:
            watches.add_watch(watch)
        parts = frozenset({Part.JOBS, Part.RESULTS})
        request = BackupRequest(data=configs[0].data, target=str(tmp_path / "target"), parts=parts)
        manifest = create_backup(None, configs[0], request, Recorder())  # type: ignore[arg-type]  # no tables
        assert (manifest.jobs, [file.name for file in manifest.results]) == (2, ["one-1"])
        target = BackupTarget(str(tmp_path / "target"))
        restore_jobs(configs[1], target, manifest, parts)
        with closing(RedisJobStore(second.url)) as store:
            assert [store.get_job(job.job_id) for job in jobs] == jobs
        with closing(ShareStore.open(second.url, None)) as shares:
            assert shares.list_shares() == [share]
        with closing(WatchStore.open(second.url, None)) as watches:
            assert watches.list_watches() == [watch]
        assert b"".join(open_result_store(configs[1].results_url).read_result("one-1", 0, 5)) == b"a,b\n1"
        with pytest.raises(LoadError, match="the Redis server has jobs already"):
            restore_jobs(configs[1], target, manifest, parts)
