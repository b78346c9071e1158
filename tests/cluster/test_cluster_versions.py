"""Versions on three shards with overlaps: the latest version of each key, on whichever shards its versions are.

Each test takes 20 s when others run: every load and correction writes two sharded tables with overlaps on three
servers, and ``verify_table`` reads them completely.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from clickhouse_schema.engine_tables import catalogue_log
from clickhouse_schema.engine_tables.engine_setup import prepare_engine
from clickhouse_schema.failpoints import Failpoint
from loaders.cluster import cluster_publication
from loaders.pipeline.load_request import LoadRequest
from loaders.pipeline.load_table import load_files
from loaders.tables.drop_table import drop_table
from loaders.tables.verify_table import verify_table
from tap_service.storage.engine.engine import Engine
from tests.cluster.dying import killed_at
from tests.loaders.recorder import Recorder
from tests.loaders.test_versions import SCHEMA, Row, correct, find_latest, load, make_rows, write
from tests.servers.server_cluster import fetch_everywhere


@pytest.fixture
def cluster(cluster_of: Callable[[int], Engine], monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    engine = cluster_of(3)
    monkeypatch.setattr(cluster_publication, "LINGER_SECONDS", 0)
    yield engine
    drop_table(engine, "versioned.object", Recorder())
    left = "SELECT name FROM system.tables WHERE database = 'versioned' OR startsWith(name, 'correction_')"
    assert fetch_everywhere(engine, left).num_rows == 0


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    schema = SCHEMA.replace("    indexes: [flux]\n", "    indexes: [flux]\n    overlap_radius: 5.0\n")
    (tmp_path / "versioned.yaml").write_text(schema)
    return tmp_path


def check(engine: Engine, rows: list[Row]) -> None:
    """Compare both tables with all versions; verify also compares shards and overlaps."""
    for name, wanted in (("object", rows), ("object_last", find_latest(rows))):
        entry = catalogue_log.read_catalogue(engine).find_entry("versioned", name)
        assert entry is not None
        columns = ", ".join(f"`{column}`" for column in wanted[0])
        found = engine.fetch_table(f"SELECT {columns} FROM {entry.storage_sql} ORDER BY ALL").to_pylist()
        assert found == sorted(wanted, key=lambda row: (row["id"], row["start"]))
        assert entry.rows == len(wanted)
        verify_table(engine, f"versioned.{name}", Recorder())


def test_loads_and_appends_give_what_python_computes(cluster: Engine, folder: Path) -> None:
    random = np.random.default_rng(5)
    rows = make_rows(random, 800)
    load(cluster, folder, rows, "create")
    added = make_rows(random, 100, 330)
    load(cluster, folder, added)
    check(cluster, rows + added)
    load(cluster, folder, rows[:300], "replace")
    check(cluster, rows[:300])


def test_corrections_give_what_python_computes(cluster: Engine, folder: Path) -> None:
    rows = make_rows(np.random.default_rng(7), 800)
    load(cluster, folder, rows, "create")
    ids: list[Row] = [{"id": row["id"], "start": row["start"]} for row in rows[500:650]]
    correct(cluster, folder, "update", [row | {"end": 3.0, "dec": row["id"] / 10} for row in ids])
    rows = [row | ({"end": 3.0, "dec": row["id"] / 10} if i in range(500, 650) else {}) for i, row in enumerate(rows)]
    check(cluster, rows)
    correct(cluster, folder, "delete", ids[:100])
    check(cluster, rows[:500] + rows[600:])


#: the failpoints at which an append is killed
POINTS = [
    (Failpoint.SHARDS_SEND_COPIES, 1),
    (Failpoint.STAGING_CHANGE, 2),
    (Failpoint.STAGING_CREATE, 10),
    (Failpoint.STAGING_INSERT_GATEWAY, 1),
    (Failpoint.CATALOGUE_WRITE, 1),
]


def test_an_append_that_is_killed_is_finished_by_the_next_command(cluster: Engine, folder: Path) -> None:
    random = np.random.default_rng(6)
    rows = make_rows(random, 300)
    load(cluster, folder, rows, "create")
    added = make_rows(random, 100)
    append = LoadRequest(files=(write(folder, added),), table="versioned.object", rejects=folder / "r", mode="append")
    for point, count in POINTS:
        with killed_at(cluster, point, count) as dying:
            load_files(dying, append, Recorder())
    prepare_engine(cluster)  # as every command does
    load_files(cluster, append, Recorder())
    check(cluster, rows + added)
