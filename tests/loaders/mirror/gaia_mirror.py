"""A mirror of files like Gaia's, from a local server."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from loaders.load_error import LoadCancelled, LoadError
from loaders.mirror.mirror_load import mirror_table
from loaders.mirror.mirror_request import MirrorRequest
from tap_service.hats.reading.folder_backend import Patience
from tap_service.storage.engine.engine import Engine
from tests.loaders.mirror.origin_files import Row
from tests.loaders.recorder import Recorder
from tests.servers.origin_server import OriginServer

TABLE = "mirrored.gaia"

PATIENCE = Patience(silence_seconds=5, pause_seconds=0.01)

RECIPE = """\
name: gaia_test
table: mirrored.gaia
origin:
  checksums: {url}/_MD5SUM.txt
  match: GaiaSource_*.csv.gz
  form:
    nulls: ["null"]
layout:
  position: [ra, dec]
  id: [source_id]
coosys: {{system: ICRS, epoch: J2016.0}}
"""


@dataclass(frozen=True)
class GaiaMirror:
    """``folder`` has the recipe, the work folder and the rejects file."""

    server: OriginServer
    folder: Path
    recipe: str = RECIPE

    @property
    def request(self) -> MirrorRequest:
        path = self.folder / "recipe.yaml"
        path.write_text(self.recipe.format(url=self.server.url))
        return MirrorRequest(
            recipe=str(path), table=TABLE, work=self.folder / "work", rejects=self.folder / "rejects.csv"
        )

    def run(self, engine: Engine, **options: Any) -> Recorder:
        reporter = Recorder()
        mirror_table(engine, self.request.model_copy(update=options), reporter, PATIENCE)
        return reporter

    def stop(self, engine: Engine, checks: int, **options: Any) -> None:
        """Run a mirror until the user stops it at the n-th check."""
        with pytest.raises(LoadCancelled):
            mirror_table(engine, self.request.model_copy(update=options), Recorder(checks), PATIENCE)

    def fail(self, engine: Engine, **options: Any) -> str:
        """Run a mirror; return its error message."""
        with pytest.raises(LoadError) as raised:
            self.run(engine, **options)
        return str(raised.value)


def read_rows(engine: Engine, table: str = TABLE, columns: str = "*") -> list[Row]:
    return engine.fetch_table(f"SELECT {columns} FROM {table} ORDER BY source_id").to_pylist()


def sort_rows(files: list[list[Row]]) -> list[Row]:
    """Return the rows of the files with the values of the table."""
    return sorted((row for rows in files for row in rows), key=lambda row: row["source_id"])
