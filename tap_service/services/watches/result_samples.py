"""The first rows of a job's result, for messages about watches."""

from __future__ import annotations

import json

from tap_service.models.uws_job import Job
from tap_service.service_errors import ServiceError
from tap_service.services.jobs.job_service import JobService
from tap_service.services.jobs.preview_writer import read_preview

_MAX_ROWS = 10
_MAX_CHARACTERS = 16_384


def read_sample(jobs: JobService, job: Job) -> str:
    """Return the names of the columns and the first rows of a result.

    Parameters
    ----------
    jobs : JobService
        Reads the preview of the job.
    job : Job
        The job.

    Returns
    -------
    str
        A JSON object without the rows that would make it too long; '' if the preview was deleted.
    """
    try:
        preview = json.loads(read_preview(jobs.read_preview(job), "application/json"))
    except ServiceError:
        return ""
    names = [column["name"] for column in preview["columns"]]
    rows = preview["data"][:_MAX_ROWS]
    while len(text := json.dumps({"columns": names, "rows": rows}, ensure_ascii=False)) > _MAX_CHARACTERS and rows:
        rows.pop()
    return text
