"""Mirrors a table, from the recipe to the published table; resumable at any point."""

from __future__ import annotations

import hashlib

from clickhouse_schema.engine_tables.catalogue_log import read_catalogue
from loaders.mirror.disk_room import explain_disk_error
from loaders.mirror.mirror_plan import MirrorTask, choose_schema, find_plan, make_plan, open_origin, read_task
from loaders.mirror.mirror_request import MirrorRequest
from loaders.mirror.mirror_rows import MirrorRows
from loaders.mirror.mirror_state import Plan
from loaders.mirror.neighbours import check_crossmatch, make_neighbours
from loaders.mirror.piece_reader import PieceReader
from loaders.mirror.published_pieces import PublishedPieces
from loaders.mirror.row_filter import open_row_filter
from loaders.origin.origin_client import ORIGIN_PATIENCE, OriginClient
from loaders.pipeline.load_checks import refuse_attached
from loaders.pipeline.load_input import LoadInput
from loaders.pipeline.load_job import is_loaded, load_rows, open_load, report_load
from loaders.pipeline.load_plan import choose_options
from loaders.pipeline.load_request import LoadRequest
from loaders.pipeline.named_input import NamedInput
from loaders.pipeline.storage_choice import read_live_state
from loaders.progress_reporter import Reporter
from loaders.storage.load_state import TableState
from tap_service.hats.reading.folder_backend import Patience
from tap_service.models.read_options import AS_DETECTED
from tap_service.storage.engine.engine import Engine


def mirror_table(
    engine: Engine, request: MirrorRequest, reporter: Reporter, patience: Patience = ORIGIN_PATIENCE
) -> None:
    """Make a table of the files of an origin, or continue a stopped mirror.

    Parameters
    ----------
    engine : Engine
        The engine.
    request : MirrorRequest
        What to mirror.
    reporter : Reporter
        Receives progress and messages; may stop the mirror.
    patience : Patience, optional
        Timeouts and attempts of requests to the origin.

    Raises
    ------
    LoadError
        The mirror is impossible or failed; the live table has not changed.
    LoadCancelled
        The user stopped it; starting it again continues it.
    """
    try:
        _mirror_table(engine.pin_server(), request, reporter, patience)  # rows pass through tables of one server
    except OSError as error:
        raise explain_disk_error(error, request.work) from error


def _mirror_table(engine: Engine, request: MirrorRequest, reporter: Reporter, patience: Patience) -> None:
    task = read_task(request, OriginClient(patience, reporter.message), reporter)
    refuse_attached(read_catalogue(engine), request.table)
    plan = find_plan(task) or make_plan(task)
    crossmatch = task.recipe.crossmatch
    if crossmatch is not None:
        check_crossmatch(engine, request, crossmatch, plan.table_schema.tables[0])
    _load_plan(engine, task, plan)
    if crossmatch is not None:
        make_neighbours(engine, request, crossmatch, reporter)
    task.state.remove()


def _load_plan(engine: Engine, task: MirrorTask, plan: Plan) -> None:
    """Load the pieces of a plan and publish them."""
    request, state, reporter = task.request, task.state, task.reporter
    whole = plan.table_schema
    schema = choose_schema(whole, task)
    origin = open_origin(task, plan, schema)
    columns = [column.name for column in whole.tables[0].columns]
    reader = PieceReader(origin, choose_options(whole.tables[0], AS_DETECTED), schema.tables[0], columns, reporter)
    condition = "" if task.recipe.origin.tap else request.where
    load_request = LoadRequest(
        files=(plan.name,),
        table=request.table,
        rejects=request.rejects,
        max_errors=request.max_errors,
        mode=request.mode,
        insert_threads=request.insert_threads,
    )
    with open_row_filter(engine, schema, condition) as choose_rows:
        if request.publishes_early:
            pieces = PublishedPieces(engine, load_request, schema, origin, state, reader, choose_rows, reporter)
            pieces.load_all(len(plan.files), request.max_files)
            return
        catalogue = read_catalogue(engine)
        live = read_live_state(engine, request.table, catalogue)
        load_input = LoadInput([NamedInput(plan.name, _choose_digest(plan, live), ())], schema.tables[0])
        job = open_load(engine, catalogue, load_request, load_input, schema, live, reporter)
        if not is_loaded(job, catalogue):
            rows = MirrorRows(
                origin, state, len(plan.files), job.table, reader, choose_rows, request.max_files, reporter
            )
            report_load(job, load_rows(job, rows.insert_rows))


def _choose_digest(plan: Plan, live: TableState | None) -> str:
    """Return the digest of the rows of a plan; without a token, the live table's digest if it has one."""
    digest = f"{_hash_plan(plan)}{plan.token}"
    known = (found for load in (live.loads if live else ()) for found in load.digests)
    return digest if plan.token else next((found for found in known if found.startswith(digest)), digest)


def _hash_plan(plan: Plan) -> str:
    """Return a hash of the request of a plan and the checksums of its files."""
    lines = (f"{file.address}\t{file.checksum}\n" for file in plan.files)
    return hashlib.sha256(f"{plan.request}\n{''.join(lines)}".encode()).hexdigest()
