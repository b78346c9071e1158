"""Error documents, which are VOTables: by DALI 1.1, section 4.2, and by Simple Cone Search 1.03, section 2."""

from __future__ import annotations

from tap_service.serializers.serializer import CONE_SEARCH_ERROR, Status
from tap_service.serializers.votable_dialect import Dialect, choose_dialect
from tap_service.serializers.votable_serializer import (
    CLOSING,
    RESOURCE,
    RESOURCE_END,
    named_info,
    query_status,
)
from tap_service.xml_text import Markup

CONTENT_TYPE = "application/x-votable+xml"
CONE_SEARCH_TYPE = "text/xml"


def error_document(message: str, query: str = "") -> bytes:
    """Return the error document of DALI (DALI 1.1, section 4.2), a VOTable of the default version of the process.

    Parameters
    ----------
    message : str
        The message for the user.
    query : str
        The ADQL; '' if it is unknown.
    """
    status_info = _status_line(message)
    query_info = Markup(named_info("QUERY", query) + "\n") if query else Markup("")
    return (choose_dialect().opening + RESOURCE + status_info + query_info + RESOURCE_END + CLOSING).encode()


def cone_error_document(message: str) -> bytes:
    """Return the error document of a cone search (Simple Cone Search 1.03, section 2).

    Parameters
    ----------
    message : str
        The message for the user.

    Returns
    -------
    bytes
        A VOTable 1.4 with an INFO named Error directly in VOTABLE, and the status of DALI.
    """
    error_info = Markup(named_info(CONE_SEARCH_ERROR, message) + "\n")
    return (Dialect("1.4").opening + error_info + RESOURCE + _status_line(message) + RESOURCE_END + CLOSING).encode()


def _status_line(message: str) -> Markup:
    return Markup(query_status(Status("ERROR", message)) + "\n")
