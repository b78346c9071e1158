"""What is shipped: the demo's tables (Tycho-2's bright stars and OpenNGC) with their descriptions and licences, and
schema files of standard tables, which a load takes by name.
"""

from __future__ import annotations

from pathlib import Path

from loaders.load_error import LoadError
from loaders.pipeline.load_table import LoadRequest, load
from loaders.progress_reporter import Reporter
from tap_service.storage.engine.engine import Engine

_FOLDER = Path(__file__).parents[1] / "demo"
_SCHEMAS = Path(__file__).parents[1] / "schemas"

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


def schema_names() -> list[str]:
    return sorted(path.stem for path in _SCHEMAS.glob("*.yaml"))


def schema_file(name: str) -> Path:
    """The shipped schema file of this name. Raises ``LoadError``."""
    return _shipped(name, ".yaml")


def example_file(name: str) -> Path:
    """Rows to try the shipped schema of this name with, as CSV. Raises ``LoadError``."""
    return _shipped(name, ".csv")


def _shipped(name: str, suffix: str) -> Path:
    if name not in schema_names():
        raise LoadError(f"there is no shipped schema {name!r}; there are {', '.join(schema_names())}")
    return _SCHEMAS / (name + suffix)


def given_schema(word: str) -> Path:
    """What an operator means by ``--schema``: a shipped schema by its name, else a file (./NAME for one so called)."""
    return schema_file(word) if word in schema_names() else Path(word).absolute()
