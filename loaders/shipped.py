"""The demo's tables: Tycho-2's bright stars and OpenNGC, shipped with their descriptions and licences."""

from __future__ import annotations

from pathlib import Path

from loaders.load import LoadRequest, load
from loaders.progress import Reporter
from tap_service.storage.engine import Engine

_FOLDER = Path(__file__).parent / "demo"

#: table, data and description
TABLES = (
    ("tycho2.bright", "tycho2_bright.parquet", "tycho2.yaml"),
    ("openngc.objects", "openngc.parquet", "openngc.yaml"),
)


def load_demo(engine: Engine, reporter: Reporter) -> None:
    """The tables as shipped: loaded, or left as they are if they are these."""
    for table, data, schema in TABLES:
        request = LoadRequest(
            files=(_FOLDER / data,),
            table=table,
            rejects=Path(f"{table}.rejects.csv").absolute(),
            schema_file=_FOLDER / schema,
            strict=True,
            max_errors=0,
            mode="replace",
        )
        load(engine, request, reporter)
