"""Compression between service and server: the bytes that it saves, and its processor time on both sides.

    python -m tests.benchmarks.bench_compression [rows]

One real server on this machine sends all filled columns of the tables of ``bench_light`` as Arrow over HTTP; this
process reads them into Arrow batches and drops them. Either the buffers within Arrow are compressed (the setting of
the format) or the body of the response (HTTP's Content-Encoding). The methods take turns; the figures are medians of
the rounds. The last column is the speed of the network below which a method is faster than none: the saved bytes
divided by the processor time.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import requests

from tap_service.storage.engine.engine import DEFAULT_SETTINGS
from tests.benchmarks.light_tables import write_tables
from tests.benchmarks.process_tree import read_processor_seconds
from tests.benchmarks.service_process import ServiceProcess
from tests.servers.clickhouse_server import ClickHouseServer
from tests.servers.server_cluster import running_server

ROUNDS = 9
SKY = "SELECT * EXCEPT (hpx29) FROM light.stars"
#: the columns of ObsCore that have values, most of them text
OBSERVATIONS = (
    "SELECT dataproduct_type, obs_collection, obs_id, obs_publisher_did, access_url, access_format, s_ra, s_dec, s_fov,"
    " t_min, t_max, t_exptime, em_min, em_max, instrument_name FROM ivoa.ObsCore"
)


@dataclass(frozen=True)
class Method:
    name: str
    of_arrow: str = "none"
    of_body: str = ""
    level: int = 1


METHODS = (
    Method("none"),
    Method("Arrow, LZ4", of_arrow="lz4_frame"),
    Method("Arrow, ZSTD", of_arrow="zstd"),
    Method("HTTP, LZ4", of_body="lz4"),
    Method("HTTP, ZSTD 1", of_body="zstd"),
    Method("HTTP, gzip 1", of_body="gzip"),
)


def fetch(server: ClickHouseServer, session: requests.Session, sql: str, method: Method) -> dict[str, float]:
    settings = {
        **DEFAULT_SETTINGS,
        "output_format_arrow_compression_method": method.of_arrow,
        "enable_http_compression": int(bool(method.of_body)),
        "http_zlib_compression_level": method.level,
    }
    ours, theirs, began = time.process_time(), read_processor_seconds(server.pid), time.perf_counter()
    with session.post(
        server.url,
        params={name: str(value) for name, value in settings.items()},
        data=f"{sql} FORMAT ArrowStream",
        headers={"Accept-Encoding": method.of_body or "identity"},
        stream=True,
        timeout=600,
    ) as response:
        response.raise_for_status()
        assert response.headers.get("Content-Encoding", "") == method.of_body
        file = pa.PythonFile(response.raw, mode="r")
        stream = pa.CompressedInputStream(file, method.of_body) if method.of_body else file
        rows = sum(batch.num_rows for batch in pa.ipc.open_stream(stream))
        size = response.raw.tell()
    return {
        "rows": rows,
        "bytes": size,
        "wall": time.perf_counter() - began,
        "client": time.process_time() - ours,
        "server": read_processor_seconds(server.pid) - theirs,
    }


def compare(server: ClickHouseServer, sql: str) -> None:
    rounds: dict[str, list[dict[str, float]]] = {method.name: [] for method in METHODS}
    with requests.Session() as session:
        for number in range(ROUNDS + 1):
            for method in METHODS:
                figures = fetch(server, session, sql, method)
                if number:
                    rounds[method.name].append(figures)
    medians = {
        name: {key: statistics.median(each[key] for each in figures) for key in figures[0]}
        for name, figures in rounds.items()
    }
    plain = medians["none"]
    print(
        f"{sql}: {plain['rows']:,.0f} rows\n{'method':14} {'MB':>7} {'wall':>8} {'server':>8} {'client':>8}  pays below"
    )
    for name, each in medians.items():
        saved = plain["bytes"] - each["bytes"]
        cost = each["server"] + each["client"] - plain["server"] - plain["client"]
        below = f"{saved * 8 / cost / 1e6:,.0f} Mbit/s" if saved > 0 and cost > 0 else "-"
        print(
            f"{name:14} {each['bytes'] / 1e6:7.1f} {each['wall']:6.3f} s {each['server']:6.3f} s {each['client']:6.3f} s"
            f"  {below}",
            flush=True,
        )


def main(rows: int = 2_000_000) -> None:
    with tempfile.TemporaryDirectory() as name, running_server(Path(name) / "server") as server:
        service = ServiceProcess(Path(name) / "data", clickhouse_url=server.url)
        for command in write_tables(Path(name), rows):
            service.run_command(command)
        compare(server, SKY)
        compare(server, OBSERVATIONS)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
