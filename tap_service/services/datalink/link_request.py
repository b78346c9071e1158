"""Read the parameters of a request for links (DataLink 1.1, section 2.1)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from tap_service.constants import MAX_LINK_IDS
from tap_service.models.request_parameters import Pair
from tap_service.serializers import Format, UnknownFormatError, find_format
from tap_service.service_errors import ParameterError

_VOTABLE = "application/x-votable+xml"

#: the media type of links (section 3.1)
CONTENT_TYPE = f"{_VOTABLE};content=datalink"


@dataclass(frozen=True, slots=True)
class LinkRequest:
    """A request for links.

    Attributes
    ----------
    ids : tuple of str
        The distinct identifiers, in the order of the request.
    format : Format
        The output format.
    is_cut : bool
        Whether the request had more identifiers than one answer contains.
    """

    ids: tuple[str, ...]
    format: Format
    is_cut: bool = False


def read_link_request(pairs: Iterable[Pair]) -> LinkRequest:
    """Read the parameters of a request; names are case-insensitive, and unknown parameters are ignored.

    Raises
    ------
    ParameterError
        RESPONSEFORMAT is repeated, or not a format of tables.
    """
    pairs = tuple(pairs)
    ids = tuple(dict.fromkeys(value for name, value in pairs if name.upper() == "ID" and value))
    formats = {value for name, value in pairs if name.upper() == "RESPONSEFORMAT" and value.strip()}
    if len(formats) > 1:
        raise ParameterError("the parameter RESPONSEFORMAT is given more than once; give it one value")
    return LinkRequest(ids[:MAX_LINK_IDS], _read_format(*formats), len(ids) > MAX_LINK_IDS)


def _read_format(name: str = "") -> Format:
    """Return the format. A VOTable without a serialization is in TABLEDATA, as the standard requires."""
    kind, *parameters = "".join(name.lower().split()).split(";")
    is_standard = kind in ("", "votable", _VOTABLE) and not any(
        each.startswith("serialization=") for each in parameters
    )
    version = [each for each in parameters if each.startswith("version=")]
    try:
        found = find_format(";".join(["votable/td", *version]) if is_standard else name)
    except UnknownFormatError as error:
        raise ParameterError(str(error)) from error
    if found.is_collection:
        raise ParameterError(
            f"links are a single table, but RESPONSEFORMAT={found.aliases[0]} is a collection of files"
        )
    return replace(found, mime=";".join([CONTENT_TYPE, *version])) if is_standard else found
