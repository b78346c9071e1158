"""``skyhouse match``: makes, lists, updates and removes kept matches."""

from __future__ import annotations

import math

from clickhouse_schema.catalogue import Catalogue, TableEntry
from clickhouse_schema.engine_tables.catalogue_log import read_catalogue, read_match_records
from clickhouse_schema.kept_match import MatchError, build_match_table, find_epoch, find_motion
from clickhouse_schema.latest_versions import find_versioned_table
from clickhouse_schema.schema_files.schema_checks import find_problems, find_table_problems
from clickhouse_schema.schema_model import MAX_MATCH_RADIUS, Match, Schema, Table
from loaders.load_error import LoadError
from loaders.pipeline.kept_match import KeptMatch, forget_match, list_matches
from loaders.pipeline.load_checks import refuse_lookalike, refuse_taken_name
from loaders.pipeline.match_changes import follow_match
from loaders.pipeline.match_request import MatchRequest
from loaders.pipeline.remove_table import remove_table
from loaders.pipeline.table_name import split_name
from loaders.progress_reporter import Reporter
from tap_service.storage.engine.engine import Engine

_LEFT, _RIGHT = "left", "right"


def make_match(engine: Engine, request: MatchRequest, reporter: Reporter) -> None:
    """Make a kept match, or continue making a stopped match.

    Parameters
    ----------
    engine : Engine
        The engine with both tables.
    request : MatchRequest
        The match to make.
    reporter : Reporter
        Receives progress and the number of pairs.

    Raises
    ------
    LoadError
        The match is impossible; no table has changed.
    """
    engine = engine.pin_server()
    catalogue = read_catalogue(engine)
    schema, table = _plan_match(catalogue, request)
    known = catalogue.find_entry(schema.name, table.name)
    if known is not None and known.table.match is None:
        raise LoadError(f"there is a table {request.table}, which is not a kept match: choose another --table")
    if known is not None and known.table != table:
        raise LoadError(
            f"{request.table} is another kept match: choose another --table, or remove it first with skyhouse match"
            f" drop {request.table}"
        )
    if known is None:
        refuse_lookalike(catalogue, request.table)
        refuse_taken_name(catalogue, schema.name, table)
    elif (record := read_match_records(engine).get(request.table)) is not None and record.is_current:
        reporter.output(f"{request.table} exists already and is up to date")
        return
    rows = KeptMatch(engine, catalogue, schema, table).make_pairs(reporter)
    reporter.output(f"{request.table} keeps {rows:,} pairs of {request.left} and {request.right}")


def _plan_match(catalogue: Catalogue, request: MatchRequest) -> tuple[Schema, Table]:
    schema_name, table_name = split_name(request.table)
    if not (math.isfinite(request.radius) and 0 < request.radius <= MAX_MATCH_RADIUS):
        raise LoadError(
            f"--radius is {request.radius:g} arcsec: give more than 0 and at most {MAX_MATCH_RADIUS:,.0f} (90 degrees)"
        )
    left, right = (_find_table(catalogue, name) for name in (request.left, request.right))
    left_epoch, right_epoch = _choose_epochs(request, left, right)
    match = Match(
        left=_LEFT, right=_RIGHT, radius=request.radius, kind=request.kind,
        left_epoch=left_epoch, right_epoch=right_epoch,
    )  # fmt: skip
    try:
        table = build_match_table(table_name, (left.schema, left.table), (right.schema, right.table), match)
    except MatchError as error:
        raise LoadError(str(error)) from error
    known = next((schema for schema in catalogue.schemas if schema.name == schema_name), Schema(name=schema_name))
    if problems := [*find_problems(known.model_copy(update={"tables": ()})), *find_table_problems(table)]:
        raise LoadError(f"{request.table} cannot be a table: {problems[0].message}")
    return known.model_copy(update={"tables": (table,)}), table


def _find_table(catalogue: Catalogue, name: str) -> TableEntry:
    entry = catalogue.find_entry(*split_name(name, "the name of a table"))
    if entry is None:
        raise LoadError(f"there is no table {name}; see skyhouse tables")
    if entry.attached is not None:
        raise LoadError(f"{name} is attached, and its files may change unnoticed: load it, then match it")
    versioned = find_versioned_table(catalogue.schemas, entry.schema.name, entry.table.name)
    if versioned is not None:
        raise LoadError(
            f"{name} has the latest versions of {entry.schema.name}.{versioned.name}, which a kept match cannot follow"
            " yet: match that table"
        )
    return entry


def _choose_epochs(request: MatchRequest, left: TableEntry, right: TableEntry) -> tuple[float | str, float | str]:
    if request.epochs == "none":
        return "", ""
    has_motion = any(find_motion(entry.table) for entry in (left, right))
    if not request.epochs:
        found = find_epoch(left.table), find_epoch(right.table)
        return found if has_motion and "" not in found else ("", "")
    parts = [part.strip() for part in request.epochs.split(",")]
    if len(parts) != 2 or not all(parts):
        raise LoadError(
            f"--epoch is {request.epochs!r}: give the epochs of both tables, each a year or a column of years, such as"
            " 2016.0,1999.5 or ref_epoch,1999.5; or none"
        )
    if not has_motion:
        raise LoadError(
            f"neither {request.left} nor {request.right} has proper motions (columns with the UCDs pos.pm;pos.eq.ra and"
            " pos.pm;pos.eq.dec, or pmra and pmdec), so --epoch has no effect: leave it out"
        )
    return _read_epoch(parts[0], left), _read_epoch(parts[1], right)


def _read_epoch(text: str, entry: TableEntry) -> float | str:
    try:
        year = float(text)
    except ValueError:
        column = next((column for column in entry.table.columns if column.name == text), None)
        if column is None or not column.type.is_numeric:
            raise LoadError(
                f"--epoch names {text}, which is not a numeric column of {entry.qualified_name}: give a column of"
                " years, or a year"
            ) from None
        return text
    if not 1000 <= year <= 3000:
        raise LoadError(f"--epoch has {text}: give a Julian year, such as 2016.0")
    return year


def follow_matches(engine: Engine, name: str, reporter: Reporter) -> None:
    """Update a kept match after changes of its tables; ``name`` '' for all. Raises ``LoadError``."""
    engine = engine.pin_server()
    names = (
        [name] if name else [f"{schema.name}.{table.name}" for schema, table in list_matches(read_catalogue(engine))]
    )
    for each in names:
        state = "is up to date again" if follow_match(engine, each, reporter) else "was up to date"
        reporter.output(f"{each} {state}")


def print_matches(engine: Engine, reporter: Reporter) -> None:
    """Report the tables, kind, radius and pairs of each kept match, and whether queries use it."""
    catalogue = read_catalogue(engine)
    records = read_match_records(engine)
    has_matches = False
    for schema, table in list_matches(catalogue):
        has_matches = True
        match, name = table.match, f"{schema.name}.{table.name}"
        assert match is not None  # noqa: S101  list_matches yields only such tables
        tables = " and ".join(
            key.referenced_table for side in (match.left, match.right) if (key := table.find_key(side))
        )
        entry = catalogue.find_entry(schema.name, table.name)
        rows = entry.rows if entry is not None else None
        record = records.get(name)
        state = (
            "up to date" if record is not None and record.is_current else f"out of date: skyhouse match follow {name}"
        )
        pairs = f"{rows or 0:,} pairs"
        reporter.output(f"{name:<40}{pairs:>20}  {match.kind} of {tables} within {match.radius:g} arcsec, {state}")
    if not has_matches:
        reporter.output("no kept matches yet: skyhouse match make LEFT RIGHT --radius ARCSEC --table schema.table")


def drop_match(engine: Engine, name: str, reporter: Reporter) -> None:
    """Remove a kept match, even an unfinished one. Raises ``LoadError`` if there is none."""
    engine = engine.pin_server()
    entry = read_catalogue(engine).find_entry(*split_name(name))
    if entry is not None and entry.table.match is None:
        raise LoadError(f"{name} is not a kept match: remove the table with skyhouse drop {name}")
    forget_match(engine, name)
    if not remove_table(engine, name):
        raise LoadError(f"there is no kept match {name}; see skyhouse match list")
    reporter.output(f"dropped {name}")
