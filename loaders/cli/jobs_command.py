"""``skyhouse jobs``: the jobs of all users."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

import typer

from loaders.cli.command_options import Data
from loaders.cli.row_table import AsJson, collect_rows, print_and_exit, print_fields, print_rows
from loaders.control.admin_requests import JobListRequest, JobRequest, JobsRequest
from tap_service.models.client import ANONYMOUS
from tap_service.models.timestamps import now
from tap_service.models.uws_job import ExecutionPhase

app = typer.Typer(help="The jobs of all users.", no_args_is_help=True)

_COLUMNS = ("job", "phase", "client", "created", "started", "ended", "class", "query")

JobId = Annotated[str, typer.Argument(metavar="JOB", help="Id of the job, the last part of its URL.")]
JobIds = Annotated[list[str], typer.Argument(metavar="JOB...", help="Ids of jobs.")]


@app.command("list")
def list_jobs(
    data: Data,
    phase: Annotated[
        list[ExecutionPhase] | None,
        typer.Option(help="Only jobs in this phase; may be repeated.", case_sensitive=False),
    ] = None,
    user: Annotated[str, typer.Option(help=f"Only jobs of this user; {ANONYMOUS} for anonymous jobs.")] = "",
    older_than: Annotated[
        float | None, typer.Option(metavar="DAYS", help="Only jobs created more than this many days ago.", min=0)
    ] = None,
    last: Annotated[int, typer.Option(help="Maximum number of jobs to list.", min=1)] = 100,
    as_json: AsJson = False,
) -> None:
    """List jobs, newest first."""
    before = None if older_than is None else now() - timedelta(days=older_than)
    request = JobListRequest(phases=frozenset(phase or ()), user=user, before=before, last=last)
    print_and_exit(data, request, _COLUMNS, as_json=as_json)


@app.command("show")
def show_job(job: JobId, data: Data, as_json: AsJson = False) -> None:
    """Show all information about a job."""
    rows = collect_rows(data, JobRequest(job=job))
    if as_json:
        print_rows(rows, (), as_json=True)
    else:
        print_fields(rows[0])


@app.command("stop")
def stop_jobs(jobs: JobIds, data: Data) -> None:
    """Abort jobs that have not ended; their error messages say that the operator stopped them."""
    print_and_exit(data, JobsRequest(command="jobs stop", jobs=tuple(jobs)))


@app.command("delete")
def delete_jobs(jobs: JobIds, data: Data) -> None:
    """Delete jobs with their results."""
    print_and_exit(data, JobsRequest(command="jobs delete", jobs=tuple(jobs)))
