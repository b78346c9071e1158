"""Loading files into a table: from the files to a published table, resumable at any point."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from itertools import islice

from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.engine_tables.catalogue_log import read_catalogue
from clickhouse_schema.latest_versions import build_latest_table
from clickhouse_schema.schema_model import Schema, Table
from loaders.pipeline.append_rows import TableAppends, finish_stopped_append
from loaders.pipeline.chunk_reader import read_chunks, reject_orphans
from loaders.pipeline.kept_additions import KeptAdditions
from loaders.pipeline.latest_rows import open_latest_rows, refuse_latest_table
from loaders.pipeline.load_checks import (
    refuse_attached,
    refuse_known_files,
    refuse_lookalike,
    refuse_mode,
    refuse_taken_name,
)
from loaders.pipeline.load_input import LoadInput
from loaders.pipeline.load_plan import choose_options, complete_schema, describe_schema, read_wanted_schema
from loaders.pipeline.load_request import LoadRequest
from loaders.pipeline.missing_columns import refuse_missing_columns
from loaders.pipeline.named_input import NamedInput, open_inputs
from loaders.pipeline.rejects_file import RejectsFile
from loaders.pipeline.remove_table import remove_table
from loaders.pipeline.staging_fill import StagingFill
from loaders.pipeline.storage_choice import choose_storage, read_live_state
from loaders.progress_reporter import Reporter
from loaders.storage.load_state import FinishedLoad, TableState
from loaders.storage.storage_protocol import TableStorage
from tap_service.readers.conform_rows import Conformer
from tap_service.readers.table_source import Source, TableHeader
from tap_service.storage.engine.engine import Engine


@dataclass(frozen=True, slots=True)
class _LoadJob:
    """A load with what it found; ``live`` and ``appends`` are None if there is no table of a load yet."""

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
    def sources(self) -> list[Source]:
        """The files of all inputs, in the order of their rows."""
        return [source for found in self.load_input.inputs for source in found.sources]

    @property
    def base(self) -> TableState | None:
        """The state onto which the rows are added; None for a table of its own."""
        return self.live if self.request.mode == "append" else None


def load_files(engine: Engine, request: LoadRequest, reporter: Reporter) -> None:
    """Load files into a table, or resume a load that was stopped.

    Raises
    ------
    LoadError
        The load is impossible or failed; the live table has not changed.
    LoadCancelled
        The user stopped the load; starting it again resumes it.
    """
    engine = engine.pin_server()  # rows pass through tables of one server
    catalogue = read_catalogue(engine)
    refuse_attached(catalogue, request.table)
    job = _prepare_load(engine, catalogue, request, reporter)
    refuse_latest_table(catalogue.schemas, request.table)
    refuse_taken_name(catalogue, job.schema.name, job.table)
    if job.appends is None:
        refuse_lookalike(catalogue, request.table)
    elif _is_loaded(job):
        return
    refuse_mode(request, job.live, job.storage, job.table)
    for found in job.load_input.inputs:
        refuse_missing_columns(job.table, found.sources[0], request.schema_file)
        Conformer(job.table, found.sources[0])  # raises if a file lacks columns, before anything is created
    load = _load_rows(job)
    bad_rows = f"; {load.rejected:,} bad rows are in {request.rejects}" if load.rejected else ""
    reporter.output(f"loaded {load.rows:,} rows into {request.table}{bad_rows}")


def _prepare_load(engine: Engine, catalogue: Catalogue, request: LoadRequest, reporter: Reporter) -> _LoadJob:
    live = read_live_state(engine, request.table, catalogue)
    wanted = _find_wanted_schema(request, live, reporter)
    options = choose_options(wanted.tables[0] if wanted else None, request.options)
    inputs = open_inputs(request.files, reporter, options)
    sources: list[TableHeader] = [found.sources[0] for found in inputs]
    if wanted is None:
        schema = describe_schema(request.table, sources, request.strict, reporter)
    elif request.schema_file is not None:
        schema = complete_schema(wanted, sources, request.schema_file, request.strict, reporter)
    else:
        schema = wanted
    _report_form(inputs, reporter)
    table = schema.tables[0]
    load_input = LoadInput(inputs, table, request.options)
    storage = choose_storage(engine, schema.name, table, catalogue)
    appends = None if live is None else TableAppends(storage, live)
    return _LoadJob(request, reporter, schema, load_input, storage, live, appends)


def _report_form(inputs: list[NamedInput], reporter: Reporter) -> None:
    """Report how the first file is read, and which other files are read otherwise."""
    last = ""
    for found in inputs:
        notes = ([found.form] if found.form else []) + [*found.header.notes]
        if notes and "; ".join(notes) != last:
            last = "; ".join(notes)
            reporter.message(f"note: {found.name}: {last}")


def _find_wanted_schema(request: LoadRequest, live: TableState | None, reporter: Reporter) -> Schema | None:
    """Return the schema of the schema file or, for an append without one, of the table; None if the files imply it."""
    if request.schema_file is not None:
        return read_wanted_schema(request.table, request.schema_file, request.strict, reporter)
    return live.entry if live is not None and request.mode == "append" else None


def _is_loaded(job: _LoadJob) -> bool:
    """Whether the table has all the files, after finishing a stopped append. Raises if it has only some of them."""
    assert job.live is not None and job.appends is not None  # noqa: S101, PT018
    request, loads = job.request, job.live.loads
    finish_stopped_append(job.appends, job.reporter)
    KeptAdditions(job.storage.engine, job.live).record_all(job.live)
    known = job.load_input.find_known_files(loads, job.appends) if request.mode == "append" else ()
    if not (job.load_input.is_loaded(loads, request.mode, job.appends) or len(known) == len(request.files)):
        refuse_known_files(request, known)
        return False
    job.storage.publication.finish_publishing()
    rows = job.live.rows + job.appends.sum_appends().rows
    job.reporter.output(f"already loaded: {request.table} holds these files ({rows:,} rows)")
    if request.mode == "replace":
        job.reporter.message(f"to load them again anyway: skyhouse drop {request.table} first")
    return True


def _load_rows(job: _LoadJob) -> FinishedLoad:
    """Append the rows, or load them through the staging table, which may hold a stopped load; return the record."""
    staging = job.storage.staging
    wanted = _describe_state(job)
    state = staging.read_state()
    if state is None or (state.fingerprint, state.added) != (wanted.fingerprint, wanted.added):
        if (appended := _append_few_rows(job)) is not None:
            return appended
        staging.create_table(job.schema, job.table, wanted, onto_live=job.base is not None)
        state = wanted
    elif not state.verified:
        job.reporter.message(f"resuming the stopped load of {job.request.table}")
    if not state.verified:
        appended_rows = job.appends.sum_appends().rows if job.base and job.appends else 0
        live_rows = state.rows + appended_rows
        fill = StagingFill(job.storage, job.request, job.load_input, live_rows, job.reporter)
        state = fill.fill_staging(state, job.sources)
    _publish_rows(job, state)
    return state.loads[-1]


def _publish_rows(job: _LoadJob, state: TableState) -> None:
    """Publish the staging table, and after it the latest versions."""
    latest = open_latest_rows(job.storage.engine, job.schema, job.table)
    if latest is not None and not latest.is_staged(state.fingerprint):
        latest.stage_all(job.storage.staging.rows_sql, state.fingerprint)
    added = KeptAdditions(job.storage.engine, state)
    if job.base is not None:  # last, so that it is also kept for a watch that was made a moment ago
        added.keep_chunks(state.loads[-1], job.storage.staging.rows_sql)
    job.storage.publication.publish_staging()
    if latest is not None:
        latest.publish()
    added.record_load(state.loads[-1])
    if job.live is not None:
        _drop_former_latest(job, job.live.entry.tables[0])


def _drop_former_latest(job: _LoadJob, former_table: Table) -> None:
    """Drop the latest versions of the table that was replaced, if the new one has none or under another name."""
    former, latest = build_latest_table(former_table), build_latest_table(job.table)
    if former is not None and (latest is None or latest.name != former.name):
        remove_table(job.storage.engine, f"{job.schema.name}.{former.name}")


def _describe_state(job: _LoadJob) -> TableState:
    """Return the state that the staging table of this load has."""
    base = job.base
    loads = base.loads if base else ()
    return TableState(
        fingerprint=job.load_input.compute_fingerprint(loads),
        entry=job.schema,
        loads=loads,
        origin=base.origin if base else secrets.token_hex(8),
        added=job.appends.sum_appends().appends if base and job.appends else 0,
    )


def _append_few_rows(job: _LoadJob) -> FinishedLoad | None:
    """Append the rows to the live table if they are one chunk at most; else return None without a change."""
    if job.base is None or job.appends is None:
        return None
    rejects = RejectsFile(job.request.rejects, job.request.max_errors)
    chunks = list(islice(read_chunks(job.table, job.sources, rejects), 2))
    if len(chunks) > 1:
        rejects.close()
        return None
    orphans = job.appends.fill_gateway(chunks[0] if chunks else None)
    for chunk in chunks:
        reject_orphans(chunk, orphans, rejects)
    rejects.close()
    job.reporter.check()
    rows = sum(chunk.rows for chunk in chunks) - len(orphans)
    fingerprint = job.appends.compute_fingerprint(job.load_input.digests)
    load = job.load_input.describe_load(fingerprint, rows, rejects.count)
    job.appends.append_gateway(load)
    return load
