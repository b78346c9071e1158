"""``skyhouse serve`` and ``skyhouse demo``: the service, which is imported when it starts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from loaders.cli.command_options import Data, read_config_or_exit
from loaders.cli.console_reporter import ConsoleReporter

Host = Annotated[
    str,
    typer.Option(
        help="Address to listen on; 0.0.0.0 for all interfaces.",
        default_factory=lambda: read_config_or_exit().host,
        show_default="the setting host, else 127.0.0.1",
    ),
]
Port = Annotated[
    int,
    typer.Option(
        help="Port to listen on.",
        min=1,
        max=65535,
        default_factory=lambda: read_config_or_exit().port,
        show_default="the setting port, else 8000",
    ),
]
Processes = Annotated[
    int,
    typer.Option(
        help="Number of processes; more than one needs ClickHouse servers and Redis.",
        min=1,
        default_factory=lambda: read_config_or_exit().processes,
        show_default="the setting processes, else 1",
    ),
]


def serve_tables(data: Data, host: Host, port: Port, processes: Processes) -> None:
    """Serve the tables over TAP until Ctrl-C."""
    _serve_and_exit(data, host, port, processes=processes)


def serve_demo(data: Data, host: Host, port: Port) -> None:
    """Load the bright stars of Tycho-2 and OpenNGC, then serve them."""
    _serve_and_exit(data, host, port, demo=True)


def _serve_and_exit(data: Path, host: str, port: int, *, demo: bool = False, processes: int = 1) -> None:
    from loaders.cli import serve_command

    with ConsoleReporter() as reporter:
        raise typer.Exit(
            serve_command.run_service(data.absolute(), host, port, reporter, demo=demo, processes=processes)
        )
