"""Previews: the first rows of a running job, served at /tap/async/{job}/preview as an extension of UWS."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pyarrow as pa

from adql import Translation
from clickhouse_schema.datatypes import Field
from tap_service.constants import PREVIEW_ROWS
from tap_service.models.uws_job import Job
from tap_service.serializers import ResultInfo, Status, find_format
from tap_service.services.jobs.job_monitor import JobMonitor
from tap_service.services.jobs.job_progress import JobProgress
from tap_service.storage.results.result_store import ResultStore

#: bytes; a query that reads less ends before anybody sees its progress, and asking for it costs more than the query
_MIN_MEASURED_BYTES = 10_000_000

#: the formats of previews, independent of the result's; the first one is the default
PREVIEW_FORMATS = (find_format("votable/td"), find_format("json"))

_PREVIEW_STATUS = Status("OVERFLOW", "These are the first rows that the job has given: a preview, and not its result.")


def build_preview(fields: Sequence[Field], query: str, service: str, batch: pa.RecordBatch) -> bytes:
    """Return the file of a preview: the first rows of ``batch``, the query's first batch, in all formats."""
    info = ResultInfo(query, service, PREVIEW_ROWS)
    documents = {}
    for each in PREVIEW_FORMATS:
        serializer = each.serializer(fields, info)
        rows = serializer.write_rows(batch.slice(0, PREVIEW_ROWS))
        whole = b"".join((serializer.write_header(), rows, *serializer.write_footer(_PREVIEW_STATUS)))
        documents[each.mime] = whole.decode()
    return json.dumps(documents).encode()


class PreviewWriter:
    """Implements ``RunObserver``: stores the preview of a job at its first rows.

    It also asks for the progress of the job, unless the query reads little: a short query ends before the monitor asks.
    """

    def __init__(
        self,
        monitor: JobMonitor,
        results: ResultStore,
        job: Job,
        progress: JobProgress,
        translation: Translation,
        query: str,
        service: str,
    ) -> None:
        self._monitor = monitor
        self._results = results
        self._job = job
        self._progress = progress
        self._translation = translation
        self._query = query
        self._service = service

    def note_first_rows(self, batch: pa.RecordBatch) -> None:
        foreseen = self._job.foreseen
        if foreseen is None or foreseen.bytes >= _MIN_MEASURED_BYTES:
            self._monitor.update_progress({self._job.query_id: self._progress})
        store_preview(self._results, self._job, self._translation.fields, self._query, self._service, batch)

    def note_rows(self, batch: pa.RecordBatch) -> None:
        """Do nothing: a preview contains only the first rows."""


def store_preview(
    results: ResultStore, job: Job, fields: Sequence[Field], query: str, service: str, batch: pa.RecordBatch
) -> None:
    """Store the preview of a job. Raises OSError."""
    writer = results.create_result(job.preview_key, is_durable=False)
    try:
        writer.write(build_preview(fields, query, service, batch))
        writer.commit()
    finally:
        writer.discard()


def read_preview(file: bytes, mime: str) -> bytes:
    """Return a document of a preview.

    Parameters
    ----------
    file : bytes
        The stored file of the preview.
    mime : str
        The media type of one of PREVIEW_FORMATS; another type raises KeyError.
    """
    document: str = json.loads(file)[mime]
    return document.encode()
