"""``skyhouse registry``: the metadata file for the records of the service in the IVOA's registry."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from loaders.cli.command_options import Data, execute_and_exit
from loaders.cli.console_reporter import ConsoleReporter
from loaders.control.command_outcome import EXIT_FAILED
from loaders.control.table_requests import RegistryRequest

app = typer.Typer(help="Records for the IVOA registry (docs/registry.md).", no_args_is_help=True)


@app.callback()
def registry() -> None:
    """Records for the IVOA registry (docs/registry.md)."""


@app.command("check")
def check_file(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The YAML file of SKYHOUSE_REGISTRY.")],
    data: Data,
    xml: Annotated[bool, typer.Option("--xml", help="Print the complete records.")] = False,
) -> None:
    """Report the problems of a file with their lines or, if there are none, list the records to be published."""
    from tap_service.services.registry.registry_file import RegistryFileError, read_registry_file

    with ConsoleReporter() as reporter:
        try:
            read_registry_file(file)
        except RegistryFileError as error:
            reporter.message(f"error: {error}")
            raise typer.Exit(EXIT_FAILED) from error
    request = RegistryRequest(
        text=file.read_text(encoding="utf-8-sig"), source=str(file), data_path=data.absolute(), as_xml=xml
    )
    execute_and_exit(data, request)
