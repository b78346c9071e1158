"""The shipped demo tables: bright stars of Tycho-2 and their names, and OpenNGC."""

from __future__ import annotations

from pathlib import Path

from loaders.pipeline.load_request import LoadRequest
from loaders.pipeline.load_table import load_files
from loaders.progress_reporter import Reporter
from tap_service.storage.engine.engine import Engine

_DEMO_FOLDER = Path(__file__).parents[1] / "demo"

#: Table, data file and schema file.
DEMO_TABLES = (
    ("tycho2.bright", "tycho2_bright.parquet", "tycho2.yaml"),
    ("tycho2.star_names", "star_names.csv", "tycho2.yaml"),
    ("openngc.objects", "openngc.parquet", "openngc.yaml"),
)


def load_demo(engine: Engine, reporter: Reporter) -> None:
    """Load the demo tables, unless they are already loaded.

    Parameters
    ----------
    engine : Engine
        The engine, whose catalogue is up to date.
    reporter : Reporter
        Receives the progress and the results.

    Raises
    ------
    LoadError
        A table cannot be loaded.
    LoadCancelled
        The user has stopped the command.
    """
    for table, data, schema in DEMO_TABLES:
        request = LoadRequest(
            files=(_DEMO_FOLDER / data,),
            table=table,
            rejects=Path(f"{table}.rejects.csv").absolute(),
            schema_file=_DEMO_FOLDER / schema,
            strict=True,
            max_errors=0,
            mode="replace",
        )
        load_files(engine, request, reporter)
