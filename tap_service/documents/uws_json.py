"""Jobs in JSON; members have the names of the elements of UWS 1.1."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import islice

from pydantic import Field

from tap_service.documents.uws_documents import JOBS_AT_ONCE, collect_job_info
from tap_service.models.json_document import Instant, JsonDocument
from tap_service.models.query_errors import QueryError
from tap_service.models.uws_job import ExecutionPhase, Job, JobError, JobReference


class JobParameter(JsonDocument):
    """A parameter of a job; UPLOAD may occur several times."""

    id: str
    value: str


class JobResultLink(JsonDocument):
    """A result; ``size`` is in bytes."""

    id: str
    href: str
    size: int
    mime_type: str


class JobParameters(JsonDocument):
    """The parameters of a job."""

    parameters: list[JobParameter]


class JobResults(JsonDocument):
    """The result of a COMPLETED job, which TAP 1.1 calls ``result``; empty for other jobs."""

    results: list[JobResultLink]


class ErrorSummary(JsonDocument):
    """The error of a job: its type is ``transient`` if the job may succeed later, otherwise ``fatal``."""

    type: str
    message: str
    errors: list[QueryError]


class JobDocument(JsonDocument):
    """A job. Instants and the owner are null if they are xsi:nil in UWS; ``executionDuration`` is in seconds."""

    job_id: str
    href: str
    run_id: str
    owner_id: str | None
    phase: ExecutionPhase
    quote: Instant | None
    creation_time: Instant
    start_time: Instant | None
    end_time: Instant | None
    execution_duration: int
    destruction: Instant
    parameters: list[JobParameter]
    results: list[JobResultLink]
    error_summary: ErrorSummary | None
    job_info: dict[str, str | int | float] = Field(description="Estimates and progress, as in docs/async.md")


class JobListEntry(JsonDocument):
    """A job in a list."""

    job_id: str
    href: str
    phase: ExecutionPhase
    run_id: str
    owner_id: str | None
    creation_time: Instant


class JobList(JsonDocument):
    """A list of jobs."""

    jobs: list[JobListEntry]


def describe_job(job: Job, url: str) -> JobDocument:
    """Return the document of a job.

    Parameters
    ----------
    job : Job
        The job.
    url : str
        The URL of the job, without a slash at its end.
    """
    return JobDocument(
        job_id=job.job_id,
        href=url,
        run_id=job.run_id,
        owner_id=job.owner,
        phase=job.phase,
        quote=job.quote,
        creation_time=job.creation_time,
        start_time=job.start_time,
        end_time=job.end_time,
        execution_duration=job.execution_duration,
        destruction=job.destruction_time,
        parameters=describe_parameters(job).parameters,
        results=describe_results(job, url).results,
        error_summary=describe_error(job.error) if job.error else None,
        job_info=collect_job_info(job),
    )


def describe_error(error: JobError) -> ErrorSummary:
    """Return the document of a job's error."""
    kind = "transient" if error.transient else "fatal"
    return ErrorSummary(type=kind, message=error.message, errors=list(error.errors))


def describe_parameters(job: Job) -> JobParameters:
    """Return the document of a job's parameters."""
    return JobParameters(parameters=[JobParameter(id=name, value=value) for name, value in job.parameters])


def describe_results(job: Job, url: str) -> JobResults:
    """Return the document of a job's results.

    Parameters
    ----------
    job : Job
        The job.
    url : str
        The URL of the job, without a slash at its end.

    Returns
    -------
    JobResults
        The result and, for a HATS collection, its folder; empty if there is no stored result.
    """
    if (result := job.result) is None:
        return JobResults(results=[])
    href = f"{url}/results/result"
    found = [JobResultLink(id="result", href=href, size=result.size, mime_type=result.content_type)]
    if result.is_collection:
        found.append(JobResultLink(id="hats", href=f"{url}/results/hats/", size=result.size, mime_type="text/html"))
    return JobResults(results=found)


def job_list_as_json(references: Iterable[JobReference], url: str) -> Iterator[bytes]:
    """Yield the JSON of a ``JobList`` in pieces of up to 500 jobs.

    Parameters
    ----------
    references : Iterable[JobReference]
        The jobs, which are read on demand.
    url : str
        The URL of the list, without a slash at its end.

    Yields
    ------
    bytes
        Pieces of the document.
    """
    yield b'{"jobs":['
    rest, comma = iter(references), ""
    while some := list(islice(rest, JOBS_AT_ONCE)):
        entries = ",\n".join(json.dumps(_describe_reference(each, url).to_json()) for each in some)
        yield f"{comma}{entries}".encode()
        comma = ",\n"
    yield b"]}"


def _describe_reference(job: JobReference, url: str) -> JobListEntry:
    return JobListEntry(
        job_id=job.job_id,
        href=f"{url}/{job.job_id}",
        phase=job.phase,
        run_id=job.run_id,
        owner_id=job.owner,
        creation_time=job.creation_time,
    )
