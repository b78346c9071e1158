"""Reuse of stored results: a job with REUSE=true gets the result of an identical job."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace

from adql import Translation
from tap_service.constants import VERSION
from tap_service.models.request_parameters import Pair
from tap_service.models.uws_job import Info, Job, JobResult
from tap_service.service_errors import ParameterError
from tap_service.services.queries.prepared_query import PreparedQuery
from tap_service.services.queries.tap_parameters import TapParameters
from tap_service.storage.jobs.job_store import NoSuchJob
from tap_service.storage.open_storage import JobStores
from tap_service.storage.results.result_store import ResultMissing

_TRUE, _FALSE = ("true", "1"), ("false", "0", "")

#: fields of jobInfo that describe the result, and hold for its copy
_RESULT_INFO = ("rowsWritten", "bytesWritten", "rowLimit", "queryStatus", "warning", "checksum")


def parse_reuse(pairs: Sequence[Pair]) -> bool:
    """Return the value of REUSE. Raises ParameterError."""
    given = [value.strip().lower() for name, value in pairs if name.upper() == "REUSE"]
    wrong = [value for value in given if value not in (*_TRUE, *_FALSE)]
    if wrong or len(given) > 1:
        raise ParameterError("REUSE is given once, as true or false: whether the result of an identical query will do")
    return bool(given) and given[0] in _TRUE


def compute_fingerprint(
    job: Job, parameters: TapParameters, query: PreparedQuery, title: str, data_version: Callable[[], int]
) -> str:
    """Return a hash that is the same for two jobs of one owner with the same result; '' if the result may differ."""
    if job.owner is None or parameters.uploads or not _is_deterministic(query.translation):
        return ""
    asked = [parameters.query, parameters.format.mime, query.row_limit.limit, query.translation.portable_sql]
    hashed = [VERSION, title, job.owner, data_version(), *asked]
    return hashlib.sha256(json.dumps(hashed).encode()).hexdigest()


def _is_deterministic(translation: Translation) -> bool:
    """Return whether the same data version gives the same rows. TAP_SCHEMA changes without a new version."""
    own = any(entry.schema.name.upper() == "TAP_SCHEMA" for entry in translation.tables)
    return translation.is_repeatable and not own


class ResultReuse:
    """Finds results of identical jobs in the stores."""

    def __init__(self, stores: JobStores) -> None:
        self._jobs = stores.jobs
        self._results = stores.results

    def reuse_result(self, job: Job, fingerprint: str, *, with_checksum: bool) -> tuple[JobResult, Info] | None:
        """Copy the result of a job with this fingerprint; return it with its jobInfo, or None without such a job."""
        for job_id in self._jobs.find_alike(fingerprint) if fingerprint else ():
            # the job was destroyed just now, or the store fails: then the query runs
            with suppress(NoSuchJob, ResultMissing, OSError):
                first = self._jobs.get_job(job_id)
                if first.result is None or (with_checksum and first.result.provenance is None):
                    continue
                self._results.copy_result(first.result.key, job.result_key)
                with suppress(ResultMissing):
                    self._results.copy_result(first.preview_key, job.preview_key)
                result = replace(first.result, key=job.result_key)
                info = {name: value for name, value in first.info.items() if name in _RESULT_INFO}
                return result, {**info, "resultOf": job_id}
        return None
