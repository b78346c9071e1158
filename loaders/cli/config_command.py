"""``skyhouse config``: the settings, where each one comes from, whether they work, and a file to begin with."""

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
    file: Annotated[Path | None, typer.Argument(metavar="[FILE]", help="Default: the file that is in use.")] = None,
) -> None:
    """Check settings and what they name: folders, files, port, servers. Run it as the user of the service."""
    from loaders.control.service_settings import place_paths
    from loaders.control.settings_check import find_problems

    if file is not None:
        os.environ[FILE_VARIABLE] = str(file.absolute())
    sources, config = _read_settings()
    errors = find_problems(place_paths(config, config.data.absolute()))
    for name, reason in errors:
        typer.echo(f"error: {name} ({sources.locate_setting(name)}): {reason}", err=True)
    if errors:
        raise typer.Exit(1)
    typer.echo(f"the settings can be used: {sources.file.path if sources.file else 'no file'} and the environment")


@app.command("show")
def show_settings() -> None:
    """Print each setting, its value, and where that comes from. Passwords are masked."""
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
    """Print a file of settings to edit, with all of them and their defaults; or another file of an installation."""
    from loaders.installation.settings_template import write_template

    if name not in (_TEMPLATE, *INSTALLATION_FILES):
        raise typer.BadParameter(f"there is no file {name}; there are {_TEMPLATE}, {', '.join(INSTALLATION_FILES)}")
    typer.echo(write_template() if name == _TEMPLATE else read_installation_file(name), nl=False)


def _read_settings() -> tuple[SettingSources, Config]:
    """Read the settings and print a line about each variable that is ignored; exit if they have faults."""
    from tap_service.config import build_config, read_sources

    with exit_on_errors():
        sources = read_sources()
        for sentence in sources.find_ignored():
            typer.echo(f"warning: {sentence}", err=True)
        return sources, build_config(sources)
