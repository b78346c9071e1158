"""``skyhouse adql``: the SQL of a query, its steps and the engine's plan; or a syntax check without tables."""

from __future__ import annotations

from adql import AdqlError, check_without_tables, offset_to_line_column, translate
from clickhouse_schema.engine_tables.catalogue_log import read_catalogue
from loaders.load_error import LoadError
from loaders.progress_reporter import Reporter
from tap_service.storage.engine.engine import Engine

_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\"}


def print_translation(engine: Engine, query: str, explain: bool, reporter: Reporter) -> None:
    """Report the SQL of a query.

    Parameters
    ----------
    engine : Engine
        Has the catalogue.
    query : str
        The query in ADQL.
    explain : bool
        Also report the steps of the translation, the HEALPix ranges and the engine's plan.
    reporter : Reporter
        Receives them.

    Raises
    ------
    LoadError
        The query cannot be translated.
    """
    try:
        translation = translate(query, read_catalogue(engine))
    except AdqlError as error:
        raise LoadError(error.describe(query)) from error
    sql = translation.sql if translation.stored_rows is None else translation.stored_rows.sql
    reporter.output(sql)
    for warning in translation.warnings:
        reporter.message(warning)
    if explain:
        reporter.output("\n".join(translation.plan))
        for index, cells in translation.cells.items():
            reporter.output(f"{index}: {len(cells.ranges)} ranges, the cells {cells}")
        reporter.output("settings: " + ", ".join(f"{key} = {value}" for key, value in translation.settings.items()))
        reporter.output(engine.explain_query(sql, translation.settings))


def check_query_line(line: str) -> str:
    """Check the syntax of a query without tables.

    Parameters
    ----------
    line : str
        The query on one line, with line ends, tabs and backslashes escaped as \\n, \\t and \\\\.

    Returns
    -------
    str
        ``OK`` or ``ERROR line:column message``.
    """
    query = _unescape_line(line)
    try:
        check_without_tables(query)
    except AdqlError as error:
        row, column = offset_to_line_column(query, error.span.start)
        return f"ERROR {row}:{column} {' '.join(error.message.split())}"
    return "OK"


def _unescape_line(line: str) -> str:
    parts = []
    position = 0
    while (slash := line.find("\\", position)) >= 0:
        escaped = line[slash + 1 : slash + 2]
        parts += [line[position:slash], _ESCAPES.get(escaped, "\\" + escaped)]
        position = slash + 2
    return "".join(parts) + line[position:]
