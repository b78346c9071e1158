"""What ``serve`` prints once it answers: a query for each of three clients, of a table that this service has."""

from __future__ import annotations

import json
import shlex

from clickhouse_schema.catalogue import Catalogue, TableEntry
from clickhouse_schema.reserved_words import name_to_adql
from tap_service.services.catalogue.example_queries import build_first_rows_example, build_table_examples, is_tap_schema
from tap_service.storage.engine.engine import Engine, EngineError

_TO_TRY = """
Skyhouse serves {url}/tap and stops with Ctrl-C. Open {url}/ in a browser, or try:

  in Python with pyvo
    import pyvo
    pyvo.dal.TAPService("{url}/tap").search(
        {python}).to_table()

  with STILTS
    stilts tapquery tapurl={url}/tap sync=true \\
      adql={stilts}

  with curl
    curl -d LANG=ADQL -d FORMAT=csv {url}/tap/sync \\
      --data-urlencode {curl}
"""

_TAP_SCHEMA = "TAP_SCHEMA.tables"


def first_queries(engine: Engine, catalogue: Catalogue, url: str) -> str:
    """The text to print: of the first stored table with a position, else of the first one, else of TAP_SCHEMA."""
    stored = [entry for entry in catalogue.entries if not is_tap_schema(entry.schema)]
    entry = next((entry for entry in stored if entry.table.layout.position is not None), next(iter(stored), None))
    table = _TAP_SCHEMA if entry is None else f"{name_to_adql(entry.schema.name)}.{name_to_adql(entry.table.name)}"
    return _TO_TRY.format(
        url=url,
        python="\n        ".join(_python_lines(_select_example(engine, catalogue, entry))),
        stilts=shlex.quote(f"SELECT COUNT(*) AS n FROM {table}"),
        curl=shlex.quote(f"QUERY=SELECT TOP 5 * FROM {table}"),
    )


def _select_example(engine: Engine, catalogue: Catalogue, entry: TableEntry | None) -> str:
    """Around a position where the table has one."""
    if entry is None:
        return f"SELECT table_name, description FROM {_TAP_SCHEMA}"
    try:
        *_, example = build_table_examples(engine, catalogue, entry)
    except EngineError:  # of a cluster that is out of reach; the service says so where it is asked
        example = build_first_rows_example(entry)
    return example.query


def _python_lines(query: str) -> list[str]:
    """String literals, one a line, which Python joins."""
    first, *others = query.splitlines()
    return [json.dumps(line, ensure_ascii=False) for line in (first, *(f" {line}" for line in others))]
