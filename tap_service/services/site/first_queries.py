"""The text that ``serve`` prints when it is ready, with an example query for each of three clients."""

from __future__ import annotations

import json
import shlex

from clickhouse_schema.catalogue import Catalogue, TableEntry
from clickhouse_schema.tap_schema import table_name_to_adql
from tap_service.services.catalogue.example_queries import build_first_rows_example, build_table_examples, is_tap_schema
from tap_service.storage.engine.engine import Engine, EngineError

_TEMPLATE = """
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


def format_first_queries(engine: Engine, catalogue: Catalogue, url: str) -> str:
    """Return the text, with queries of the first table with a position, or otherwise of the first table.

    Parameters
    ----------
    engine, catalogue : Engine, Catalogue
        The engine and its catalogue. Without tables, queries read TAP_SCHEMA.
    url : str
        The URL of the service, without a slash at its end.
    """
    stored = [entry for entry in catalogue.entries if not is_tap_schema(entry.schema)]
    with_position = [entry for entry in stored if entry.table.layout.position is not None]
    entry = next(iter(with_position or stored), None)
    table = _TAP_SCHEMA if entry is None else table_name_to_adql(entry)
    return _TEMPLATE.format(
        url=url,
        python="\n        ".join(_python_lines(_select_example(engine, catalogue, entry))),
        stilts=shlex.quote(f"SELECT COUNT(*) AS n FROM {table}"),
        curl=shlex.quote(f"QUERY=SELECT TOP 5 * FROM {table}"),
    )


def _select_example(engine: Engine, catalogue: Catalogue, entry: TableEntry | None) -> str:
    """Return the query of a cone if the table has a position, otherwise of the first rows."""
    if entry is None:
        return f"SELECT table_name, description FROM {_TAP_SCHEMA}"
    try:
        *_, example = build_table_examples(engine, catalogue, entry)
    except EngineError:  # the cluster is unreachable, as requests will report
        example = build_first_rows_example(entry)
    return example.query


def _python_lines(query: str) -> list[str]:
    """Return one Python string literal per line of the query; Python concatenates them."""
    first, *others = query.splitlines()
    lines = [first, *(f" {line}" for line in others)]
    return [json.dumps(line, ensure_ascii=False) for line in lines]
