"""UWS 1.1: a job, a list of jobs, its results and its parameters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import islice

from tap_service.models.timestamps import format_instant
from tap_service.models.uws_job import Job, JobReference
from tap_service.models.work_class import WorkClass
from tap_service.xml_text import DECLARATION, Markup, element, join_lines, start_tag, tag

_NAMESPACES = {
    "xmlns:uws": "http://www.ivoa.net/xml/UWS/v1.0",
    "xmlns:xlink": "http://www.w3.org/1999/xlink",
    "xmlns:xsi": "http://www.w3.org/2001/XMLSchema-instance",
}
_VERSION = {"version": "1.1"}

_AT_ONCE = 500


def job_document(job: Job, url: str) -> bytes:
    """``url`` is the job's own address."""
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
    """The list in pieces; ``url`` is the list's own address."""
    yield (DECLARATION + start_tag("uws:jobs", _NAMESPACES | _VERSION) + "\n").encode()
    rest = iter(references)
    while some := list(islice(rest, _AT_ONCE)):
        yield "".join(f"{_reference_element(each, url)}\n" for each in some).encode()
    yield b"</uws:jobs>\n"


def results_document(job: Job, url: str) -> bytes:
    return (DECLARATION + _results_element(_NAMESPACES, job, url) + "\n").encode()


def parameters_document(job: Job) -> bytes:
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
    """Of a COMPLETED job, ``result``, which TAP 1.1 names so."""
    found = job.result
    if found is None:
        return tag("uws:results", namespaces)
    said = {"xlink:type": "simple", "xlink:href": f"{url}/results/result"}
    size = {"size": str(found.size), "mime-type": found.content_type}
    return tag("uws:results", namespaces, tag("uws:result", {"id": "result", **said, **size}))


def _info_element(job: Job) -> Markup:
    """What was foreseen when the job was queued, and what its worker tells.

    In one element, for CADC's clients read no jobInfo with several; without a namespace, since taplint warns of others.
    """
    told: dict[str, str | int | float] = {}
    if (foreseen := job.foreseen) is not None:
        told = {
            "workClass": WorkClass.from_seconds(foreseen.seconds),
            "rowsForeseen": foreseen.rows,
            "bytesForeseen": foreseen.bytes,
            "secondsForeseen": round(foreseen.seconds, 3),
        }
        if (result := foreseen.result) is not None:
            told |= {"resultRowsForeseen": result.rows, "resultRowsPrecision": result.precision}
        if foreseen.warning and job.info.get("queryStatus") != "OK":
            told["warning"] = foreseen.warning
    told |= job.info
    if not told:
        return Markup("")
    work = join_lines(*(element(name, str(value)) for name, value in told.items()))
    return element("uws:jobInfo", element("work", work))


def _instant_element(name: str, instant: datetime | None) -> Markup:
    return _nillable_element(name, None if instant is None else format_instant(instant))


def _nillable_element(name: str, value: str | None) -> Markup:
    return tag(name, {"xsi:nil": "true"}) if value is None else element(name, value)
