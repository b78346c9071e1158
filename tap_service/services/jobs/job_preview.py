"""The first rows of a job, kept as soon as the engine gives some: an extension of UWS, at /tap/async/{job}/preview."""

from __future__ import annotations

import pyarrow as pa

from adql import Translation
from tap_service.constants import PREVIEW_ROWS
from tap_service.serializers import ResultInfo, Status, find_format

#: of the document, whatever the format of the result
PREVIEW_FORMAT = find_format("votable/td")

_WHAT_IT_IS = Status("OVERFLOW", "These are the first rows that the job has given: a preview, and not its result.")


def build_preview(translation: Translation, query: str, service: str, batch: pa.RecordBatch) -> bytes:
    """A VOTable of the first rows of ``batch``, which is the first of the query."""
    info = ResultInfo(query, service, PREVIEW_ROWS)
    serializer = PREVIEW_FORMAT.serializer(translation.fields, info)
    rows = serializer.rows(batch.slice(0, PREVIEW_ROWS))
    return b"".join((serializer.header(), rows, *serializer.footer(_WHAT_IT_IS)))
