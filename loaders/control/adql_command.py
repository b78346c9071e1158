"""What the service makes of a query: its SQL, the ranges it reads and the engine's plan; or what it says of it without
its tables."""

from __future__ import annotations

from adql import AdqlError, check_without_tables, offset_to_line_column, translate
from clickhouse_schema.engine_tables.catalogue_log import read_catalogue
from loaders.load_error import LoadError
from loaders.progress_reporter import Reporter
from tap_service.storage.engine.engine import Engine

_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\"}


def adql(engine: Engine, query: str, explain: bool, reporter: Reporter) -> None:
    """Print the SQL of ``query``; with ``explain`` also its HEALPix ranges, its settings and the engine's plan."""
    try:
        translation = translate(query, read_catalogue(engine))
    except AdqlError as error:
        raise LoadError(error.describe(query)) from error
    reporter.output(translation.sql)
    if explain:
        for index, cells in translation.cells.items():
            reporter.output(f"{index}: {len(cells.ranges)} ranges, the cells {cells}")
        reporter.output("settings: " + ", ".join(f"{key} = {value}" for key, value in translation.settings.items()))
        reporter.output(engine.explain_query(translation.sql, translation.settings))


def checked(line: str) -> str:
    """``OK``, or ``ERROR line:column message`` for a query that no tables make valid.

    It is written on one line, with \\n, \\t and \\\\ escaped.
    """
    text = _unescaped(line)
    try:
        check_without_tables(text)
    except AdqlError as error:
        row, column = offset_to_line_column(text, error.span.start)
        return f"ERROR {row}:{column} {' '.join(error.message.split())}"
    return "OK"


def _unescaped(line: str) -> str:
    parts = []
    position = 0
    while (slash := line.find("\\", position)) >= 0:
        follows = line[slash + 1 : slash + 2]
        parts += [line[position:slash], _ESCAPES.get(follows, "\\" + follows)]
        position = slash + 2
    return "".join(parts) + line[position:]
