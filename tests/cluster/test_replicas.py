"""The text and order of the statements for servers with replicas; tables are not replicated here."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from clickhouse_schema import schema_drift, servers
from clickhouse_schema.catalogue import TableEntry
from clickhouse_schema.cluster_topology import Topology
from clickhouse_schema.engine_tables import catalogue_log
from clickhouse_schema.schema_model import Column, Schema, Table
from loaders.cluster import cluster_publication, cluster_staging, rebalance
from loaders.cluster.shard_plan import ShardPlan
from loaders.cluster.table_mover import TableMover
from loaders.control import data_commands
from loaders.control.table_requests import TableRequest
from loaders.load_error import LoadError
from loaders.pipeline.append_rows import TableAppends
from loaders.pipeline.load_request import LoadRequest
from loaders.pipeline.load_table import load_files
from loaders.pipeline.storage_choice import find_known_storage
from loaders.storage import gateway_table, replica_sync
from loaders.storage.load_state import AppendState, FinishedLoad
from loaders.storage.storage_protocol import TableStorage
from loaders.tables.drop_table import drop_table
from tap_service.storage.engine.clickhouse_engine import ClickHouseEngine
from tap_service.storage.engine.engine import Engine, EngineUnavailable, QueryTimeout
from tests.cluster.night_schema import stars
from tests.cluster.test_layout import STARS
from tests.loaders.recorder import Recorder
from tests.servers.server_cluster import execute_everywhere

REPLICATED = Topology(3, is_replicated=True)
ROWS = 200

SCHEMA = """
name: copied
tables:
- name: stars
  columns:
  - {name: id, datatype: long, nullable: false}
  - {name: ra, datatype: double}
  - {name: dec, datatype: double}
  - {name: name, datatype: unicode}
  skyhouse:layout: {position: [ra, dec], id: [id], overlap_radius: 1}
"""


@pytest.fixture(scope="module")
def engine(cluster_of: Callable[[int], Engine]) -> Engine:
    return cluster_of(3)


@pytest.fixture
def files(engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return the folder of two files, the first of which is loaded."""
    monkeypatch.setattr(cluster_publication, "LINGER_SECONDS", 0)
    pq.write_table(stars(0, ROWS), tmp_path / "stars.parquet")
    pq.write_table(stars(ROWS, 10), tmp_path / "few.parquet")
    (tmp_path / "copied.yaml").write_text(SCHEMA)
    schema_file = tmp_path / "copied.yaml"
    load_files(
        engine,
        LoadRequest(
            files=(tmp_path / "stars.parquet",), table="copied.stars", rejects=tmp_path / "r", schema_file=schema_file
        ),
        Recorder(),
    )
    yield tmp_path
    drop_table(engine, "copied.stars", Recorder())


def _on_replicas(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> TableStorage:
    """Return the storage of the loaded table as it would be on servers with replicas."""
    monkeypatch.setattr(servers, "read_topology", lambda _: REPLICATED)
    storage = find_known_storage(engine, "copied.stars", catalogue_log.read_catalogue(engine))
    assert storage is not None
    return storage


def _append(folder: Path) -> LoadRequest:
    return LoadRequest(files=(folder / "few.parquet",), table="copied.stars", rejects=folder / "r", mode="append")


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the statements, which no server executes, each once for all servers."""
    statements: list[str] = []

    def note(engine: object, sql: str, *_: object, **__: object) -> None:
        if sql not in statements[-1:]:
            statements.append(sql)

    monkeypatch.setattr(ClickHouseEngine, "execute", note)
    return statements


def _in_short(statements: list[str]) -> list[str]:
    """Abbreviate statements: SYNC and INSERT with their tables, the first words of others."""
    found = []
    for statement in statements:
        words = statement.split()
        if statement.startswith("SYSTEM SYNC"):
            found.append(f"SYNC {words[-2]}")
        elif words[0] == "INSERT":
            found.append(f"INSERT {words[5].strip(',)')}" if words[2] == "FUNCTION" else f"INSERT {words[2]}")
        else:
            found.append(" ".join(words[:2]))
    return [name for number, name in enumerate(found) if name not in found[number - 1 : number]]


class _Slow:
    """Servers that have copied the rows after ``times`` requests; if ``is_down``, one of them stops answering."""

    def __init__(self, times: int, *, is_down: bool = False) -> None:
        self.topology = REPLICATED
        self.left, self.is_down = times, is_down
        self.statements: list[str] = []

    def execute_everywhere(self, sql: str) -> None:
        self.statements.append(sql)
        self.left -= 1
        if self.left >= 0:
            raise QueryTimeout("the replica did not catch up", 159)
        if self.is_down:
            raise EngineUnavailable("one server is unreachable", 279)


def test_what_takes_long_to_copy_is_waited_for() -> None:
    slow: Any = _Slow(3)
    replica_sync.wait_for_replicas(slow, ["`s`.`t`", "`s`.`u`"])
    sync = "SYSTEM SYNC REPLICA {} LIGHTWEIGHT"
    assert slow.statements == [*[sync.format("`s`.`t`")] * 4, sync.format("`s`.`u`")]
    down: Any = _Slow(3, is_down=True)
    with pytest.raises(EngineUnavailable):
        replica_sync.wait_for_replicas(down, ["`s`.`t`"])
    here: Any = _Slow(0)
    here.topology = Topology(3)
    replica_sync.wait_for_replicas(here, ["`s`.`t`"])
    assert here.statements == []


def test_a_move_reads_what_all_servers_have(engine: Engine, files: Path, told: list[str]) -> None:
    """The server that is read may be another one than the server that was written."""
    plan = ShardPlan(engine, 2)
    plan.servers.topology = REPLICATED
    [entry] = [entry for entry in plan.entries if entry.schema.name == "copied"]
    old, new = (sharding.base_name(entry.table.name, entry.number) for sharding in (plan.current, plan.wanted))
    assert old != new
    TableMover(plan, entry).copy_rows()
    assert _in_short(told) == [
        f"SYNC `copied`.`{old}__local`",
        f"INSERT `copied`.`{new}__local`",
        f"SYNC `copied`.`{new}__local`",
        f"INSERT `copied`.`{new}__overlap`",
        f"SYNC `copied`.`{new}__overlap`",
        "ALTER TABLE",
    ]


def test_an_addition_reads_a_gateway_that_all_servers_have(
    engine: Engine, files: Path, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A change may be finished through another server than the one through which it was started."""
    storage = find_known_storage(engine, "copied.stars", catalogue_log.read_catalogue(engine))
    assert storage is not None
    live = storage.live.read_state()
    assert live is not None
    sizes = storage.appends.count_part_rows()
    storage = _on_replicas(engine, monkeypatch)
    monkeypatch.setattr(gateway_table.Gateway, "find_nulls", lambda *_: set())  # there is no gateway table
    nothing = FinishedLoad(fingerprint="f", files=(), rows=0, rejected=0, finished="2026-01-01")
    TableAppends(storage, live).finish_append(AppendState(load=nothing, before=sizes, density=""))
    assert _in_short(told)[:7] == [
        "SYNC `copied`.`stars__append`",
        "SYNC `copied`.`stars__overlap`",
        "SYNC `copied`.`stars__local`",
        "INSERT 'stars__overlap'",
        "SYNC `copied`.`stars__overlap`",  # no row is visible before its copies
        "INSERT 'stars__local'",
        "SYNC `copied`.`stars__local`",
    ]


def test_a_load_onto_a_table_attaches_what_all_servers_have(
    engine: Engine, files: Path, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One server of each shard attaches the parts that it has."""
    storage = find_known_storage(engine, "copied.stars", catalogue_log.read_catalogue(engine))
    assert storage is not None
    live = storage.live.read_state()
    assert live is not None
    monkeypatch.setattr(cluster_staging, "list_partitions_sql", lambda *_: ["'all'"])
    storage = _on_replicas(engine, monkeypatch)
    storage.staging.create_table(live.entry, live.entry.tables[0], live, onto_live=True)
    attached = next(i for i, sql in enumerate(told) if "ATTACH PARTITION" in sql)
    before = _in_short(told[:attached])
    assert "SYNC `copied`.`stars__overlap`" in before
    assert "SYNC `copied`.`stars__local`" in before


def test_a_new_server_has_all_of_what_is_whole_before_it_is_asked(
    engine: Engine, files: Path, monkeypatch: pytest.MonkeyPatch, told: list[str]
) -> None:
    whole = TableEntry(Schema(name="copied"), Table(name="bands", columns=(Column(name="band", datatype="string"),)))
    catalogue = catalogue_log.read_catalogue(engine).add_entries((whole,))
    monkeypatch.setattr(rebalance.catalogue_log, "read_catalogue", lambda _: catalogue)
    monkeypatch.setattr(servers, "read_topology", lambda _: REPLICATED)
    monkeypatch.setattr(rebalance, "create_missing_sql", lambda *_: [])
    rebalance.prepare_servers(engine, Recorder())
    assert "SYNC `copied`.`bands`" in _in_short(told)
    assert "SYNC `copied`.`stars`" not in _in_short(told)


def test_no_server_waits_for_who_reads_a_table_that_goes(
    engine: Engine, files: Path, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise all loads would wait for the longest query."""
    _on_replicas(engine, monkeypatch).live.drop_table()
    rows = [sql for sql in told if "append" not in sql]
    assert "DROP TABLE IF EXISTS `copied`.`stars__local`" in rows
    assert not any(sql.endswith("SYNC") for sql in rows)


def test_a_server_that_gets_tables_gets_their_comments() -> None:
    """These tables record how the tables were loaded, and are not replicated."""

    class Other:
        """The other server has all rows; this server has none."""

        def fetch_table(self, sql: str) -> pa.Table:
            if "hostName()" in sql and "AS server" in sql:
                is_there = "view(SELECT 1)" in sql
                return pa.table({"server": pa.array(["new"] if is_there else [], pa.string())})
            if "max(comment)" in sql:
                return pa.table({"comment": ['{"it\'s": 1}' if "stars__local'" in sql else ""]})
            return pa.table({"uuid": ["1b0e3a4c-0000-4000-8000-000000000000"], "granularity": [8192]})

    other: Any = Other()
    statements = schema_drift.create_missing_sql(other, REPLICATED, "s", STARS, "stars")
    assert statements[-1].sql == "ALTER TABLE `s`.`stars__local` MODIFY COMMENT '{\"it\\'s\": 1}'"
    assert sum("MODIFY COMMENT" in statement.sql for statement in statements) == 1


def test_nothing_is_added_to_a_table_of_which_nothing_is_known(engine: Engine, files: Path) -> None:
    """The wrong tables would be replaced."""
    execute_everywhere(engine, "ALTER TABLE copied.stars__local MODIFY COMMENT ''")
    with pytest.raises(
        LoadError, match=r"there is no record of how copied\.stars was loaded, so nothing can be appended"
    ):
        load_files(engine, _append(files), Recorder())
    (entry,) = catalogue_log.read_catalogue(engine).find_tables("stars", True, "copied", True)
    assert engine.fetch_table(f"SELECT count() AS n FROM {entry.storage_sql}").column(0).to_pylist() == [ROWS]


def test_what_changes_the_catalogue_goes_to_one_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that are read back to be written again are complete, even if that server dies in between."""
    given: list[object] = []
    monkeypatch.setitem(data_commands.COMMANDS, "drop", lambda engine, *_: given.append(engine))
    many: Any = SimpleNamespace(pin_server=lambda: "one server")
    assert data_commands.run_command(many, TableRequest(command="drop", table="copied.stars"), Recorder()) == 0
    assert given == ["one server"]


def test_an_insert_is_done_when_its_statement_is(engine: Engine) -> None:
    """ClickHouse 26 would combine it with others, and write it later."""
    sql = "SELECT value FROM system.settings WHERE name = 'async_insert'"
    assert engine.fetch_table(sql).column(0).to_pylist() == ["0"]
