"""VOSI 1.1 availability."""

from __future__ import annotations

from tap_service.documents.service_description import Availability
from tap_service.models.timestamps import format_instant
from tap_service.xml_text import DECLARATION, element, join_lines, tag

NAMESPACE = "http://www.ivoa.net/xml/VOSIAvailability/v1.0"


def availability_document(availability: Availability) -> bytes:
    """Return the XML document of /availability (VOSI 1.1).

    Parameters
    ----------
    availability : Availability
        Whether the service accepts queries; instants that are None are omitted.
    """
    instants = (
        ("vosi:upSince", availability.up_since),
        ("vosi:downAt", availability.down_at),
        ("vosi:backAt", availability.back_at),
    )
    children = join_lines(
        element("vosi:available", "true" if availability.available else "false"),
        *(element(name, format_instant(instant)) for name, instant in instants if instant is not None),
        *(element("vosi:note", note) for note in availability.notes),
    )
    return (DECLARATION + tag("vosi:availability", {"xmlns:vosi": NAMESPACE}, children) + "\n").encode()
