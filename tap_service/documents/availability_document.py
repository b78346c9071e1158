"""VOSI 1.1 availability."""

from __future__ import annotations

from tap_service.documents.service_description import Availability
from tap_service.models.timestamps import format_instant
from tap_service.xml_text import DECLARATION, element, join_lines, optional_element, tag

NAMESPACE = "http://www.ivoa.net/xml/VOSIAvailability/v1.0"


def availability_document(availability: Availability) -> bytes:
    since = "" if availability.up_since is None else format_instant(availability.up_since)
    children = join_lines(
        element("vosi:available", "true" if availability.available else "false"),
        optional_element("vosi:upSince", since),
        *(element("vosi:note", note) for note in availability.notes),
    )
    return (DECLARATION + tag("vosi:availability", {"xmlns:vosi": NAMESPACE}, children) + "\n").encode()
