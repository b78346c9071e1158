"""A load into one table: its checks, its staging table and its publication; resumable at any point.

The callers supply the rows: from files, or from an origin whose files are fetched one by one.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass

from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.latest_versions import build_latest_table
from clickhouse_schema.schema_model import Schema, Table
from loaders.pipeline.append_rows import TableAppends, finish_stopped_append
from loaders.pipeline.kept_additions import KeptAdditions
from loaders.pipeline.latest_rows import open_latest_rows, refuse_latest_table
from loaders.pipeline.load_checks import (
    refuse_known_files,
    refuse_lookalike,
    refuse_lost_columns,
    refuse_match,
    refuse_mode,
    refuse_taken_name,
)
from loaders.pipeline.load_input import LoadInput
from loaders.pipeline.load_request import LoadRequest
from loaders.pipeline.match_changes import MatchChanges
from loaders.pipeline.remove_table import remove_table
from loaders.pipeline.staging_fill import StagingFill
from loaders.pipeline.storage_choice import choose_storage
from loaders.progress_reporter import Reporter
from loaders.storage.load_state import FinishedLoad, TableState
from loaders.storage.storage_protocol import TableStorage
from loaders.storage.stored_table import CHUNK_COLUMN
from tap_service.storage.engine.engine import Engine

InsertRows = Callable[[StagingFill], None]


@dataclass(frozen=True, slots=True)
class LoadJob:
    """A load with its input and the state of its table; ``live`` and ``appends`` are None before the first load."""

    request: LoadRequest
    reporter: Reporter
    schema: Schema
    load_input: LoadInput
    storage: TableStorage
    live: TableState | None
    appends: TableAppends | None

    @property
    def table(self) -> Table:
        return self.schema.tables[0]

    @property
    def base(self) -> TableState | None:
        """The state to which the rows are added; None for a new table."""
        return self.live if self.request.mode == "append" else None


def open_load(
    engine: Engine,
    catalogue: Catalogue,
    request: LoadRequest,
    load_input: LoadInput,
    schema: Schema,
    live: TableState | None,
    reporter: Reporter,
) -> LoadJob:
    """Return a load into a table; nothing is changed.

    Parameters
    ----------
    engine : Engine
        The engine with the table.
    catalogue : Catalogue
        The current catalogue.
    request : LoadRequest
        What the operator asks for.
    load_input : LoadInput
        The input, whose fingerprint identifies the load.
    schema : Schema
        The schema with only the table.
    live : TableState or None
        State of the live table (``read_live_state``); None before the first load.
    reporter : Reporter
        Receives progress and messages.

    Returns
    -------
    LoadJob
        The load.
    """
    storage = choose_storage(engine, schema.name, schema.tables[0], catalogue)
    appends = None if live is None else TableAppends(storage, live)
    return LoadJob(request, reporter, schema, load_input, storage, live, appends)


def is_loaded(job: LoadJob, catalogue: Catalogue) -> bool:
    """Check that a load is possible, and whether the table already has all the rows, which is reported.

    An interrupted append or publication of the table is finished first.

    Parameters
    ----------
    job : LoadJob
        The load.
    catalogue : Catalogue
        The current catalogue.

    Returns
    -------
    bool
        Whether there is nothing to load.

    Raises
    ------
    LoadError
        The load is impossible: the mode does not fit the table, the table has only some of the files, the name is
        taken, or the table is a kept match, a table of latest versions, or needed by a kept match.
    """
    refuse_latest_table(catalogue.schemas, job.request.table)
    refuse_match(job.table, catalogue, job.request.table)
    refuse_lost_columns(catalogue, job.request.table, job.table)
    refuse_taken_name(catalogue, job.schema.name, job.table)
    if job.live is None or job.appends is None:
        refuse_lookalike(catalogue, job.request.table)
    elif _has_rows(job, job.live, job.appends):
        return True
    refuse_mode(job.request, job.live, job.storage, job.table)
    return False


def report_load(job: LoadJob, load: FinishedLoad) -> None:
    """Report the numbers of loaded and rejected rows.

    Parameters
    ----------
    job : LoadJob
        The load.
    load : FinishedLoad
        Its record.
    """
    bad_rows = f"; {load.rejected:,} bad rows are in {job.request.rejects}" if load.rejected else ""
    job.reporter.output(f"loaded {load.rows:,} rows into {job.request.table}{bad_rows}")


def _has_rows(job: LoadJob, live: TableState, appends: TableAppends) -> bool:
    """Whether the table has all the files, after finishing a stopped append. Raises if it has only some of them."""
    request, loads = job.request, live.loads
    finish_stopped_append(appends, job.reporter)
    KeptAdditions(job.storage.engine, live).record_all(live)
    known = job.load_input.find_known_files(loads, appends) if request.mode == "append" else ()
    if not (job.load_input.is_loaded(loads, request.mode, appends) or len(known) == len(request.files)):
        refuse_known_files(request, known)
        return False
    job.storage.publication.finish_publishing()
    MatchChanges(job.storage.engine, request.table).follow_change(job.reporter)
    rows = live.rows + appends.sum_appends().rows
    job.reporter.output(f"already loaded: {request.table} holds these files ({rows:,} rows)")
    if request.mode == "replace":
        job.reporter.message(f"to load them again anyway: skyhouse drop {request.table} first")
    return True


def load_rows(
    job: LoadJob, insert_rows: InsertRows, append_few: Callable[[], FinishedLoad | None] = lambda: None
) -> FinishedLoad:
    """Load the rows through the staging table, which may hold a stopped load, and publish it.

    Parameters
    ----------
    job : LoadJob
        The load.
    insert_rows : InsertRows
        Inserts the rows that the staging table lacks.
    append_few : callable, optional
        Appends few rows directly to the live table; returns None, without a change, if there are many.

    Returns
    -------
    FinishedLoad
        The record of the load.

    Raises
    ------
    LoadError
        The rows cannot be loaded; the message says whether the load can be resumed.
    LoadCancelled
        The user has stopped the command; the same load can be resumed.
    """
    staging = job.storage.staging
    wanted = _describe_state(job)
    state = staging.read_state()
    if state is None or (state.fingerprint, state.added) != (wanted.fingerprint, wanted.added):
        if (appended := append_few()) is not None:
            return appended
        staging.create_table(job.schema, job.table, wanted, onto_live=job.base is not None)
        state = wanted
    elif not state.verified:
        job.reporter.message(f"resuming the stopped load of {job.request.table}")
    if not state.verified:
        appended_rows = job.appends.sum_appends().rows if job.base and job.appends else 0
        fill = StagingFill(job.storage, job.request, job.load_input, state.rows + appended_rows, job.reporter)
        with closing(fill.rejects):
            insert_rows(fill)
            state = fill.finish(state)
    _publish_rows(job, state)
    return state.loads[-1]


def _publish_rows(job: LoadJob, state: TableState) -> None:
    """Publish the staging table, then its latest versions, and then update the kept matches."""
    latest = open_latest_rows(job.storage.engine, job.schema, job.table)
    if latest is not None and not latest.is_staged(state.fingerprint):
        latest.stage_all(job.storage.staging.rows_sql, state.fingerprint)
    matches = MatchChanges(job.storage.engine, job.request.table)
    if job.base is not None:
        matches.announce_rows([f"{job.storage.staging.rows_sql} WHERE {CHUNK_COLUMN} > 0"])
    else:
        matches.announce_all()
    added = KeptAdditions(job.storage.engine, state)
    if job.base is not None:  # last, so that rows are also kept for a watch that was just made
        added.keep_chunks(state.loads[-1], job.storage.staging.rows_sql)
    job.storage.publication.publish_staging()
    if latest is not None:
        latest.publish()
    matches.follow_change(job.reporter)
    added.record_load(state.loads[-1])
    if job.live is not None:
        _drop_former_latest(job, job.live.entry.tables[0])


def _drop_former_latest(job: LoadJob, former_table: Table) -> None:
    """Drop the latest versions of the replaced table if the new table has none, or has them under another name."""
    former, latest = build_latest_table(former_table), build_latest_table(job.table)
    if former is not None and (latest is None or latest.name != former.name):
        remove_table(job.storage.engine, f"{job.schema.name}.{former.name}")


def _describe_state(job: LoadJob) -> TableState:
    """Return the state of the staging table of this load."""
    base = job.base
    loads = base.loads if base else ()
    return TableState(
        fingerprint=job.load_input.compute_fingerprint(loads),
        entry=job.schema,
        loads=loads,
        origin=base.origin if base else secrets.token_hex(8),
        added=job.appends.sum_appends().appends if base and job.appends else 0,
    )
