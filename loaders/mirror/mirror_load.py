"""A mirror from its recipe to the published table, resumable at any point."""

from __future__ import annotations

import hashlib
from pathlib import Path

from clickhouse_schema.engine_tables.catalogue_log import read_catalogue
from clickhouse_schema.schema_model import Schema
from loaders.load_error import LoadError
from loaders.mirror.file_list import OriginFile, list_origin_files
from loaders.mirror.mirror_origin import FileMirrorOrigin, MirrorOrigin
from loaders.mirror.mirror_request import MirrorRequest
from loaders.mirror.mirror_rows import MirrorRows
from loaders.mirror.mirror_state import MirrorState, Plan, PlannedFile
from loaders.mirror.published_pieces import PublishedPieces
from loaders.mirror.recipe import Recipe, read_recipe
from loaders.mirror.recipe_schema import choose_read_options, keep_columns, parse_schema, plan_schema
from loaders.mirror.row_filter import check_row_condition, open_row_filter
from loaders.origin.origin_client import ORIGIN_PATIENCE, OriginClient
from loaders.pipeline.load_checks import refuse_attached
from loaders.pipeline.load_input import LoadInput
from loaders.pipeline.load_job import is_loaded, load_rows, open_load, report_load
from loaders.pipeline.load_request import LoadRequest
from loaders.pipeline.named_input import NamedInput
from loaders.progress_reporter import Reporter
from tap_service.hats.reading.folder_backend import Patience
from tap_service.storage.engine.engine import Engine


def mirror_table(
    engine: Engine, request: MirrorRequest, reporter: Reporter, patience: Patience = ORIGIN_PATIENCE
) -> None:
    """Make a table of the files of an origin, or go on with a mirror that was stopped.

    Raises
    ------
    LoadError
        The mirror is impossible or failed; the live table has not changed.
    LoadCancelled
        The user stopped it; starting it again continues it.
    """
    engine = engine.pin_server()  # rows pass through tables of one server
    recipe_file = Path(request.recipe)
    recipe = read_recipe(recipe_file)
    refuse_attached(read_catalogue(engine), request.table)
    state = MirrorState(request.work)
    client = OriginClient(patience, reporter.message)
    plan = find_plan(state, request, request.compute_digest(recipe_file.read_text()))
    if plan is None:
        plan = _make_plan(recipe, recipe_file, request, state, client, reporter)
    files = [OriginFile(file.address, file.checksum) for file in plan.files]
    load_plan(engine, request, state, plan, FileMirrorOrigin(client, files, state.files), reporter)


def find_plan(state: MirrorState, request: MirrorRequest, digest: str) -> Plan | None:
    """Return the plan of the stopped mirror, None if there is none. Raises ``LoadError`` if it is another mirror's."""
    plan = None if request.restarts else state.read_plan()
    if plan is not None and plan.request != digest:
        raise LoadError(
            f"a mirror of {plan.name} was begun in {state.folder} with another recipe or other options: give the same"
            " ones to continue it, begin again with --restart, or name another folder with --work"
        )
    return plan


def _make_plan(
    recipe: Recipe,
    recipe_file: Path,
    request: MirrorRequest,
    state: MirrorState,
    client: OriginClient,
    reporter: Reporter,
) -> Plan:
    if recipe.status == "draft":
        raise LoadError(f"{recipe_file} is a draft: complete it, and remove its status. {' '.join(recipe.notes)}")
    for note in recipe.notes:
        reporter.message(f"note: {note}")
    files = list_origin_files(recipe.origin, client)
    reporter.message(f"{recipe.name}: {len(files):,} files, the first is {files[0].address}")
    state.clear()
    first = FileMirrorOrigin(client, files, state.files)
    schema = plan_schema(
        recipe,
        recipe_file.parent,
        request.table,
        client,
        lambda: first.fetch(0, reporter.check).paths[0],
        reporter,
    )
    check_schema(parse_schema(schema), request, reporter)
    plan = Plan(
        request=request.compute_digest(recipe_file.read_text()),
        name=f"{recipe.name} of {recipe.origin.checksums or recipe.origin.files[0]}",
        files=tuple(PlannedFile(address=file.address, checksum=file.checksum) for file in files),
        schema_yaml=schema,
    )
    state.write_plan(plan)
    return plan


def check_schema(schema: Schema, request: MirrorRequest, reporter: Reporter) -> Schema:
    """Return the schema with the wanted columns. Raises ``LoadError`` if the options do not fit it."""
    check_row_condition(schema, request.where)
    return keep_columns(schema, request.columns, request.where, reporter)


def load_plan(
    engine: Engine, request: MirrorRequest, state: MirrorState, plan: Plan, origin: MirrorOrigin, reporter: Reporter
) -> None:
    """Load the pieces of a plan, publish them, and forget the plan."""
    whole = parse_schema(plan.schema_yaml)
    schema = check_schema(whole, request, reporter)
    load_request = LoadRequest(
        (plan.name,),
        request.table,
        request.rejects,
        max_errors=request.max_errors,
        mode=request.mode,
        insert_threads=request.insert_threads,
    )
    options = choose_read_options(whole.tables[0])
    with open_row_filter(engine, schema, request.where) as choose_rows:
        if request.publishes_early:
            pieces = PublishedPieces(engine, load_request, schema, origin, state, options, choose_rows, reporter)
            pieces.load_all(len(plan.files), request.max_files)
        else:
            load_input = LoadInput([NamedInput(plan.name, _hash_plan(plan), ())], schema.tables[0])
            catalogue = read_catalogue(engine)
            job = open_load(engine, catalogue, load_request, load_input, schema, reporter)
            if not is_loaded(job, catalogue):
                rows = MirrorRows(
                    origin, state, len(plan.files), job.table, options, choose_rows, request.max_files, reporter
                )
                report_load(job, load_rows(job, rows.insert_rows))
    state.remove()


def _hash_plan(plan: Plan) -> str:
    """Return what identifies the rows of a plan: its request and the sums of its files."""
    lines = (f"{file.address}\t{file.checksum}\n" for file in plan.files)
    return hashlib.sha256(f"{plan.request}\n{''.join(lines)}".encode()).hexdigest()
