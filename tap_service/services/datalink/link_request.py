"""Read the parameters of a request for links (DataLink 1.1, section 2.1)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from tap_service.constants import MAX_LINK_IDS
from tap_service.models.request_parameters import Pair
from tap_service.serializers import Format, UnknownFormatError, find_format
from tap_service.service_errors import ParameterFault

_VOTABLE = "application/x-votable+xml"

#: the media type of links (section 3.1)
CONTENT_TYPE = f"{_VOTABLE};content=datalink"

#: the standard's output: a VOTable in TABLEDATA, whatever the service's own default is
_STANDARD_FORMAT = replace(find_format("votable/td"), mime=CONTENT_TYPE)


@dataclass(frozen=True, slots=True)
class LinkRequest:
    """``ids``: each once, in the order given; ``is_cut``: there were more than are answered at once."""

    ids: tuple[str, ...]
    format: Format
    is_cut: bool = False


def read_link_request(pairs: Iterable[Pair]) -> LinkRequest:
    """Read a request; names are case-insensitive, unknown ones are ignored. Raises ParameterFault."""
    pairs = tuple(pairs)
    ids = tuple(dict.fromkeys(value for name, value in pairs if name.upper() == "ID" and value))
    formats = {value for name, value in pairs if name.upper() == "RESPONSEFORMAT" and value.strip()}
    if len(formats) > 1:
        raise ParameterFault("the parameter RESPONSEFORMAT is given more than once; give it one value")
    return LinkRequest(ids[:MAX_LINK_IDS], _read_format(*formats), len(ids) > MAX_LINK_IDS)


def _read_format(name: str = "") -> Format:
    kind, *parameters = "".join(name.lower().split()).split(";")
    if kind in ("", "votable", _VOTABLE) and not any(each.startswith("serialization=") for each in parameters):
        return _STANDARD_FORMAT
    try:
        return find_format(name)
    except UnknownFormatError as error:
        raise ParameterFault(str(error)) from error
