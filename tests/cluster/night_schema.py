"""The schema ``night`` on a cluster of three shards: stars with overlaps, their sources, and whole tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from clickhouse_schema.catalogue import TableEntry
from clickhouse_schema.engine_tables import catalogue_log
from clickhouse_schema.shard_map import LOCAL, OVERLAP
from loaders.cluster import cluster_publication
from loaders.pipeline import chunk_reader
from loaders.pipeline.load_request import LoadRequest, Mode
from loaders.pipeline.load_table import load_files
from tap_service.storage.engine.engine import Engine
from tests.cluster.kept_state import KeptState
from tests.loaders.recorder import Recorder

STARS = 3000
CHUNK = 1500
RADIUS = 2.0

SCHEMA = f"""
name: night
tables:
- name: stars
  columns:
  - {{name: id, datatype: long, nullable: false}}
  - {{name: ra, datatype: double}}
  - {{name: dec, datatype: double}}
  - {{name: name, datatype: unicode}}
  skyhouse:layout: {{position: [ra, dec], id: [id], overlap_radius: {RADIUS}}}
- name: sources
  columns:
  - {{name: number, datatype: long, nullable: false}}
  - {{name: star, datatype: long}}
  - {{name: ra, datatype: double}}
  - {{name: dec, datatype: double}}
  - {{name: mjd, datatype: double}}
  constraints:
  - {{name: of, "@type": ForeignKey, columns: ["#sources.star"], referencedColumns: ["#stars.id"]}}
  skyhouse:layout: {{position: [ra, dec], id: [number], time: mjd, years: true, overlap_radius: {RADIUS}, parent: of}}
- name: filters
  columns:
  - {{name: id, datatype: long, nullable: false}}
  - {{name: band, datatype: string}}
"""


def stars(first: int, count: int) -> pa.Table:
    random = np.random.default_rng(first)
    dec = np.degrees(np.arcsin(random.uniform(-1, 1, count)))
    dec[:2] = np.nan  # two without a position
    ids = np.arange(first, first + count)
    return pa.table({"id": ids, "ra": random.uniform(0, 360, count), "dec": dec, "name": [f"Ω {n}" for n in ids]})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("night")
    (folder / "night.yaml").write_text(SCHEMA)
    pq.write_table(stars(0, STARS), folder / "stars.parquet", row_group_size=700)
    pq.write_table(stars(STARS, 300), folder / "few.parquet")
    pq.write_table(stars(STARS + 300, 2200), folder / "many.parquet", row_group_size=700)
    pq.write_table(stars(STARS + 2500, 20), folder / "other.parquet")
    return folder


@pytest.fixture(scope="module")
def states(cluster_of: Callable[[int], Engine]) -> Iterator[dict[str, KeptState]]:
    """The states of three shards and the schema night: ``empty``, and ``loaded`` once a test has requested it."""
    states = {"empty": KeptState(cluster_of(3), "night")}
    yield states
    for state in states.values():
        state.forget()


@pytest.fixture
def cluster(
    cluster_of: Callable[[int], Engine], states: dict[str, KeptState], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Engine]:
    """Yield three shards, with small chunks; tables of the schema night are dropped afterwards."""
    monkeypatch.setattr(chunk_reader, "CHUNK_ROWS", CHUNK)
    monkeypatch.setattr(cluster_publication, "LINGER_SECONDS", 0)
    yield cluster_of(3)
    states["empty"].restore()


@pytest.fixture
def loaded(cluster: Engine, states: dict[str, KeptState], folder: Path) -> None:
    """The stars are in the cluster: loaded for the first test of a file, restored for other tests."""
    if "loaded" in states:
        states["loaded"].restore()
    else:
        load_files(cluster, request(folder), Recorder())
        states["loaded"] = KeptState(cluster, "night")


def request(folder: Path, name: str = "stars", mode: Mode = "create", table: str = "night.stars") -> LoadRequest:
    schema = None if mode == "append" else folder / "night.yaml"
    return LoadRequest(
        files=(folder / f"{name}.parquet",), table=table, rejects=folder / "rejects.csv", schema_file=schema, mode=mode
    )


def entry_of(engine: Engine, name: str = "stars") -> TableEntry:
    (entry,) = catalogue_log.read_catalogue(engine).find_tables(name, True, "night", True)
    return entry


def content(engine: Engine) -> list[tuple[object, ...]]:
    """Return the numbers of rows and a checksum of all values by table and shard, as stored on the shards."""
    entry = entry_of(engine)
    found = []
    for part in (LOCAL, OVERLAP):
        counted = f"SELECT count() AS n, sum(cityHash64(tuple(*))) AS hash FROM {entry.part_sql(part)}"
        sql = f"SELECT n, hash FROM cluster('skyhouse', view({counted})) ORDER BY _shard_num"
        found += [(part, *row.values()) for row in engine.fetch_table(sql).to_pylist()]
    return found


def rows_table(engine: Engine, part: str, name: str = "stars") -> str:
    """Return the table with a shard's rows or copies, which tests damage."""
    return entry_of(engine, name).part_sql(part)


def all_rows(engine: Engine, part: str, name: str = "stars") -> str:
    """Return the rows of one of the tables on all shards."""
    database, base = entry_of(engine, name).engine_table
    return f"cluster('skyhouse', '{database}', '{base}{part}')"
