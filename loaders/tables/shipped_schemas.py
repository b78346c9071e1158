"""Data and schema files that are shipped: the demo tables (bright stars of Tycho-2, OpenNGC), and standard schemas."""

from __future__ import annotations

from pathlib import Path

from loaders.load_error import LoadError
from loaders.pipeline.load_request import LoadRequest
from loaders.pipeline.load_table import load_files
from loaders.progress_reporter import Reporter
from tap_service.storage.engine.engine import Engine

_DEMO_FOLDER = Path(__file__).parents[1] / "demo"
_SCHEMA_FOLDER = Path(__file__).parents[1] / "schemas"

#: Table, data file and schema file.
DEMO_TABLES = (
    ("tycho2.bright", "tycho2_bright.parquet", "tycho2.yaml"),
    ("tycho2.star_names", "star_names.csv", "tycho2.yaml"),
    ("openngc.objects", "openngc.parquet", "openngc.yaml"),
)


def load_demo(engine: Engine, reporter: Reporter) -> None:
    """Load the demo tables unless they are loaded already."""
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


def list_schema_names() -> list[str]:
    return sorted(path.stem for path in _SCHEMA_FOLDER.glob("*.yaml"))


def find_schema_file(name: str) -> Path:
    """Return the shipped schema file of this name. Raises ``LoadError``."""
    return _find_shipped_file(name, ".yaml")


def find_example_file(name: str) -> Path:
    """Return the CSV file with example rows for a shipped schema. Raises ``LoadError``."""
    return _find_shipped_file(name, ".csv")


def _find_shipped_file(name: str, suffix: str) -> Path:
    known = list_schema_names()
    if name not in known:
        raise LoadError(f"there is no shipped schema {name!r}; there are {', '.join(known)}")
    return _SCHEMA_FOLDER / (name + suffix)


def resolve_schema_option(value: str) -> Path:
    """Return the file that ``--schema`` names: a shipped schema, else a path (./NAME for a file of the same name)."""
    return find_schema_file(value) if value in list_schema_names() else Path(value).absolute()
