"""``skyhouse mirror``: a table whose rows are fetched from their origin."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, NoReturn

import typer

from loaders.cli.command_options import Data, execute_and_exit, split_names
from loaders.cli.table_command import MaxErrors, Rejects, choose_rejects
from loaders.control.command_outcome import EXIT_FAILED
from loaders.load_error import LoadError
from loaders.mirror.mirror_request import MirrorRequest
from loaders.mirror.recipe_files import find_recipe_file, list_recipe_names, read_key
from loaders.pipeline.load_request import LoadRequest

_TAP, _HATS = "tap+", "hats://"


def mirror_origin(
    recipe: Annotated[
        str,
        typer.Argument(
            metavar="RECIPE",
            help="Recipe file, or name of a shipped recipe (skyhouse mirror list); TAP service (tap+https://host/tap);"
            " or HATS catalogue (hats://host/folder).",
        ),
    ],
    data: Data,
    table: Annotated[
        str,
        typer.Option(metavar="SCHEMA.TABLE", help="Table for the rows; for a TAP service, the table of the service."),
    ] = "",
    name: Annotated[
        str, typer.Option("--as", metavar="SCHEMA.TABLE", help="Local name for the table of a TAP service.")
    ] = "",
    columns: Annotated[str, typer.Option(metavar="NAME,...", help="Columns to keep; default: all.")] = "",
    where: Annotated[str, typer.Option(metavar="CONDITION", help="Rows to keep: a condition in ADQL.")] = "",
    by: Annotated[
        str, typer.Option(metavar="COLUMN", help="Query a TAP service by ranges of this column; default: by position.")
    ] = "",
    piece_rows: Annotated[
        int, typer.Option(help="Maximum number of rows per query of a TAP service.", min=1)
    ] = 500_000,
    max_files: Annotated[int, typer.Option(help="Maximum number of fetched files on disk.", min=1, max=100)] = 3,
    publish_as_you_go: Annotated[
        bool, typer.Option("--publish-as-you-go", help="Publish the rows of each file as soon as it is loaded.")
    ] = False,
    work: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder for fetched files; default: mirrors in the data directory."),
    ] = None,
    max_errors: MaxErrors = 100,
    rejects: Rejects = None,
    replace: Annotated[bool, typer.Option("--replace", help="Replace the table if it exists.")] = False,
    restart: Annotated[bool, typer.Option("--restart", help="Discard the progress of a stopped mirror.")] = False,
) -> None:
    """Fetch and load the files of a catalogue one by one. Start a stopped mirror again to continue it."""
    if recipe == "list":
        _list_recipes()
    if name and not recipe.startswith(_TAP):
        raise typer.BadParameter("--as is for TAP services: name the table with --table")
    if not recipe.startswith((_TAP, _HATS)):
        recipe = _find_recipe(recipe)
        table = table or read_key(Path(recipe), "table")
    elif not table:
        raise typer.BadParameter("a TAP service and a HATS catalogue need --table")
    local = name or table
    if recipe.startswith(_HATS):
        given = {"columns": columns, "where": where, "by": by, "publish-as-you-go": publish_as_you_go, "work": work}
        _refuse_options_of_files({**given, "restart": restart})
        _load_catalogue(data, recipe, local, rejects, max_errors, "replace" if replace else "create")
    request = MirrorRequest(
        recipe=recipe,
        table=local,
        work=(work or data / "mirrors" / local).absolute(),
        rejects=choose_rejects(rejects, local),
        origin_table=table if recipe.startswith(_TAP) else "",
        by=by,
        piece_rows=piece_rows,
        columns=split_names(columns),
        where=where,
        mode="replace" if replace else "create",
        max_files=max_files,
        publishes_early=publish_as_you_go,
        restarts=restart,
        max_errors=max_errors,
    )
    execute_and_exit(data, request)


def _load_catalogue(
    data: Path, address: str, table: str, rejects: Path | None, max_errors: int, mode: Literal["create", "replace"]
) -> NoReturn:
    request = LoadRequest(
        files=(address,), table=table, rejects=choose_rejects(rejects, table), max_errors=max_errors, mode=mode
    )
    execute_and_exit(data, request)


def _refuse_options_of_files(given: dict[str, object]) -> None:
    if names := [f"--{option}" for option, value in given.items() if value]:
        raise typer.BadParameter(f"a HATS catalogue is loaded completely, without {', '.join(names)}")


def _find_recipe(recipe: str) -> str:
    try:
        return str(find_recipe_file(recipe))
    except LoadError as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(EXIT_FAILED) from error


def _list_recipes() -> NoReturn:
    for name in list_recipe_names():
        path = find_recipe_file(name)
        draft = " (draft)" if read_key(path, "status") else ""
        typer.echo(f"{name}: {read_key(path, 'title')}{draft}")
    raise typer.Exit
