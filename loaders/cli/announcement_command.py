"""``skyhouse drain``, ``downtime`` and ``note``: what the operator announces. A running service sees it in a second."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from loaders.cli.command_options import Data, read_settings
from loaders.cli.row_table import AsJson, collect_rows, print_rows
from loaders.control.admin_requests import QueryListRequest
from loaders.load_error import LoadError
from tap_service.models.timestamps import format_instant, parse_instant
from tap_service.services.announcements import AnnouncementError, Announcements
from tap_service.storage.site_state import SiteStateUnavailable, open_site_state

downtimes = typer.Typer(help="Announced downtimes.", no_args_is_help=True)
notes = typer.Typer(help="Notes for users, on the portal and the landing page.", no_args_is_help=True)

#: The service reads the announcements every second; after that, nothing new starts
_SETTLING_SECONDS = 2.0
_LOOK_SECONDS = 1.0

_DOWNTIME_COLUMNS = ("downtime", "from", "to", "note")
_NOTE_COLUMNS = ("note", "text")


def drain_service(
    data: Data,
    off: Annotated[bool, typer.Option("--off", help="Accept queries and jobs again.")] = False,
    note: Annotated[str, typer.Option(help="The reason, for users whose requests are rejected.")] = "",
    no_wait: Annotated[bool, typer.Option("--no-wait", help="Do not wait for running work to end.")] = False,
) -> None:
    """Accept no new work, even after a restart, and wait for running work to end. Queued jobs stay queued."""
    with _open_announcements(data) as announcements:
        if off:
            was_draining = announcements.end_drain()
            typer.echo("the service accepts queries and jobs again" if was_draining else "the service was not draining")
            return
        announcements.start_drain(note)
    typer.echo("the service accepts no new work; skyhouse drain --off ends this", err=True)
    if no_wait:
        return
    time.sleep(_SETTLING_SECONDS)
    printed = 0
    while running := collect_rows(data, QueryListRequest()):
        if len(running) != printed:
            printed = len(running)
            typer.echo(f"still running: {printed} (skyhouse queries lists them)", err=True)
        time.sleep(_LOOK_SECONDS)
    typer.echo("nothing is running")


@downtimes.command("add")
def add_downtime(
    data: Data,
    start: Annotated[str, typer.Option("--from", help="Start in UTC, such as 2027-03-01T06:00:00Z.")],
    end: Annotated[str, typer.Option("--to", help="End in UTC.")],
    note: Annotated[str, typer.Option(help="Text for users.")] = "",
) -> None:
    """Announce a downtime: on the portal, the landing page and in /tap/availability. It does not stop the service."""
    with _open_announcements(data) as announcements:
        try:
            begin, finish = parse_instant(start), parse_instant(end)
        except ValueError as error:
            raise AnnouncementError(f"{error}") from error
        typer.echo(announcements.add_downtime(begin, finish, note).downtime_id)


@downtimes.command("list")
def list_downtimes(data: Data, as_json: AsJson = False) -> None:
    """List the announced downtimes."""
    with _open_announcements(data) as announcements:
        rows = [
            {
                "downtime": each.downtime_id,
                "from": format_instant(each.start),
                "to": format_instant(each.end),
                "note": each.note,
            }
            for each in announcements.current.downtimes
        ]
    print_rows(rows, _DOWNTIME_COLUMNS, as_json=as_json)


@downtimes.command("remove")
def remove_downtime(
    downtime: Annotated[
        str, typer.Argument(metavar="DOWNTIME", help="Id of the downtime; see skyhouse downtime list.")
    ],
    data: Data,
) -> None:
    """Cancel an announced downtime."""
    with _open_announcements(data) as announcements:
        announcements.remove_downtime(downtime)
    typer.echo(f"removed the downtime {downtime}")


@notes.command("add")
def add_note(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="Text for users, in quotes.")], data: Data
) -> None:
    """Show a note to users until it is removed."""
    with _open_announcements(data) as announcements:
        typer.echo(announcements.add_note(text).note_id)


@notes.command("list")
def list_notes(data: Data, as_json: AsJson = False) -> None:
    """List the notes."""
    with _open_announcements(data) as announcements:
        rows = [{"note": each.note_id, "text": each.text} for each in announcements.current.notes]
    print_rows(rows, _NOTE_COLUMNS, as_json=as_json)


@notes.command("remove")
def remove_note(
    note: Annotated[str, typer.Argument(metavar="NOTE", help="Id of the note; see skyhouse note list.")], data: Data
) -> None:
    """Remove a note."""
    with _open_announcements(data) as announcements:
        announcements.remove_note(note)
    typer.echo(f"removed the note {note}")


@contextmanager
def _open_announcements(data: Path) -> Iterator[Announcements]:
    """Open the announcements of a deployment; errors are printed in one sentence."""
    try:
        config = read_settings(data.absolute())
        state = open_site_state(config.redis_url, config.jobs_path)
        try:
            yield Announcements(state)
        finally:
            state.close()
    except (AnnouncementError, SiteStateUnavailable, LoadError) as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(1) from error
