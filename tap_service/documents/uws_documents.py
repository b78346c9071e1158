"""The documents of UWS 1.1: a job, a job list, results and parameters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import islice

from tap_service.models.timestamps import format_instant
from tap_service.models.uws_job import ExecutionPhase, Job, JobReference
from tap_service.models.work_class import WorkClass
from tap_service.xml_text import DECLARATION, Markup, element, join_lines, start_tag, tag

_NAMESPACES = {
    "xmlns:uws": "http://www.ivoa.net/xml/UWS/v1.0",
    "xmlns:xlink": "http://www.w3.org/1999/xlink",
    "xmlns:xsi": "http://www.w3.org/2001/XMLSchema-instance",
}
_VERSION = {"version": "1.1"}

#: number of entries of a job list that are written together
JOBS_AT_ONCE = 500


def job_document(job: Job, url: str) -> bytes:
    """Return the document of a job (UWS 1.1).

    Parameters
    ----------
    job : Job
        The job.
    url : str
        The URL of the job, without a slash at its end.
    """
    error = job.error
    return _root_document(
        "uws:job",
        _VERSION,
        join_lines(
            element("uws:jobId", job.job_id),
            element("uws:runId", job.run_id) if job.run_id else "",
            _nillable_element("uws:ownerId", job.owner),
            element("uws:phase", job.phase),
            _instant_element("uws:quote", job.quote),
            _instant_element("uws:creationTime", job.creation_time),
            _instant_element("uws:startTime", job.start_time),
            _instant_element("uws:endTime", job.end_time),
            element("uws:executionDuration", str(job.execution_duration)),
            _instant_element("uws:destruction", job.destruction_time),
            _parameters_element({}, job),
            _results_element({}, job, url),
            tag(
                "uws:errorSummary",
                {"type": "transient" if error.transient else "fatal", "hasDetail": "true"},
                element("uws:message", error.message),
            )
            if error
            else "",
            _info_element(job),
        ),
    )


def job_list(references: Iterable[JobReference], url: str) -> Iterator[bytes]:
    """Yield the job list in pieces of up to 500 jobs.

    Parameters
    ----------
    references : Iterable[JobReference]
        The jobs, which are read on demand.
    url : str
        The URL of the list, without a slash at its end.

    Yields
    ------
    bytes
        The document, in pieces that end at line ends.
    """
    yield (DECLARATION + start_tag("uws:jobs", _NAMESPACES | _VERSION) + "\n").encode()
    rest = iter(references)
    while some := list(islice(rest, JOBS_AT_ONCE)):
        yield "".join(f"{_reference_element(each, url)}\n" for each in some).encode()
    yield b"</uws:jobs>\n"


def results_document(job: Job, url: str) -> bytes:
    """Return the document of the results of a job, without results unless the job is COMPLETED.

    Parameters
    ----------
    job : Job
        The job.
    url : str
        The URL of the job, without a slash at its end.
    """
    return (DECLARATION + _results_element(_NAMESPACES, job, url) + "\n").encode()


def parameters_document(job: Job) -> bytes:
    """Return the document of the parameters of a job."""
    return (DECLARATION + _parameters_element(_NAMESPACES, job) + "\n").encode()


def _root_document(name: str, attributes: dict[str, str], children: Markup) -> bytes:
    return (DECLARATION + tag(name, _NAMESPACES | attributes, children) + "\n").encode()


def _reference_element(job: JobReference, url: str) -> Markup:
    return tag(
        "uws:jobref",
        {"id": job.job_id, "xlink:type": "simple", "xlink:href": f"{url}/{job.job_id}"},
        element("uws:phase", job.phase),
        element("uws:runId", job.run_id) if job.run_id else Markup(""),
        _nillable_element("uws:ownerId", job.owner),
        _instant_element("uws:creationTime", job.creation_time),
    )


def _parameters_element(namespaces: dict[str, str], job: Job) -> Markup:
    return tag(
        "uws:parameters",
        namespaces,
        *(tag("uws:parameter", {"id": name}, value) for name, value in job.parameters),
    )


def _results_element(namespaces: dict[str, str], job: Job, url: str) -> Markup:
    """List the result of a COMPLETED job, which TAP 1.1 calls ``result``, and the folder of a HATS collection."""
    if (result := job.result) is None:
        return tag("uws:results", namespaces)
    link = {"xlink:type": "simple", "xlink:href": f"{url}/results/result"}
    about = {"size": str(result.size), "mime-type": result.content_type}
    found = [tag("uws:result", {"id": "result", **link, **about})]
    if result.is_collection:
        folder = {"xlink:type": "simple", "xlink:href": f"{url}/results/hats/", "mime-type": "text/html"}
        found.append(tag("uws:result", {"id": "hats", **folder}))
    return tag("uws:results", namespaces, *found)


def collect_job_info(job: Job) -> dict[str, str | int | float]:
    """Return the members of a job's jobInfo: the user's note, the estimate, and the reports of the worker."""
    info: dict[str, str | int | float] = {"note": job.note} if job.note else {}
    if (foreseen := job.foreseen) is not None:
        info |= {
            "workClass": WorkClass.from_seconds(foreseen.seconds),
            "rowsForeseen": foreseen.rows,
            "bytesForeseen": foreseen.bytes,
            "secondsForeseen": round(foreseen.seconds, 3),
        }
        if (result := foreseen.result) is not None:
            info |= {"resultRowsForeseen": result.rows, "resultRowsPrecision": result.precision}
        if foreseen.warning and job.info.get("queryStatus") != "OK":
            info["warning"] = foreseen.warning
    info |= job.info
    if job.wait is not None and job.phase is ExecutionPhase.QUEUED:
        info["waiting"] = job.wait.reason
    return info


def _info_element(job: Job) -> Markup:
    """Return a jobInfo with one child without a namespace.

    Clients of CADC cannot read several children, and taplint warns of a namespace.
    """
    if not (info := collect_job_info(job)):
        return Markup("")
    work = join_lines(*(element(name, str(value)) for name, value in info.items()))
    return element("uws:jobInfo", element("work", work))


def _instant_element(name: str, instant: datetime | None) -> Markup:
    return _nillable_element(name, None if instant is None else format_instant(instant))


def _nillable_element(name: str, value: str | None) -> Markup:
    return tag(name, {"xsi:nil": "true"}) if value is None else element(name, value)
