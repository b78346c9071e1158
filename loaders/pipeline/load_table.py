"""Loads files into a published table, resumable at any point."""

from __future__ import annotations

from itertools import islice

from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.engine_tables.catalogue_log import read_catalogue
from clickhouse_schema.schema_model import Schema, Table
from loaders.pipeline.chunk_reader import ChooseRows, read_chunks, reject_orphans
from loaders.pipeline.load_checks import refuse_attached
from loaders.pipeline.load_input import LoadInput
from loaders.pipeline.load_job import LoadJob, is_loaded, load_rows, open_load, report_load
from loaders.pipeline.load_plan import choose_options, complete_schema, describe_schema, read_wanted_schema
from loaders.pipeline.load_request import LoadRequest
from loaders.pipeline.missing_columns import refuse_missing_columns, report_other_columns
from loaders.pipeline.named_input import NamedInput, open_inputs
from loaders.pipeline.reading_notes import describe_reading
from loaders.pipeline.rejects_file import RejectsFile
from loaders.pipeline.storage_choice import read_live_state
from loaders.progress_reporter import Reporter
from loaders.storage.load_state import FinishedLoad, TableState
from tap_service.readers.conform_rows import Conformer
from tap_service.readers.table_source import Source, TableHeader
from tap_service.storage.engine.engine import Engine


def load_files(engine: Engine, request: LoadRequest, reporter: Reporter) -> None:
    """Load files into a table, or resume a stopped load.

    Parameters
    ----------
    engine : Engine
        The engine.
    request : LoadRequest
        What to load.
    reporter : Reporter
        Receives progress and messages; may stop the load.

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
    if is_loaded(job, catalogue):
        return
    for found in job.load_input.inputs:
        refuse_missing_columns(job.table, found.sources[0], request.schema_file)
        Conformer(job.table, found.sources[0])  # raises if a file lacks columns, before anything is created
    report_other_columns(job.table, [found.header for found in job.load_input.inputs], reporter)
    sources = [source for found in job.load_input.inputs for source in found.sources]
    load = load_rows(job, lambda fill: fill.insert_sources(sources), lambda: append_few_rows(job, sources))
    report_load(job, load)


def _prepare_load(engine: Engine, catalogue: Catalogue, request: LoadRequest, reporter: Reporter) -> LoadJob:
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
    _report_form(inputs, schema.tables[0], reporter)
    load_input = LoadInput(inputs, schema.tables[0], request.options)
    return open_load(engine, catalogue, request, load_input, schema, live, reporter)


def _report_form(inputs: list[NamedInput], table: Table, reporter: Reporter) -> None:
    """Report how the first file is read, and which files are read differently."""
    last = ""
    for found in inputs:
        reading = describe_reading(found.form, found.header, table)
        if reading and reading != last:
            last = reading
            reporter.message(f"note: {found.name}: {reading}")


def _find_wanted_schema(request: LoadRequest, live: TableState | None, reporter: Reporter) -> Schema | None:
    """Return the schema of the schema file or, for an append without one, of the table; None without either."""
    if request.schema_file is not None:
        return read_wanted_schema(request.table, request.schema_file, request.strict, reporter)
    return live.entry if live is not None and request.mode == "append" else None


def append_few_rows(job: LoadJob, sources: list[Source], choose_rows: ChooseRows | None = None) -> FinishedLoad | None:
    """Append the rows directly to the live table if they are at most one chunk.

    Parameters
    ----------
    job : LoadJob
        The load.
    sources : list of Source
        The files.
    choose_rows : ChooseRows, optional
        Returns which rows of a block are wanted; None for all.

    Returns
    -------
    FinishedLoad or None
        The record of the append; None, without a change, if there are more rows.
    """
    if job.base is None or job.appends is None:
        return None
    rejects = RejectsFile(job.request.rejects, job.request.max_errors)
    rejects.start()
    chunks = list(islice(read_chunks(job.table, sources, rejects, choose_rows=choose_rows), 2))
    if len(chunks) > 1:
        rejects.close()
        return None
    orphans = job.appends.fill_gateway(chunks[0] if chunks else None)
    for chunk in chunks:
        reject_orphans(chunk, orphans, rejects)
    rejects.close()
    rejects.report_cut_times(job.reporter)
    job.reporter.check()
    rows = sum(chunk.rows for chunk in chunks) - len(orphans)
    fingerprint = job.appends.compute_fingerprint(job.load_input.digests)
    load = job.load_input.describe_load(fingerprint, rows, rejects.count)
    job.appends.append_gateway(load, job.reporter)
    return load
