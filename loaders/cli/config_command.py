"""``skyhouse config``: prints the settings with their sources, checks them, and prints templates of files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from loaders.cli.command_options import exit_on_errors
from loaders.installation import INSTALLATION_FILES, read_installation_file
from tap_service.settings.settings_file import FILE_VARIABLE

if TYPE_CHECKING:
    from tap_service.config import Config, SettingSources

app = typer.Typer(help="The settings: environment variables and a file.", no_args_is_help=True)

_TEMPLATE = "skyhouse.toml"


@app.command("check")
def check_settings(
    file: Annotated[Path | None, typer.Argument(metavar="[FILE]", help="Default: the settings file in use.")] = None,
) -> None:
    """Check the settings, and the folders, files, port and servers that they name. Run this as the service's user."""
    from loaders.control.service_settings import complete_paths
    from loaders.control.settings_check import find_problems

    if file is not None:
        os.environ[FILE_VARIABLE] = str(file.absolute())
    sources, config = _read_settings()
    errors = find_problems(complete_paths(config, config.data.absolute()))
    for name, reason in errors:
        typer.echo(f"error: {name} ({sources.locate_setting(name)}): {reason}", err=True)
    if errors:
        raise typer.Exit(1)
    typer.echo(f"the settings can be used: {sources.file.path if sources.file else 'no file'} and the environment")


@app.command("show")
def show_settings() -> None:
    """Print each setting with its value and its source. Passwords are masked."""
    from tap_service.settings.settings_file import format_toml_value, mask_secrets

    sources, config = _read_settings()
    lines = [
        (f"{name} = {format_toml_value(mask_secrets(name, getattr(config, name)))}", sources.locate_setting(name))
        for name in type(config).model_fields
    ]
    width = min(48, max(len(line) for line, _ in lines))
    for line, where in lines:
        typer.echo(f"{line:{width}}  # {where}")


@app.command("template")
def print_template(
    name: Annotated[str, typer.Argument(metavar="[NAME]", help=f"{_TEMPLATE}, {', '.join(INSTALLATION_FILES)}.")] = (
        _TEMPLATE
    ),
) -> None:
    """Print a settings file with all settings and their defaults to edit, or another file of an installation."""
    from loaders.installation.settings_template import write_template

    if name not in (_TEMPLATE, *INSTALLATION_FILES):
        raise typer.BadParameter(f"there is no file {name}; there are {_TEMPLATE}, {', '.join(INSTALLATION_FILES)}")
    typer.echo(write_template() if name == _TEMPLATE else read_installation_file(name), nl=False)


def _read_settings() -> tuple[SettingSources, Config]:
    """Read the settings and print a line about each variable that is ignored; exit if a setting is invalid."""
    from tap_service.config import build_config, read_sources

    with exit_on_errors():
        sources = read_sources()
        for sentence in sources.find_ignored():
            typer.echo(f"warning: {sentence}", err=True)
        return sources, build_config(sources)
