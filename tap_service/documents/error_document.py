"""DALI 1.1's error document, section 4.2: a VOTable whose QUERY_STATUS is ERROR and whose text is the message."""

from __future__ import annotations

from tap_service.serializers.serializer import Status
from tap_service.serializers.votable_serializer import (
    CLOSING,
    OPENING,
    RESOURCE,
    RESOURCE_END,
    named_info,
    query_status,
)
from tap_service.xml_text import Markup

CONTENT_TYPE = "application/x-votable+xml"


def error_document(message: str, query: str = "") -> bytes:
    """``message`` may contain anything; ``query`` is repeated where it is known."""
    said = Markup(query_status(Status("ERROR", message)) + "\n")
    asked = Markup(named_info("QUERY", query) + "\n") if query else Markup("")
    return (OPENING + RESOURCE + said + asked + RESOURCE_END + CLOSING).encode()
