"""Choose the representation of a resource by Accept (RFC 9110, section 12.5.1)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from fastapi import Request
from fastapi.responses import Response, StreamingResponse
from starlette.datastructures import Headers

from tap_service.models.json_document import JsonDocument

XML, JSON, TEXT, HTML = "application/xml", "application/json", "text/plain", "text/html"

_QUALITY = re.compile(r"q\s*=\s*(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)", re.ASCII)


class Representation(NamedTuple):
    """One form of a resource.

    Attributes
    ----------
    media_type : str
        The media type.
    write : Callable[[], bytes or Iterator[bytes]]
        Returns the complete document, or its pieces.
    """

    media_type: str
    write: Callable[[], bytes | Iterator[bytes]]


def xml(write: Callable[[], bytes | Iterator[bytes]]) -> Representation:
    """Return the representation in XML."""
    return Representation(XML, write)


def text(write: Callable[[], str]) -> Representation:
    """Return the representation as plain text."""
    return Representation(TEXT, lambda: write().encode())


def html(write: Callable[[], str]) -> Representation:
    """Return the representation in HTML."""
    return Representation(HTML, lambda: write().encode())


def as_json(describe: Callable[[], JsonDocument | dict[str, Any]]) -> Representation:
    """Return the representation in JSON."""
    return Representation(JSON, lambda: encode_json(describe()))


def encode_json(content: JsonDocument | dict[str, Any]) -> bytes:
    """Encode a JSON object in UTF-8, without white space."""
    given = content.to_json() if isinstance(content, JsonDocument) else content
    return json.dumps(given, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode(errors="replace")


def send_preferred(
    request: Request, *offered: Representation, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """Send the representation that the client prefers.

    Parameters
    ----------
    request : Request
        The request, whose Accept header decides.
    offered : Representation
        The representations. If the client prefers several equally, the first of them is sent.
    status : int
        The status of the response.
    headers : Mapping[str, str], optional
        Headers of the response; ``Accept`` is added to ``Vary``.

    Returns
    -------
    Response
        The response, streamed if the representation consists of pieces.
    """
    chosen = choose_media_type(read_accept(request.headers), tuple(each.media_type for each in offered))
    content = next(each for each in offered if each.media_type == chosen).write()
    vary = ", ".join(filter(None, ((headers or {}).get("Vary"), "Accept")))
    all_headers = {**(headers or {}), "Vary": vary}
    if isinstance(content, bytes):
        return Response(content, status, all_headers, media_type=chosen)
    return StreamingResponse(content, status, all_headers, media_type=chosen)


def read_accept(headers: Headers) -> str:
    """Return the values of all Accept headers as one value, '' without any."""
    return ", ".join(headers.getlist("accept"))


@lru_cache(256)
def choose_media_type(accept: str, offered: tuple[str, ...]) -> str:
    """Return the media type that an Accept header prefers.

    The most specific range that matches a type determines its quality. If two types have the same quality, the type
    with the more specific range wins. Parameters of ranges other than q are ignored.

    Parameters
    ----------
    accept : str
        The value of the header, '' without one.
    offered : tuple of str
        The media types to choose from.

    Returns
    -------
    str
        One of ``offered``: the first if the header has no preference, or accepts none of them.
    """
    ranges = parse_preferences(accept)
    return max(offered, key=lambda media_type: _rank(ranges, media_type))  # the first of equals


def _rank(ranges: Mapping[str, float], media_type: str) -> tuple[float, int]:
    """Return the quality, and a number that is larger for a more specific range."""
    name = media_type.partition(";")[0]
    # Java clients write * for */*
    for specificity, each in enumerate((name, f"{name.partition('/')[0]}/*", "*/*", "*")):
        if each in ranges:
            return ranges[each], -specificity if ranges[each] else 0
    return 0.0, 0


def parse_preferences(header: str) -> dict[str, float]:
    """Parse an Accept or Accept-Encoding header.

    Parameters
    ----------
    header : str
        The value of the header.

    Returns
    -------
    dict of str to float
        The quality, from 0 to 1, of each entry in lower case; 0 if its q is malformed.
    """
    found: dict[str, float] = {}
    for entry in header.lower().split(","):
        name, *parameters = (part.strip() for part in entry.split(";"))
        if name:
            found[name] = max(found.get(name, 0.0), _read_quality(parameters))
    return found


def _read_quality(parameters: list[str]) -> float:
    for parameter in parameters:
        if parameter.partition("=")[0].strip() == "q":
            match = _QUALITY.fullmatch(parameter)
            return float(match[1]) if match else 0.0
    return 1.0
