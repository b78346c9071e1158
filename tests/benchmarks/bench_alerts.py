"""The alert database's work for each visit while its history grows: read one field and add the new sources.

    python -m tests.benchmarks.bench_alerts [YEARS]

The aim is that the time does not grow. A visit reads the objects of one field, their sources of the last twelve
months and the latest version of each object seen in them, all by ADQL, and adds its sources by a load. Rubin's
prototypes took 10 s for a visit after 15,000 visits with PostgreSQL (DMTN-113), and 7 to 9 s after 100,000 with
Cassandra (DMTN-156), on more rows and more machines. The benchmark compares a database of many years with one of the
last year alone. They are visited in turns, so that both see the same state of the machine, with the rows of each year
in separate parts (``years`` in the layout) and without.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from adql.translation import translate
from clickhouse_schema.engine_tables.catalogue_log import read_catalogue
from clickhouse_schema.engine_tables.engine_setup import prepare_engine
from loaders.cli.console_reporter import ConsoleReporter
from loaders.pipeline.load_request import LoadRequest
from loaders.pipeline.load_table import load_files
from tap_service.storage.engine.embedded_engine import EmbeddedEngine

FIELDS, OBJECTS, PER_VISIT, VISITS = 12, 3000, 1500, 40
RADIUS = 1.75
ROUNDS = 24
FIRST = 61000.0

SCHEMA = """
name: {name}
tables:
- name: objects
  columns:
  - {{name: object, datatype: long, nullable: false}}
  - {{name: ra, datatype: double, nullable: false}}
  - {{name: dec, datatype: double, nullable: false}}
  skyhouse:layout: {{position: [ra, dec], id: [object]}}
- name: sources
  columns:
  - {{name: source, datatype: long, nullable: false}}
  - {{name: object, datatype: long, nullable: false}}
  - {{name: ra, datatype: double, nullable: false}}
  - {{name: dec, datatype: double, nullable: false}}
  - {{name: mjd, datatype: double, nullable: false}}
  - {{name: flux, datatype: float}}
  - {{name: mean, datatype: float}}
  skyhouse:layout: {{position: [ra, dec], id: [source], time: mjd, years: {years}}}
"""

_FIELD = "1 = CONTAINS(POINT(ra, dec), CIRCLE({ra}, {dec}, {radius}))"
_RECENT = f"FROM {{name}}.sources WHERE {_FIELD} AND mjd > {{since}}"
READS = (
    f"SELECT object, ra, dec FROM {{name}}.objects WHERE {_FIELD}",
    f"SELECT source, object, mjd, flux {_RECENT}",
    "SELECT object, mjd, mean FROM (SELECT object, mjd, mean, ROW_NUMBER() OVER (PARTITION BY object ORDER BY mjd DESC)"
    f" AS age {_RECENT}) AS seen WHERE age = 1",
)


class Alerts:
    """The database of a survey of some fields along the equator, from its first night."""

    def __init__(self, folder: Path, engine: EmbeddedEngine, name: str, *, years: bool) -> None:
        self._folder = folder
        self._name = name
        self._engine = engine
        self._random = np.random.default_rng(1)
        self._sources = 0
        (folder / f"{name}.yaml").write_text(SCHEMA.format(name=name, years=str(years).lower()))
        field = np.repeat(np.arange(FIELDS), OBJECTS)
        count = len(field)
        self._ra = field * 30.0 + 10 + self._random.uniform(-1.2, 1.2, count)
        self._dec = self._random.uniform(-1.2, 1.2, count)
        self._load("objects", {"object": np.arange(count), "ra": self._ra, "dec": self._dec}, "replace")

    def observe(self, fields: np.ndarray, mjd: np.ndarray, mode: str) -> float:
        """Add the sources of visits to ``fields`` at the times ``mjd``; return the seconds of the load."""
        of = np.repeat(fields, PER_VISIT) * OBJECTS + self._random.integers(0, OBJECTS, len(fields) * PER_VISIT)
        columns = {
            "source": self._sources + np.arange(len(of)),
            "object": of,
            "ra": self._ra[of] + self._random.normal(0, 1e-5, len(of)),
            "dec": self._dec[of] + self._random.normal(0, 1e-5, len(of)),
            "mjd": np.repeat(mjd, PER_VISIT) + self._random.uniform(0, 0.001, len(of)),
            "flux": self._random.normal(size=len(of)).astype("f4"),
            "mean": self._random.normal(size=len(of)).astype("f4"),
        }
        self._sources += len(of)
        return self._load("sources", columns, mode)

    def read(self, field: int, now: float) -> float:
        """Return the seconds to read what a visit to ``field`` needs, as an Arrow stream to its end."""
        catalogue = read_catalogue(self._engine)
        began = time.perf_counter()
        for query in READS:
            text = query.format(name=self._name, ra=field * 30.0 + 10, dec=0.0, radius=RADIUS, since=now - 365)
            translation = translate(text, catalogue)
            settings = translation.settings | {"use_query_condition_cache": 0}
            with self._engine.stream_batches(translation.sql, settings=settings) as batches:
                rows = sum(batch.num_rows for batch in batches)
            if not rows:
                raise RuntimeError(f"nothing was read: {text}")
        return time.perf_counter() - began

    def _load(self, name: str, columns: dict[str, np.ndarray], mode: str) -> float:
        file = self._folder / f"{name}.parquet"
        pq.write_table(pa.table(columns), file)
        schema = None if mode == "append" else self._folder / f"{self._name}.yaml"
        began = time.perf_counter()
        with ConsoleReporter() as reporter:
            reporter.output = lambda text: None  # type: ignore[method-assign]
            request = LoadRequest(
                files=(file,),
                table=f"{self._name}.{name}",
                rejects=self._folder / "rejects.csv",
                schema_file=schema,
                mode=mode,
            )  # type: ignore[arg-type]
            load_files(self._engine, request, reporter)
        return time.perf_counter() - began


def database(folder: Path, engine: EmbeddedEngine, name: str, of_years: range, *, years: bool) -> Alerts:
    """Return a database with the sources of these years."""
    alerts = Alerts(folder, engine, name, years=years)
    for year in of_years:
        fields = np.tile(np.arange(FIELDS), VISITS)
        times = FIRST + (year + np.arange(len(fields)) / len(fields)) * 365.25
        alerts.observe(fields, times, "append" if year > of_years.start else "replace")
    while engine.fetch_table("SELECT 1 AS one FROM system.merges").num_rows:
        time.sleep(0.1)
    return alerts


def visits(databases: tuple[Alerts, Alerts], now: float) -> tuple[list[float], list[float]]:
    """Return the median seconds to read and to add in each database."""
    reads: tuple[list[float], list[float]] = ([], [])
    adds: tuple[list[float], list[float]] = ([], [])
    for number in range(ROUNDS):
        for index, alerts in enumerate(databases):
            reads[index].append(alerts.read(number % FIELDS, now))
            adds[index].append(alerts.observe(np.array([number % FIELDS]), np.array([now]), "append"))
    return [statistics.median(each) for each in reads], [statistics.median(each) for each in adds]


def main(years: int = 10) -> None:
    with tempfile.TemporaryDirectory() as folder, ConsoleReporter() as reporter:
        engine = EmbeddedEngine(Path(folder) / "data")
        prepare_engine(engine)
        for apart in (True, False):
            young = database(Path(folder), engine, "young", range(years - 1, years), years=apart)
            old = database(Path(folder), engine, "old", range(years), years=apart)
            (young_read, old_read), (young_add, old_add) = visits((young, old), FIRST + years * 365.25)
            rows = years * FIELDS * VISITS * PER_VISIT
            reporter.output(f"{rows:,} sources of {years} years, {'each year apart' if apart else 'all together'}")
            reporter.output(f"  reading a field: {old_read * 1e3:.0f} ms, with one year {young_read * 1e3:.0f} ms")
            reporter.output(f"  ratio: {old_read / young_read:.2f} (aim: 1)")
            reporter.output(
                f"  adding {PER_VISIT} sources: {old_add * 1e3:.0f} ms, with one year {young_add * 1e3:.0f} ms"
            )
        engine.close()


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
