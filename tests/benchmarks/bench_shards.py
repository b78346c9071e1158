"""The cost of a cluster of real servers: the same rows per shard on 1, 2 and 4 servers, and one server alone.

    python -m tests.benchmarks.bench_shards [rows a shard [servers ...]]

The stars have the same density everywhere: with half the servers they fill half the cells of the sky, the same number
of each shard. So a cone or an id finds the same rows on every cluster, and each server has the same work in a scan.
All servers run on this machine and take turns, query by query, so wall times of several servers that work at once say
how many cores the machine has; the processor time of all servers together, and of one, is what more machines need.

The report ends with the benefit and cost of a look-up table of ids to shards, the shards that cones touch, and the
overlaps.
"""

from __future__ import annotations

import random
import statistics
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import cdshealpix
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from adql.translation import translate
from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.engine_tables.catalogue_log import read_catalogue
from clickhouse_schema.healpix import ORDER, index_sql
from clickhouse_schema.overlap_sql import Overlap
from clickhouse_schema.shard_map import MAP_ORDER, ShardMap, ShardStatement
from loaders.cli.console_reporter import ConsoleReporter
from loaders.pipeline.load_request import LoadRequest
from loaders.pipeline.load_table import load_files
from loaders.progress_reporter import Reporter
from tap_service.storage.engine.engine import Engine, Settings
from tests.benchmarks.process_tree import read_processor_seconds
from tests.servers.clickhouse_server import ClickHouseServer
from tests.servers.server_cluster import execute_everywhere, prepared_engine, running_cluster, running_server

ROWS = 1_000_000
SERVERS = (1, 2, 4)
ROUNDS = 4
RADII = (0.01, 0.03, 0.1, 0.3, 1.0)

SCHEMA = """
name: sky
tables:
- name: objects
  columns:
  - {name: id, datatype: long, nullable: false}
  - {name: ra, datatype: double, ivoa:unit: deg}
  - {name: dec, datatype: double, ivoa:unit: deg}
  - {name: mag, datatype: float, ivoa:unit: mag}
  skyhouse:layout: {position: [ra, dec], id: [id], overlap_radius: 0.1}
"""

#: The maximum number of shards whose stars have the same density: a shard fills one of this many cells
MAX_SHARDS = 8

_CELLS = 12 * 4**MAP_ORDER
_CONE = "1 = CONTAINS(POINT(a.ra, a.dec), CIRCLE({:.5f}, {:.5f}, {}))"
_PAIRS = "SELECT COUNT(*) FROM sky.objects AS a JOIN sky.objects AS b ON DISTANCE(POINT(a.ra, a.dec), POINT(b.ra, b.dec)) < {}"


@dataclass
class Cluster:
    """``name`` is the number of shards; ``shards`` is 0 for a server without a cluster."""

    name: str
    shards: int
    servers: list[ClickHouseServer]
    engine: Engine
    rows: int
    catalogue: Catalogue

    def draw_position(self, draw: random.Random) -> tuple[float, float]:
        """Return the centre of a cell that has stars."""
        cell = draw.choice(list_cells(max(1, self.shards)))
        lon, lat = cdshealpix.nested.healpix_to_lonlat(np.array([cell], np.uint64), MAP_ORDER)
        return float(lon.deg[0]), float(lat.deg[0])


def list_cells(shards: int) -> list[int]:
    """Return the cells with stars, the same number for each of ``shards``."""
    return [cell for cell in range(_CELLS) if cell % MAX_SHARDS < shards]


def write_objects(path: Path, rows: int, shards: int) -> None:
    draw = np.random.default_rng(1)
    cells = draw.choice(np.array(list_cells(shards), np.uint64), rows)
    inside = np.uint64(4 ** (ORDER - MAP_ORDER))
    lon, lat = cdshealpix.nested.healpix_to_lonlat(cells * inside + draw.integers(0, inside, rows, np.uint64), ORDER)
    columns = {
        "id": np.arange(rows),
        "ra": lon.deg,
        "dec": lat.deg,
        "mag": draw.uniform(0, 20, rows).astype(np.float32),
    }
    pq.write_table(pa.table(columns), path)


#: of a query: SQL, settings, and the query for the servers of one shard instead, if they have all of its rows
Statement = tuple[str, Settings, ShardStatement | None]
Maker = Callable[[Cluster, random.Random], str]


def _ask_id(cluster: Cluster, draw: random.Random) -> str:
    return f"SELECT * FROM sky.objects AS a WHERE a.id = {draw.randrange(cluster.rows)}"


def _ask_cone(radius: float) -> Maker:
    return lambda cluster, draw: (
        f"SELECT * FROM sky.objects AS a WHERE {_CONE.format(*cluster.draw_position(draw), radius)}"
    )


def _ask(query: str) -> Maker:
    return lambda cluster, draw: query


#: name -> number of runs in a round, and the query
QUERIES: dict[str, tuple[int, Maker]] = {
    "id": (60, _ask_id),
    "cone of 0.1 degrees": (60, _ask_cone(0.1)),
    "cone of 1 degree": (60, _ask_cone(1)),
    "brightest hundred": (10, _ask("SELECT TOP 100 a.id, a.mag FROM sky.objects AS a ORDER BY a.mag, a.id")),
    "set functions": (10, _ask("SELECT COUNT(*), AVG(a.mag) FROM sky.objects AS a WHERE a.mag BETWEEN 5 AND 15")),
    "groups": (5, _ask("SELECT MOD(a.id, 1000) AS k, MAX(a.mag) AS m FROM sky.objects AS a GROUP BY MOD(a.id, 1000)")),
    "near neighbours": (1, _ask(_PAIRS.format(1 / 60))),
}


@dataclass
class Figures:
    wall: list[float] = field(default_factory=list)
    processor: float = 0.0

    @property
    def wall_ms(self) -> float:
        return statistics.median(self.wall) * 1000

    @property
    def processor_ms(self) -> float:
        """Measurements of all servers together, for a query."""
        return self.processor / len(self.wall) * 1000


def measure(cluster: Cluster, statements: Sequence[Statement], into: Figures, engines: Sequence[Engine] = ()) -> None:
    """Run the queries one after the other, on each of ``engines`` if they are given."""
    before = sum(read_processor_seconds(server.pid) for server in cluster.servers)
    for engine, (sql, settings, on_shard) in zip(
        engines or [cluster.engine] * len(statements), statements, strict=True
    ):
        began = time.perf_counter()
        with engine.stream_batches(sql, settings=settings, on_shard=on_shard) as batches:
            deque(batches, 0)
        into.wall.append(time.perf_counter() - began)
    into.processor += sum(read_processor_seconds(server.pid) for server in cluster.servers) - before


def translate_queries(cluster: Cluster, make: Maker, seed: int, count: int) -> list[Statement]:
    draw = random.Random(seed)
    found = [translate(make(cluster, draw), cluster.catalogue) for _ in range(count)]
    return [(each.sql, each.settings, each.on_shard) for each in found]


def compare_clusters(clusters: Sequence[Cluster], name: str) -> dict[str, Figures]:
    """Run one kind of queries on each cluster, in turns."""
    count, make = QUERIES[name]
    figures = {cluster.name: Figures() for cluster in clusters}
    for seed in range(-1, ROUNDS):
        for cluster in clusters if seed % 2 else clusters[::-1]:
            into = figures[cluster.name] if seed >= 0 else Figures()
            measure(cluster, translate_queries(cluster, make, seed, count), into)
    return figures


def report_comparison(clusters: Sequence[Cluster], reporter: ConsoleReporter) -> None:
    for name in QUERIES:
        figures = compare_clusters(clusters, name)
        base = figures["1"].processor_ms
        for cluster in clusters:
            each = figures[cluster.name]
            servers = len(cluster.servers)
            reporter.output(
                f"  {name:20} {cluster.name:>5} {each.wall_ms:8.1f} ms, processor {each.processor_ms:8.1f} ms, "
                f"of one server {each.processor_ms / servers:8.1f} ms: {each.processor_ms / servers / base:.2f}"
            )


def wait_for_merges(clusters: Sequence[Cluster]) -> None:
    for cluster in clusters:
        for server in cluster.engine.list_servers():
            while server.fetch_table("SELECT 1 AS one FROM system.merges").num_rows:
                time.sleep(0.2)


# --- a look-up table of ids -------------------------------------------------------------------------------------------

#: a condition for the shard of an id, added to the look-up of the id
LOOK_UPS = {
    "all shards asked": "",
    "the shard is known": "t1.__shard = {shard}",
    "a table on each server": "t1.__shard = (SELECT any(shard) FROM sky.ids WHERE id = {id})",
    "a table cut up by ids": "t1.__shard = (SELECT any(shard) FROM sky.ids_cut_up WHERE id = {id})",
}


def fill_look_up_tables(cluster: Cluster, reporter: ConsoleReporter) -> None:
    columns = "(id Int64, shard UInt16) ENGINE ="
    key = "cityHash64(id)"
    for statement in (
        f"CREATE TABLE sky.ids {columns} MergeTree ORDER BY id SETTINGS index_granularity = 2048",
        f"CREATE TABLE sky.ids_part {columns} MergeTree ORDER BY id SETTINGS index_granularity = 2048",
        f"CREATE TABLE sky.ids_cut_up {columns} Distributed('skyhouse', 'sky', 'ids_part', {key})",
    ):
        execute_everywhere(cluster.engine, statement)
    began = time.perf_counter()
    execute_everywhere(cluster.engine, "INSERT INTO sky.ids SELECT id, __shard FROM sky.objects")
    whole = time.perf_counter() - began
    # otherwise each shard would keep the rows inserted on it, whatever the sharding key
    at_once = {"distributed_foreground_insert": 1, "parallel_distributed_insert_select": 0}
    cluster.engine.execute("INSERT INTO sky.ids_cut_up SELECT id, __shard FROM sky.objects", at_once)
    cut_up = time.perf_counter() - began - whole
    execute_everywhere(cluster.engine, "OPTIMIZE TABLE sky.ids FINAL")
    execute_everywhere(cluster.engine, "OPTIMIZE TABLE sky.ids_part FINAL")
    size = cluster.engine.fetch_table(
        "SELECT sum(bytes_on_disk) AS n FROM system.parts WHERE active AND table = 'ids' AND database = 'sky'"
    )
    reporter.output(
        f"  look-up table: {size['n'][0].as_py() / cluster.rows:.1f} B a row; filled on each server in {whole:.1f} s, "
        f"cut up in {cut_up:.1f} s"
    )


def compare_look_ups(cluster: Cluster, reporter: ConsoleReporter) -> None:
    fill_look_up_tables(cluster, reporter)
    shards = cluster.engine.fetch_table("SELECT id, __shard AS shard FROM sky.objects WHERE id < 1000 ORDER BY id")
    shard_of = dict(zip(shards["id"].to_pylist(), shards["shard"].to_pylist(), strict=True))
    figures = {name: Figures() for name in LOOK_UPS}
    for seed in range(-1, ROUNDS):
        ids = random.Random(seed).sample(sorted(shard_of), 60)
        for name, condition in LOOK_UPS.items():
            statements: list[Statement] = []
            for number in ids:
                found = translate(f"SELECT * FROM sky.objects AS a WHERE a.id = {number}", cluster.catalogue)
                of_shard = condition.format(shard=shard_of[number], id=number)
                sql = found.sql.replace(" WHERE ", f" WHERE {of_shard} AND ", 1) if of_shard else found.sql
                settings = {**found.settings, "distributed_product_mode": "allow"}
                statements.append((sql, settings, None))
                if seed < 0:
                    assert cluster.engine.fetch_table(sql, settings).num_rows == 1
            measure(cluster, statements, figures[name] if seed >= 0 else Figures())
    for name, each in figures.items():
        reporter.output(f"  id, {name:24} {each.wall_ms:8.1f} ms, processor {each.processor_ms:8.1f} ms")


# --- hops -------------------------------------------------------------------------------------------------------------


def compare_hops(cluster: Cluster, reporter: ConsoleReporter) -> None:
    """Run cones of one shard in three ways, to find the costs of the Distributed table and of the network."""
    servers = cluster.engine.list_servers()
    translated = translate_queries(cluster, _ask_cone(0.1), 5, 60)
    cones = [(on_shard, sql, settings) for sql, settings, on_shard in translated if on_shard is not None]
    ways: dict[str, list[tuple[int, str, Settings]]] = {
        "of another server": [((on.shard + 1) % len(servers), sql, settings) for on, sql, settings in cones],
        "of the shard's own server": [(on.shard, sql, settings) for on, sql, settings in cones],
        "of its own table there": [(on.shard, on.sql, settings) for on, _, settings in cones],
    }
    figures = {name: Figures() for name in ways}
    for number in range(-1, ROUNDS):
        for name, asked in ways.items():
            engines = [servers[shard] for shard, _, _ in asked]
            statements: list[Statement] = [(sql, settings, None) for _, sql, settings in asked]
            measure(cluster, statements, figures[name] if number >= 0 else Figures(), engines)
    for name, each in figures.items():
        reporter.output(f"  cone, asked {name:26} {each.wall_ms:8.1f} ms, processor {each.processor_ms:8.1f} ms")


# --- the overlap and the shards of cones ------------------------------------------------------------------------------


def report_overlaps(engine: Engine, shards: int, reporter: ConsoleReporter) -> None:
    shard_map = ShardMap.build_uniform(shards)
    for radius in RADII:
        holders = Overlap(shard_map, radius).copy_shards_sql("hpx29", shard_map.shard_sql("hpx29"))
        positions = (
            "cityHash64(number) % 360000 / 1e3 AS ra, degrees(asin(cityHash64(number, 1) % 2000000 / 1e6 - 1)) AS dec"
        )
        copies = (
            f"SELECT avg(length({holders})) AS n FROM (SELECT {index_sql('ra', 'dec')} AS hpx29"
            f" FROM (SELECT {positions} FROM numbers(1000000)))"
        )
        [share] = engine.fetch_table(copies).column(0).to_pylist()
        reporter.output(f"  {shards} shards, overlap of {radius:4} degrees: {100 * share:6.2f} % more rows")


@contextmanager
def open_cluster(folder: Path, shards: int, rows: int, reporter: Reporter) -> Iterator[Cluster]:
    """Start servers with ``rows`` rows for each shard; 0 shards are a server without a cluster."""
    folder.mkdir(parents=True, exist_ok=True)
    schema = folder / "sky.yaml"
    schema.write_text(SCHEMA)
    with ExitStack() as stack:
        servers = (
            stack.enter_context(running_cluster(folder, shards))
            if shards
            else [stack.enter_context(running_server(folder / "alone"))]
        )
        engine = stack.enter_context(prepared_engine(servers))
        stars = folder / "stars.parquet"
        count = max(1, shards)
        write_objects(stars, count * rows, count)
        load_files(
            engine,
            LoadRequest(files=(stars,), table="sky.objects", rejects=folder / "rejects.csv", schema_file=schema),
            reporter,
        )
        stars.unlink()
        label = str(shards) if shards else "alone"
        yield Cluster(label, shards, servers, engine, count * rows, read_catalogue(engine))


def main(rows: int = ROWS, *chosen: int) -> None:
    with tempfile.TemporaryDirectory() as name, ConsoleReporter() as reporter, ExitStack() as stack:
        clusters = [
            stack.enter_context(open_cluster(Path(name) / str(shards), shards, rows, reporter))
            for shards in (0, *(chosen or SERVERS))
        ]
        wait_for_merges(clusters)
        report_comparison(clusters, reporter)
        compare_hops(clusters[-1], reporter)
        compare_look_ups(clusters[-1], reporter)
        report_overlaps(clusters[0].engine, 8, reporter)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
