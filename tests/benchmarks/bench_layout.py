"""Compare layouts of a table: codecs, NULLs, granules, parts, indexes.

    python -m tests.benchmarks.bench_layout [codecs|granules|ids|ranges|parts ...] [--rows 2000000] [--rounds 20]

This makes the tables of docs/decisions/storage-layout.md. Each group of layouts is stored in one engine, and each
round runs the same query on all of them in another order. It prints megabytes, and for each query the medians of
processor time and of wall time in milliseconds, with one thread.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from adql.translation import translate
from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.healpix import index_sql
from clickhouse_schema.schema_model import Column, Layout, Schema, Table
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tap_service.storage.engine.engine import SINGLE_BLOCK_SETTINGS

#: type and share of NULLs of each column
COLUMNS = {
    "source_id": ("long", 0.0),
    "ra": ("double", 0.0),
    "dec": ("double", 0.0),
    "parallax": ("double", 0.2),
    "pmra": ("double", 0.2),
    "pmdec": ("double", 0.2),
    "g": ("float", 0.0),
    "bp": ("float", 0.02),
    "rp": ("float", 0.02),
    "rv": ("float", 0.8),
    "nobs": ("short", 0.0),
    "ruwe": ("float", 0.0),
}
STARS = Table(
    name="stars",
    columns=tuple(Column(name=name, datatype=kind) for name, (kind, _) in COLUMNS.items()),
    layout=Layout(position=("ra", "dec"), id=("source_id",)),
)
CATALOGUE = Catalogue((Schema(name="lay", tables=(STARS,)),), {("lay", "stars"): 2_000_000})

BY_ID = "PROJECTION by_id (SELECT _part_offset ORDER BY source_id)"
COVERING = "PROJECTION by_id (SELECT source_id, hpx29 ORDER BY source_id)"
SMALL_BLOCKS = "index_granularity = 2048, min_compress_block_size = 4096"


@dataclass(frozen=True)
class Storing:
    """One way to store the table: codecs of integers, other numbers and ``hpx29``; ``is_plain``: Nullable if needed."""

    name: str
    integers: str = "T64, LZ4"
    numbers: str = "LZ4"
    hpx29: str = "T64, LZ4"
    is_plain: bool = True
    settings: str = SMALL_BLOCKS
    parts: int = 1
    indexes: tuple[str, ...] = (BY_ID,)
    #: ``t`` if look-ups by id read the projection for hpx29 first
    look_up: str = ""


NOW = Storing("now")
BEFORE = Storing("before", "T64, ZSTD(1)", "ZSTD(1)", "T64, ZSTD(1)", False, "index_granularity = 8192")
LARGE = replace(NOW, settings="index_granularity = 8192")


def change(name: str, base: Storing = NOW, **changes: object) -> Storing:
    return replace(base, name=name, **changes)  # type: ignore[arg-type]


GROUPS: dict[str, tuple[Storing, ...]] = {
    "codecs": (
        BEFORE,
        change("before, plain", BEFORE, is_plain=True),
        change("LZ4, Nullable", LARGE, integers="LZ4", hpx29="LZ4", is_plain=False),
        change("LZ4", LARGE, integers="LZ4", hpx29="LZ4"),
        change("hpx29 Delta", LARGE, integers="LZ4", hpx29="Delta, LZ4"),
        change("hpx29 DoubleDelta", LARGE, integers="LZ4", hpx29="DoubleDelta, LZ4"),
        change("integers T64", LARGE),
        change("NONE", LARGE, integers="NONE", numbers="NONE", hpx29="NONE"),
    ),
    "granules": (
        change("8192", LARGE),
        *(change(str(rows), settings=f"index_granularity = {rows}") for rows in (2048, 1024)),
        change("8192 compact", settings="index_granularity = 8192, min_bytes_for_wide_part = 100000000000"),
        change("2048 compact", settings="index_granularity = 2048, min_bytes_for_wide_part = 100000000000"),
        change("4096, 32 kB", settings="index_granularity = 4096, min_compress_block_size = 32768"),
        change("2048, 16 kB", settings="index_granularity = 2048, min_compress_block_size = 16384"),
        change("2048, 4 kB"),
        change("512, 4 kB", settings="index_granularity = 512, min_compress_block_size = 4096"),
    ),
    "ids": (
        change("offsets"),
        change("offsets, 512", indexes=(BY_ID + " WITH SETTINGS (index_granularity = 512)",)),
        change("(id, hpx29)", indexes=(COVERING,), look_up="hpx29"),
        change("bloom filter", indexes=("INDEX by_id source_id TYPE bloom_filter(0.01) GRANULARITY 1",)),
        change("none", indexes=()),
    ),
    "ranges": (
        change("none"),
        change("minmax", indexes=(BY_ID, "INDEX by_g g TYPE minmax GRANULARITY 1")),
        change("offsets", indexes=(BY_ID, "PROJECTION by_g (SELECT _part_offset ORDER BY g)")),
        change("values", indexes=(BY_ID, "PROJECTION by_g (SELECT g ORDER BY g)")),
    ),
    "parts": (change("before, 3 parts", BEFORE, parts=3), BEFORE, change("now, 3 parts", parts=3), NOW),
}


def make_rows(count: int) -> pa.Table:
    """Half of the rows are anywhere, half in 200 clusters."""
    chance = np.random.default_rng(1)
    lon, lat = chance.uniform(0, 360, count), np.degrees(np.arcsin(chance.uniform(-0.99, 0.99, count)))
    in_cluster = np.arange(count) >= count // 2
    centre = chance.integers(0, 200, count)
    lat[in_cluster] = np.clip(lat[centre] + chance.normal(0, 0.7, count), -90, 90)[in_cluster]
    spread = chance.normal(0, 0.7, count) / np.cos(np.radians(np.clip(lat, -85, 85)))
    lon[in_cluster] = ((lon[centre] + spread) % 360)[in_cluster]
    g = 21 - chance.exponential(2, count)
    colour = chance.normal(1, 0.6, count)
    values = {
        "source_id": chance.integers(0, 2**62, count),
        "ra": lon,
        "dec": lat,
        "parallax": chance.gamma(1, 1, count),
        "pmra": chance.normal(0, 8, count).round(3),
        "pmdec": chance.normal(0, 8, count).round(3),
        "g": g,
        "bp": g + 0.6 * colour,
        "rp": g - 0.4 * colour,
        "rv": chance.normal(0, 40, count),
        "nobs": chance.integers(0, 1000, count),
        "ruwe": chance.gamma(9, 0.11, count).round(3),
    }
    missing = {name: chance.random(count) < share for name, (_, share) in COLUMNS.items()}
    types = {column.name: column.type.arrow for column in STARS.columns}
    return pa.table({name: pa.array(array, mask=missing[name]).cast(types[name]) for name, array in values.items()})


def create_sql(layout: Storing, name: str) -> str:
    columns = []
    for column in STARS.columns:
        kind = column.type.clickhouse
        is_plain = layout.is_plain and not COLUMNS[column.name][1]
        codec = layout.integers if column.type.is_integer else layout.numbers
        columns.append(f"{column.name} {kind if is_plain else f'Nullable({kind})'} CODEC({codec})")
    index = index_sql("ra", "dec", names="__hpx29_")
    columns.append(f"hpx29 UInt64 MATERIALIZED {index} CODEC({layout.hpx29})")
    body = ", ".join([*columns, *layout.indexes])
    settings = f"allow_nullable_key = 1, {layout.settings}"
    return f"CREATE TABLE {name} ({body}) ENGINE = MergeTree ORDER BY hpx29 SETTINGS {settings}"


def queries(rows: pa.Table) -> dict[str, Callable[[random.Random], str]]:
    def pick(name: str, chance: random.Random) -> object:
        return rows[name][chance.randrange(len(rows))].as_py()

    def cone(radius: float, chance: random.Random) -> str:
        index = chance.randrange(len(rows))
        circle = f"CIRCLE({rows['ra'][index].as_py()!r}, {rows['dec'][index].as_py()!r}, {radius})"
        return f"SELECT * FROM lay.stars WHERE 1 = CONTAINS(POINT(ra, dec), {circle})"

    def ids(chance: random.Random) -> str:
        return ", ".join(str(pick("source_id", chance)) for _ in range(100))

    return {
        "cone 0.1": lambda chance: cone(0.1, chance),
        "cone 1": lambda chance: cone(1.0, chance),
        "id": lambda chance: f"SELECT * FROM lay.stars WHERE source_id = {pick('source_id', chance)}",
        "id, 3": lambda chance: (
            f"SELECT source_id, ra, dec FROM lay.stars WHERE source_id = {pick('source_id', chance)}"
        ),
        "100 ids": lambda chance: f"SELECT * FROM lay.stars WHERE source_id IN ({ids(chance)})",
        "count": lambda chance: f"SELECT COUNT(*) FROM lay.stars WHERE g BETWEEN 14 AND {15 + chance.random():.3f}",
        "top 100": lambda _: "SELECT TOP 100 * FROM lay.stars ORDER BY parallax DESC",
        "colour": lambda chance: f"SELECT source_id, ra, dec, g FROM lay.stars WHERE bp - rp < {chance.random() / 100}",
        "means": lambda _: "SELECT AVG(ra), AVG(pmra), AVG(bp), MAX(source_id) FROM lay.stars",
    }


def find_sql(query: str, layout: Storing, name: str) -> tuple[str, dict[str, str | int]]:
    translation = translate(query, CATALOGUE)
    sql = translation.sql.replace("`lay`.`stars`", name)
    start, where, condition = sql.partition(" WHERE ")
    if layout.look_up and "source_id`" in condition:
        own = condition.replace("t1.", "")
        sql = f"{start}{where}hpx29 IN (SELECT hpx29 FROM {name} WHERE {own}) AND {condition}"
    return sql, translation.settings | {"max_threads": 1}


def measure_group(layouts: tuple[Storing, ...], rows: pa.Table, rounds: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        engine = EmbeddedEngine(Path(folder))
        engine.execute("CREATE DATABASE lay")
        for i, layout in enumerate(layouts):
            engine.execute(create_sql(layout, f"lay.v{i}"))
            size = -(-len(rows) // layout.parts)
            for start in range(0, len(rows), size):
                batches = rows.slice(start, size).combine_chunks().to_batches()
                engine.insert_batches(f"lay.v{i}", batches, SINGLE_BLOCK_SETTINGS)
            engine.execute(f"SYSTEM STOP MERGES lay.v{i}")
        found = engine.fetch_table(
            "SELECT table, sum(bytes_on_disk) AS bytes FROM system.parts WHERE database = 'lay' AND active GROUP BY table"
        ).to_pylist()
        sizes = {row["table"]: row["bytes"] for row in found}
        taken: dict[tuple[int, str], list[tuple[float, float]]] = {}
        kinds = queries(rows)
        for kind, make in kinds.items():
            for number in range(-2, rounds):
                order = list(range(len(layouts)))
                random.Random(number).shuffle(order)
                query = make(random.Random(number))
                for i in order:
                    sql, settings = find_sql(query, layouts[i], f"lay.v{i}")
                    began = time.process_time(), time.perf_counter()
                    with engine.stream_batches(sql, settings=settings) as batches:
                        for _ in batches:
                            pass
                    if number >= 0:
                        times = time.process_time() - began[0], time.perf_counter() - began[1]
                        taken.setdefault((i, kind), []).append(times)
        engine.close()
    print(f"{'':22}{'MB':>6}" + "".join(f"{kind:>14}" for kind in kinds))
    for i, layout in enumerate(layouts):
        medians = (
            "/".join(f"{1000 * statistics.median(values):.1f}" for values in zip(*taken[i, kind], strict=True))
            for kind in kinds
        )
        print(f"{layout.name:22}{sizes[f'v{i}'] / 1e6:6.0f}" + "".join(f"{text:>14}" for text in medians), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("groups", nargs="*", default=list(GROUPS))
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--rounds", type=int, default=20)
    given = parser.parse_args()
    rows = make_rows(given.rows)
    for group in given.groups:
        print(f"--- {group}")
        measure_group(GROUPS[group], rows, given.rounds)


if __name__ == "__main__":
    main()
