"""The service and the ClickHouse server of a run, the tables in them, and the processor time of both."""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pyarrow.parquet as pq
from rich.console import Console
from rich.progress import Progress

from loaders.pipeline.load_request import LoadRequest, Mode
from loaders.pipeline.load_table import load_files
from tests.benchmarks.process_tree import read_processor_seconds
from tests.benchmarks.seeds.seed_workload import SeedTable, Size
from tests.benchmarks.service_process import ServiceProcess
from tests.loaders.recorder import Recorder
from tests.servers.clickhouse_server import ClickHouseServer
from tests.servers.server_cluster import prepared_engine

#: Batches that one load takes: their files are on the disk at the same time
_BATCHES_A_LOAD = 16

#: Limits that protect other users must not end a query of a benchmark
_NO_LIMITS: dict[str, Any] = {
    "sync_seconds": 7200,
    "hard_maxrec": 2_000_000_000,
    "async_hard_maxrec": 2_000_000_000,
    "default_maxrec": 2_000_000_000,
    "query_memory": 12 << 30,  # half of the machine's
}

_CHUNK_BYTES = 1 << 20

#: Tables are measured after this time without merges of parts
_IDLE_SECONDS = 2.0

#: Longest answer that is kept with its figures
_SHORT_BYTES = 200


@dataclass
class Work:
    """Wall seconds and processor seconds: of the service, of the engine and of this process; load average."""

    wall: float = 0.0
    service: float = 0.0
    engine: float = 0.0
    client: float = 0.0
    load: float = 0.0

    def as_figures(self) -> dict[str, float]:
        return {name: round(value, 4) for name, value in vars(self).items()}


@dataclass
class Answer:
    """The bytes of a result, and its text if it is short."""

    size: int = 0
    text: str = ""

    @classmethod
    def read_from(cls, chunks: Iterator[bytes]) -> Answer:
        """Read a result to its end."""
        first = next(chunks, b"")
        size = len(first) + sum(map(len, chunks))
        return cls(size, first.decode(errors="replace") if size == len(first) <= _SHORT_BYTES else "")


class SeedService:
    """A real ClickHouse server and a service on it, which keep their data in ``folder``.

    Parameters
    ----------
    keeps_files
        Keep the files of rows after they are loaded, so that answers can be compared.
    """

    def __init__(self, folder: Path, size: Size, *, keeps_files: bool) -> None:
        self.folder = folder
        self.size = size
        self._keeps_files = keeps_files
        self._console = Console(stderr=True, highlight=False)
        self._client = httpx.Client(timeout=None, headers={"Accept-Encoding": "identity"})
        for name in ("files", "spool", "service"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        self.server = ClickHouseServer(folder / "server")
        self.service = self._start_service()

    def close(self) -> None:
        self._client.close()
        self.service.stop()
        self.server.kill()

    def _start_service(self) -> ServiceProcess:
        settings = _NO_LIMITS | {"spool_path": self.folder / "spool", "clickhouse_url": self.server.url}
        service = ServiceProcess(self.folder / "service", **settings)
        service.start()
        return service

    def restart(self) -> bool:
        """Restart both without the page cache; return whether this user may drop it."""
        self.service.stop()
        self.server.kill()
        os.sync()
        is_dropped = False
        with suppress(OSError):
            Path("/proc/sys/vm/drop_caches").write_text("3")
            is_dropped = True
        self.server.start()
        self.service = self._start_service()
        return is_dropped

    # --- tables -------------------------------------------------------------------------------------------------------

    def make_tables(self, tables: Sequence[SeedTable]) -> None:
        """Make and load what is missing, and wait for its merges: a killed run continues where it ended."""
        for table in tables:
            self.load_table(table, table.batches[self.size])
        self.wait_for_merges()

    def wait_for_merges(self) -> None:
        """Wait until ClickHouse has merged no parts for a while: only such tables are measured."""
        idle_since = time.monotonic()
        while time.monotonic() - idle_since < _IDLE_SECONDS:
            merges = httpx.post(self.server.url, content="SELECT count() FROM system.merges", timeout=None)
            if int(merges.text):
                idle_since = time.monotonic()
            time.sleep(0.5)

    def merge_partitions(self, tables: Sequence[SeedTable]) -> None:
        """Merge each partition to one part, as ClickHouse does by itself an hour after the last addition."""
        for table in tables:
            answer = httpx.post(self.server.url, content=f"OPTIMIZE TABLE {table.name} FINAL", timeout=None)
            if not answer.is_success:
                raise RuntimeError(answer.text)

    def _is_published(self, table: SeedTable) -> bool:
        parameters = {"LANG": "ADQL", "QUERY": f"SELECT COUNT(*) FROM {table.name}"}
        return httpx.post(f"{self.service.tap}/sync", data=parameters, timeout=None).is_success

    def list_files(self, table: SeedTable) -> list[Path]:
        return [self._name_file(table, number) for number in range(table.batches[self.size])]

    def _name_file(self, table: SeedTable, number: int) -> Path:
        return self.folder / "files" / f"{table.name}-{number:04d}.parquet"

    def load_table(self, table: SeedTable, count: int) -> None:
        """Load batches until the table has ``count``."""
        schema = self.folder / f"{table.name}.yaml"
        schema.write_text(table.schema)
        record = self.folder / f"{table.name}.json"  # the batches that are in the table
        done = json.loads(record.read_text()) if record.exists() else 0
        with Progress(console=self._console) as progress:
            bar = progress.add_task(f"{table.name}: {count} batches", total=count, completed=done)
            for first in range(done, count, _BATCHES_A_LOAD):
                numbers, following = (
                    range(start, min(start + _BATCHES_A_LOAD, count)) for start in (first, first + _BATCHES_A_LOAD)
                )
                files = self._write_batches(table, numbers)
                with self._writing_ahead(table, following):
                    self._load_files(table, files, None if first else schema)
                record.write_text(json.dumps(numbers.stop))
                if not self._keeps_files:
                    for file in files:
                        file.unlink()
                progress.update(bar, completed=numbers.stop)
        while not self._is_published(table):
            time.sleep(0.2)  # until the service reads the new catalogue

    def _write_batches(self, table: SeedTable, numbers: range) -> list[Path]:
        return [self.write_batch(table, number) for number in numbers]

    @contextmanager
    def _writing_ahead(self, table: SeedTable, numbers: range) -> Iterator[None]:
        """Write the files of the next load in another process, which has the table's functions by a fork."""
        writer = multiprocessing.get_context("fork").Process(target=self._write_batches, args=(table, numbers))
        if numbers:
            writer.start()
        yield
        if numbers:
            writer.join()

    def _load_files(self, table: SeedTable, files: Sequence[Path], schema: Path | None) -> None:
        """Load the files as the table, or append them without a schema."""
        mode: Mode = "replace" if schema else "append"
        request = LoadRequest(
            files=tuple(files),
            table=table.name,
            rejects=self.folder / "rejects.csv",
            schema_file=schema,
            max_errors=0,
            mode=mode,
        )
        with prepared_engine([self.server]) as engine:
            load_files(engine, request, Recorder())

    def append_files(self, table: SeedTable, files: Sequence[Path]) -> None:
        """Append files by the command, as an operator does."""
        rejects = ["--rejects", str(self.folder / "rejects.csv"), "--max-errors", "0"]
        self.service.run_command(["load", *map(str, files), "--table", table.name, "--append", *rejects])

    def write_batch(self, table: SeedTable, number: int) -> Path:
        path = self._name_file(table, number)
        if not path.exists():
            part = path.with_suffix(".part")
            pq.write_table(table.make_batch(self.size, number), part, compression="lz4")
            part.rename(path)
        return path

    # --- queries ------------------------------------------------------------------------------------------------------

    @contextmanager
    def measure_work(self) -> Iterator[Work]:
        """Measure the work of the block."""
        work = Work()
        before = self._read_processor_seconds()
        began = time.perf_counter()
        yield work
        work.wall = time.perf_counter() - began
        work.service, work.engine, work.client = (
            after - earlier for after, earlier in zip(self._read_processor_seconds(), before, strict=True)
        )
        work.load = os.getloadavg()[0]

    def _read_processor_seconds(self) -> tuple[float, float, float]:
        own = time.process_time()
        return self.service.read_processor_seconds(), read_processor_seconds(self.server.pid), own

    def fetch_text(self, query: str) -> str:
        """Return the result as CSV."""
        return b"".join(self._stream_answer(query, "csv")).decode()

    def run_query(self, query: str, form: str) -> Answer:
        return Answer.read_from(self._stream_answer(query, form))

    def _stream_answer(self, query: str, form: str) -> Iterator[bytes]:
        parameters = {"LANG": "ADQL", "QUERY": query, "RESPONSEFORMAT": form, "MAXREC": "2000000000"}
        with self._client.stream("POST", f"{self.service.tap}/sync", data=parameters) as response:
            if response.status_code != httpx.codes.OK:
                raise RuntimeError(f"{response.read().decode()[:2000]}\n{query}")
            yield from response.iter_raw(_CHUNK_BYTES)

    def run_job(self, query: str, form: str) -> Answer:
        with httpx.Client(timeout=None, follow_redirects=True, headers={"Accept-Encoding": "identity"}) as client:
            parameters = {
                "LANG": "ADQL",
                "QUERY": query,
                "RESPONSEFORMAT": form,
                "PHASE": "RUN",
                "MAXREC": "2000000000",
            }
            job = str(client.post(f"{self.service.tap}/async", data=parameters).url)
            phase = "QUEUED"
            while phase in ("PENDING", "QUEUED", "EXECUTING"):
                client.get(job, params={"WAIT": "30", "PHASE": phase})
                phase = client.get(f"{job}/phase").text
            if phase != "COMPLETED":
                raise RuntimeError(f"{client.get(f'{job}/error').text[:2000]}\n{query}")
            with client.stream("GET", f"{job}/results/result") as response:
                answer = Answer.read_from(response.iter_raw(_CHUNK_BYTES))
            client.delete(job)
            return answer


@contextmanager
def open_seed_service(folder: Path, size: Size, *, keeps_files: bool = False) -> Iterator[SeedService]:
    """Start the servers of a run."""
    service = SeedService(folder, size, keeps_files=keeps_files)
    try:
        yield service
    finally:
        service.close()


def delete_data(folder: Path) -> None:
    """Delete the tables of a run; its figures stay."""
    for name in ("server", "service", "spool", "files"):
        shutil.rmtree(folder / name, ignore_errors=True)
    for record in folder.glob("*.*.json"):
        record.unlink()
