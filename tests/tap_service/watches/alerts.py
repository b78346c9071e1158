"""The watched table of these tests, sky.alerts: additions to it, and a receiver of webhooks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from clickhouse_schema.engine_tables import addition_record, catalogue_log, engine_setup
from loaders.pipeline.load_request import LoadRequest, Mode
from loaders.pipeline.load_table import load_files
from tap_service.storage.engine.engine import Engine
from tests.loaders.recorder import Recorder
from tests.servers.server_thread import run_server

TABLE = "sky.alerts"


def add_alerts(engine: Engine, folder: Path, first: int, count: int, mode: Mode = "append") -> None:
    """Add rows with ids from ``first``; mag is the id modulo 10, and positions are a degree apart."""
    path = folder / f"alerts{first}.parquet"
    ids = np.arange(first, first + count)
    columns = {"id": ids, "ra": ids % 360 + 0.5, "dec": ids // 360 % 90 + 0.5, "mag": (ids % 10).astype("f4")}
    pq.write_table(pa.table(columns), path)
    load_files(
        engine,
        LoadRequest(files=(path,), table=TABLE, rejects=folder / "rejects.csv", max_errors=0, mode=mode),
        Recorder(),
    )


@contextmanager
def alerts_table(engine: Engine, folder: Path) -> Iterator[None]:
    """Create the table with the ids 0 to 99; at the end drop it and the rows that are kept for watches."""
    engine_setup.prepare_engine(engine)
    add_alerts(engine, folder, 0, 100, "create")
    yield
    catalogue_log.unregister_table(engine, *TABLE.split("."))
    addition_record.drop_rows(engine, [each.addition_id for each in addition_record.read_kept_additions(engine)])
    engine.execute("DROP DATABASE sky SYNC")


class Receiver:
    """Messages that an HTTP server on this machine received: headers and body.

    ``answers``: status codes, or whole answers after which the connection ends; then 200.
    """

    def __init__(self, port: int) -> None:
        self.url = f"http://localhost:{port}/hook?for=alice"
        self.answers: list[int | bytes] = []
        self.got: list[tuple[dict[str, str], bytes]] = []

    @property
    def documents(self) -> list[dict[str, Any]]:
        return [json.loads(body) for _, body in self.got]


@contextmanager
def receiver() -> Iterator[Receiver]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            found.got.append((dict(self.headers), body))
            status = found.answers.pop(0) if found.answers else 200
            if isinstance(status, bytes):
                self.wfile.write(status)
                return
            self.send_response(status)
            if 300 <= status < 400:
                self.send_header("Location", found.url)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    found = Receiver(server.server_address[1])
    with run_server(server):
        yield found
