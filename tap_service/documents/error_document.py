"""The error document of DALI 1.1, section 4.2: a VOTable with QUERY_STATUS ERROR and the message."""

from __future__ import annotations

from tap_service.serializers.serializer import Status
from tap_service.serializers.votable_dialect import choose_dialect
from tap_service.serializers.votable_serializer import (
    CLOSING,
    RESOURCE,
    RESOURCE_END,
    named_info,
    query_status,
)
from tap_service.xml_text import Markup

CONTENT_TYPE = "application/x-votable+xml"


def error_document(message: str, query: str = "") -> bytes:
    """Return the error document; it repeats the ``query`` if known."""
    status_info = Markup(query_status(Status("ERROR", message)) + "\n")
    query_info = Markup(named_info("QUERY", query) + "\n") if query else Markup("")
    return (choose_dialect().opening + RESOURCE + status_info + query_info + RESOURCE_END + CLOSING).encode()
