"""Text indexes and indexes of several columns: compare the same queries on the same rows with and without them.

``python -m tests.benchmarks.bench_indexes [ROWS [TABLE...]]``: milliseconds of processor time of the engine and of
the translation, one thread, medians in turns; ratios; bytes and load times. Comments are as in TPC-H: pieces of 10 to
43 characters from sentences of some 130 words. Jobs have PanDA's columns site (Zipf 1.1 of 150), label and day.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from adql.translation import translate
from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.schema_model import Column, Layout, Schema, Table
from clickhouse_schema.table_ddl import create_table_sql
from clickhouse_schema.table_index import TableIndex
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tests.benchmarks.sentence_words import ADJECTIVES, ADVERBS, NOUNS, VERBS

_LABELS = ("user", "managed", "panda", "test", "ptest", "install", "prod_test")
_CHUNK = 500_000
_ROUNDS = 9

_COMMENTS = (
    Column(name="id", datatype="long", nullable=False),
    Column(name="comment", datatype="string", nullable=False),
    Column(name="price", datatype="double", nullable=False),
)
_NAMES = (*_COMMENTS[:1], Column(name="name", datatype="unicode", nullable=False), *_COMMENTS[2:])
_JOBS = (
    Column(name="id", datatype="long", nullable=False),
    Column(name="site", datatype="char", arraysize="*", nullable=False),
    Column(name="label", datatype="char", arraysize="*", nullable=False),
    Column(name="run_day", datatype="int", nullable=False),
    *(Column(name=f"x{n}", datatype="float", nullable=False) for n in range(8)),
)
_TEXT = TableIndex(columns=("comment",), kind="text")
_NAME = TableIndex(columns=("name",), kind="text")
_SEVERAL = TableIndex(columns=("site", "label", "run_day"))

_QUERIES = {
    "comments": {
        "ILIKE '%uriously%'": "SELECT COUNT(*) FROM bench.comments WHERE comment ILIKE '%uriously%'",
        "LIKE '%uriously%'": "SELECT COUNT(*) FROM bench.comments WHERE comment LIKE '%uriously%'",
        "LOWER(...) LIKE '%theodolites%'": "SELECT COUNT(*) FROM bench.comments WHERE LOWER(comment) LIKE '%theodolites%'",
        "ivo_hasword, one word": "SELECT COUNT(*) FROM bench.comments WHERE 1 = ivo_hasword(comment, 'theodolites')",
        "ivo_hasword, three words": "SELECT COUNT(*) FROM bench.comments WHERE 1 = ivo_hasword(comment, 'foxes braids nag')",
        "LIKE '%uriously%', rows of it": "SELECT SUM(price) FROM bench.comments WHERE comment LIKE '%uriously%'",
        "LIKE '%foxes nag%'": "SELECT COUNT(*) FROM bench.comments WHERE comment LIKE '%foxes nag%'",
        "LIKE '%nonesuch%'": "SELECT SUM(price) FROM bench.comments WHERE comment LIKE '%nonesuch%'",
        "= 'final foxes nag slyly'": "SELECT COUNT(*) FROM bench.comments WHERE comment = 'final foxes nag slyly'",
        "LIKE 'foxes%'": "SELECT COUNT(*) FROM bench.comments WHERE comment LIKE 'foxes%'",
        "LIKE '%fox%', not served": "SELECT COUNT(*) FROM bench.comments WHERE comment LIKE '%fox%'",
    },
    "stars": {
        "name = 'NGC ...'": "SELECT SUM(price) FROM bench.stars WHERE name = 'NGC 11400714819323198485'",
        "name LIKE '%12345%'": "SELECT SUM(price) FROM bench.stars WHERE name LIKE '%12345%'",
        "ivo_hasword(name, 'ngc')": "SELECT COUNT(*) FROM bench.stars WHERE 1 = ivo_hasword(name, 'ngc')",
    },
    "jobs": {
        "site, label, day": "SELECT * FROM bench.jobs WHERE site = 'S99' AND label = 'install' AND run_day = 20",
        "site, label": "SELECT * FROM bench.jobs WHERE site = 'S99' AND label = 'install'",
        "site, labels": "SELECT * FROM bench.jobs WHERE site = 'S99' AND label IN ('install', 'prod_test')",
        "site": "SELECT * FROM bench.jobs WHERE site = 'S149'",
        "the most frequent site, label": "SELECT COUNT(*) FROM bench.jobs WHERE site = 'S0' AND label = 'user' AND x0 < 2",
        "label, day: no prefix": "SELECT COUNT(*) FROM bench.jobs WHERE label = 'managed' AND run_day = 20",
    },
}
_TABLES = {
    "comments": (_COMMENTS, Layout(id=("id",), indexes=(_TEXT,))),
    "stars": (_NAMES, Layout(id=("id",), indexes=(_NAME,))),
    "jobs": (_JOBS, Layout(id=("id",), indexes=(_SEVERAL,))),
}


def _make_catalogue(names: list[str], *, has_indexes: bool) -> Catalogue:
    tables = []
    for name in names:
        columns, layout = _TABLES[name]
        tables.append(Table(name=name, columns=columns, layout=layout if has_indexes else Layout(id=("id",))))
    return Catalogue((Schema(name="bench", tables=tuple(tables)),))


def _make_sentences(rng: np.random.Generator, count: int) -> str:
    def maybe(words: list[str], share: float) -> list[str]:
        return [str(rng.choice(words))] if rng.random() < share else []

    sentences = []
    for _ in range(count):
        words = [*maybe(ADVERBS, 0.5), *maybe(ADJECTIVES, 0.6), *maybe(NOUNS, 1), *maybe(VERBS, 1)]
        words += [*maybe(ADVERBS, 0.4), *maybe(["about the", "across the", "among the"], 0.4), *maybe(NOUNS, 0.5)]
        sentences.append(" ".join(words) + str(rng.choice([*".;:?!"])))
    return " ".join(sentences)


def _make_batches(name: str, rows: int) -> Iterator[pa.RecordBatch]:
    rng = np.random.default_rng(1)
    sentences = _make_sentences(rng, 100_000) if name == "comments" else ""
    for start in range(0, rows, _CHUNK):
        count = min(_CHUNK, rows - start)
        ids, price = np.arange(start, start + count), rng.random(count)
        if name == "comments":
            at, length = rng.integers(0, len(sentences) - 50, count), rng.integers(10, 44, count)
            texts = [sentences[a : a + n] for a, n in zip(at, length, strict=True)]
            values = {"id": ids, "comment": texts, "price": price}
        elif name == "stars":
            numbers = ids.astype(np.uint64) * np.uint64(11400714819323198485)
            kinds = np.array(["Gaia DR3", "NGC", "2MASS J", "SDSS J"])[ids % 4]
            texts = [f"{kind} {number}" for kind, number in zip(kinds, numbers, strict=True)]
            values = {"id": ids, "name": texts, "price": price}
        else:
            shares = np.arange(1, 151) ** -1.1
            sites = [f"S{n}" for n in rng.choice(150, count, p=shares / shares.sum())]
            labels = [_LABELS[n] for n in np.minimum(rng.exponential(1.6, count), 6).astype(int)]
            values = {"id": ids, "site": sites, "label": labels, "run_day": (ids * 40 // rows).astype(np.int32)}
            values |= {f"x{n}": rng.random(count, dtype=np.float32) for n in range(8)}
        yield pa.RecordBatch.from_pydict(values)


def _load(engine: EmbeddedEngine, database: str, catalogue: Catalogue, rows: int) -> dict[str, tuple[float, int]]:
    """Make the tables in ``database``; return processor seconds of their inserts and merges, and bytes."""
    engine.execute(f"CREATE DATABASE {database}")
    figures = {}
    for table in catalogue.schemas[0].tables:
        stored = f"{database}.{table.name}"
        engine.execute(create_table_sql(table, stored))
        taken = 0.0
        for batch in _make_batches(table.name, rows):
            began = time.process_time()
            engine.insert_batches(stored, [batch])
            taken += time.process_time() - began
        began = time.process_time()
        engine.execute(f"OPTIMIZE TABLE {stored} FINAL")
        taken += time.process_time() - began
        where = f"active AND database = '{database}' AND table = '{table.name}'"
        size = engine.fetch_table(f"SELECT sum(bytes_on_disk) AS n FROM system.parts WHERE {where}")["n"][0].as_py()
        figures[table.name] = (taken, int(size))
    return figures


def _measure(engine: EmbeddedEngine, query: str, catalogue: Catalogue, database: str) -> tuple[float, object]:
    began = time.process_time()
    translation = translate(query, catalogue)
    sql = translation.sql.replace("`bench`", f"`{database}`")
    answer = engine.fetch_table(sql, translation.settings | {"max_threads": 1})
    taken = (time.process_time() - began) * 1000
    return taken, answer.num_rows if answer.num_rows != 1 else round(answer.column(0)[0].as_py() or 0, 3)


def main(rows: int, names: list[str]) -> None:
    without, having = (_make_catalogue(names, has_indexes=has) for has in (False, True))
    with tempfile.TemporaryDirectory() as folder:
        engine = EmbeddedEngine(Path(folder))
        plain = _load(engine, "plain", without, rows)
        indexed = _load(engine, "indexed", having, rows)
        for name in names:
            (slow, small), (slower, large) = plain[name], indexed[name]
            print(f"\n{name}, {rows:,} rows: {small / 1e6:.0f} and {large / 1e6:.0f} MB", end="")
            print(f" ({(large - small) / rows:.1f} B a row); loads {slow:.1f} and {slower:.1f} s of processor time\n")
            print("| condition | rows or value | without, ms | with, ms | ratio |\n|---|---|---|---|---|")
            for label, query in _QUERIES[name].items():
                taken: tuple[list[float], list[float]] = ([], [])
                for _ in range(_ROUNDS):
                    (one, answer), (other, same) = (
                        _measure(engine, query, without, "plain"),
                        _measure(engine, query, having, "indexed"),
                    )
                    assert answer == same, (label, answer, same)
                    taken[0].append(one)
                    taken[1].append(other)
                before, after = map(statistics.median, taken)
                print(f"| `{label}` | {answer} | {before:.1f} | {after:.1f} | {before / after:.1f} |", flush=True)
        engine.close()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2_000_000, sys.argv[2:] or [*_TABLES])
