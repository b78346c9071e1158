"""Previews: the first rows of a running job, served at /tap/async/{job}/preview as an extension of UWS."""

from __future__ import annotations

import pyarrow as pa

from adql import Translation
from tap_service.constants import PREVIEW_ROWS
from tap_service.serializers import ResultInfo, Status, find_format

#: the format of previews, independent of the result's
PREVIEW_FORMAT = find_format("votable/td")

_PREVIEW_STATUS = Status("OVERFLOW", "These are the first rows that the job has given: a preview, and not its result.")


def build_preview(translation: Translation, query: str, service: str, batch: pa.RecordBatch) -> bytes:
    """Return a VOTable of the first rows of ``batch``, the query's first batch."""
    info = ResultInfo(query, service, PREVIEW_ROWS)
    serializer = PREVIEW_FORMAT.serializer(translation.fields, info)
    rows = serializer.write_rows(batch.slice(0, PREVIEW_ROWS))
    return b"".join((serializer.write_header(), rows, *serializer.write_footer(_PREVIEW_STATUS)))
