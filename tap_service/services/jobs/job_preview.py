"""Previews: the first rows of a running job, served at /tap/async/{job}/preview as an extension of UWS."""

from __future__ import annotations

import json

import pyarrow as pa

from adql import Translation
from tap_service.constants import PREVIEW_ROWS
from tap_service.serializers import ResultInfo, Status, find_format

#: the formats of previews, independent of the result's; the first one is the default
PREVIEW_FORMATS = (find_format("votable/td"), find_format("json"))

_PREVIEW_STATUS = Status("OVERFLOW", "These are the first rows that the job has given: a preview, and not its result.")


def build_preview(translation: Translation, query: str, service: str, batch: pa.RecordBatch) -> bytes:
    """Return the file of a preview: the first rows of ``batch``, the query's first batch, in all formats."""
    info = ResultInfo(query, service, PREVIEW_ROWS)
    documents = {}
    for each in PREVIEW_FORMATS:
        serializer = each.serializer(translation.fields, info)
        rows = serializer.write_rows(batch.slice(0, PREVIEW_ROWS))
        whole = b"".join((serializer.write_header(), rows, *serializer.write_footer(_PREVIEW_STATUS)))
        documents[each.mime] = whole.decode()
    return json.dumps(documents).encode()


def read_preview(file: bytes, mime: str) -> bytes:
    """Return the document of a preview's file in one of PREVIEW_FORMATS."""
    document: str = json.loads(file)[mime]
    return document.encode()
