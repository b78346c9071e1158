"""The plan of a mirror: its files or pieces and its schema, made once and kept until the mirror is complete."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from clickhouse_schema.schema_model import Schema
from loaders.load_error import LoadError
from loaders.mirror.file_list import OriginFile, list_origin_files
from loaders.mirror.mirror_origin import FileMirrorOrigin, MirrorOrigin
from loaders.mirror.mirror_request import MirrorRequest
from loaders.mirror.mirror_state import MirrorState, Plan, PlannedFile
from loaders.mirror.recipe import Recipe, RowOrigin, parse_recipe
from loaders.mirror.recipe_schema import keep_columns, plan_schema
from loaders.mirror.row_filter import check_row_condition
from loaders.mirror.tap_origin import TapMirrorOrigin, plan_pieces
from loaders.mirror.tap_table import TapTable
from loaders.origin.origin_client import OriginClient
from loaders.origin.tap_address import TAP_PREFIX
from loaders.progress_reporter import Reporter


@dataclass(frozen=True, slots=True)
class MirrorTask:
    """A mirror with what its steps need. ``content``: identifies the recipe; ``folder``: the recipe's folder."""

    request: MirrorRequest
    recipe: Recipe
    content: str
    folder: Path
    state: MirrorState
    client: OriginClient
    reporter: Reporter

    @property
    def digest(self) -> str:
        return self.request.compute_digest(self.content)


def read_task(request: MirrorRequest, client: OriginClient, reporter: Reporter) -> MirrorTask:
    """Read the recipe, or make a recipe for a TAP service. Raises ``LoadError``."""
    state = MirrorState(request.work)
    if request.recipe.startswith(TAP_PREFIX):
        address = request.recipe.removeprefix(TAP_PREFIX)
        origin = RowOrigin(tap=address, table=request.origin_table, by=request.by)
        recipe = Recipe(name=request.table, table=request.table, origin=origin)
        return MirrorTask(request, recipe, request.recipe, Path(), state, client, reporter)
    path = Path(request.recipe)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise LoadError(f"{path} cannot be read: {getattr(error, 'strerror', None) or 'it is not UTF-8'}") from error
    recipe = parse_recipe(text, str(path))
    if request.by and not recipe.origin.tap:
        raise LoadError(f"--by is for TAP services: the rows of {recipe.name} are in files")
    return MirrorTask(request, recipe, text, path.parent, state, client, reporter)


def find_plan(task: MirrorTask) -> Plan | None:
    """Return the plan of the stopped mirror; None without one. Raises ``LoadError`` if it belongs to another mirror."""
    plan = None if task.request.restarts else task.state.read_plan()
    if plan is not None and plan.request != task.digest:
        raise LoadError(
            f"a mirror of {plan.name} was started in {task.state.folder} with another recipe or other options: use the"
            " same ones to continue it, start again with --restart, or name another folder with --work"
        )
    return plan


def make_plan(task: MirrorTask) -> Plan:
    """Make and store the plan. Raises ``LoadError`` if the mirror is impossible."""
    recipe = task.recipe
    if recipe.status == "draft":
        raise LoadError(f"{recipe.name} is a draft: complete it, and remove its status. {' '.join(recipe.notes)}")
    for note in recipe.notes:
        task.reporter.message(f"note: {note}")
    files, schema_yaml = _plan_table(task) if recipe.origin.tap else _plan_files(task)
    if not files:
        raise LoadError(f"{recipe.name} has no rows")
    origin = recipe.origin
    address = origin.tap or origin.checksums or (origin.files or origin.pages)[0]
    has_sums = not origin.tap and all(file.checksum for file in files)
    token = secrets.token_hex(8) if task.request.mode == "replace" and not has_sums else ""
    name = f"{recipe.name} of {address}"
    plan = Plan(request=task.digest, name=name, files=tuple(files), schema_yaml=schema_yaml, token=token)
    task.state.write_plan(plan)
    return plan


def _plan_files(task: MirrorTask) -> tuple[list[PlannedFile], str]:
    files = list_origin_files(task.recipe.origin, task.client)
    task.reporter.message(f"{task.recipe.name}: {len(files):,} files, the first is {files[0].address}")
    task.state.clear()
    first = FileMirrorOrigin(task.client, files, task.state.files)
    _, schema_yaml = _plan_schema(task, lambda: first.fetch(0, task.reporter.check).paths[0])
    return [PlannedFile(address=file.address, checksum=file.checksum) for file in files], schema_yaml


def _plan_table(task: MirrorTask) -> tuple[list[PlannedFile], str]:
    request, folder = task.request, task.state.files
    if request.restarts or not folder.exists():  # counts of a stopped run are kept
        task.state.clear()
    table = open_table(task)
    path = folder / "first.vot"

    def fetch_first() -> Path:
        table.fetch_rows(f"SELECT TOP 1 * FROM {table.table_adql}", 1, path)
        return path

    schema, schema_yaml = _plan_schema(task, fetch_first)
    path.unlink(missing_ok=True)
    by = request.by or task.recipe.origin.by
    pieces = plan_pieces(table, schema.tables[0], by, request.where, request.piece_rows, folder, task.reporter)
    return pieces, schema_yaml


def _plan_schema(task: MirrorTask, fetch_first: Callable[[], Path]) -> tuple[Schema, str]:
    table = task.request.table
    schema, schema_yaml = plan_schema(task.recipe, task.folder, table, task.client, fetch_first, task.reporter)
    choose_schema(schema, task)
    return schema, schema_yaml


def choose_schema(schema: Schema, task: MirrorTask) -> Schema:
    """Return the schema with the wanted columns. Raises ``LoadError`` if the options do not fit it."""
    check_row_condition(schema, task.request.where)
    condition = "" if task.recipe.origin.tap else task.request.where
    return keep_columns(schema, task.request.columns, condition, task.reporter)


def open_table(task: MirrorTask) -> TapTable:
    origin = task.recipe.origin
    return TapTable(task.client, origin.tap, origin.table, task.reporter.check)


def open_origin(task: MirrorTask, plan: Plan, schema: Schema) -> MirrorOrigin:
    """Return the origin of the pieces of a plan; ``schema``: has the wanted columns."""
    if task.recipe.origin.tap:
        columns = [column.name for column in schema.tables[0].columns]
        return TapMirrorOrigin(open_table(task), plan.files, columns, task.request.where, task.state.files)
    files = [OriginFile(file.address, file.checksum) for file in plan.files]
    return FileMirrorOrigin(task.client, files, task.state.files)
