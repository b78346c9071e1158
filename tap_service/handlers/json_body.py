"""Read small JSON bodies of requests that change something.

A page of another site can make a browser send a form with a remembered password, but not JSON: before JSON the browser
sends a preflight, whose answer does not allow passwords.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any

from fastapi import Request

from tap_service.handlers.request_body import read_body
from tap_service.models.request_parameters import check_unicode
from tap_service.service_errors import ParameterError

_MAX_BYTES = 10_000


async def read_json_object(request: Request, names: Collection[str], max_bytes: int = _MAX_BYTES) -> dict[str, Any]:
    """Read a body that is a JSON object.

    Parameters
    ----------
    request : Request
        The request, whose body has not been read.
    names : Collection[str]
        The names of the members that are allowed.
    max_bytes : int
        The maximum size of the body, in bytes.

    Returns
    -------
    dict
        The object; any of ``names`` may be missing.

    Raises
    ------
    ParameterError
        The body is not a JSON object, or has other members.
    BodyTooLarge, BodyTooSlow, ClientGone, UnknownEncoding, TooManyUploads
        As in ``open_body``.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    body = await read_body(request, max_bytes, f"the body has more than {max_bytes} bytes")
    if kind != "application/json":
        raise ParameterError("send a JSON object, with Content-Type: application/json")
    try:
        given = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise ParameterError(f"the body is not JSON: {error}") from error
    if not isinstance(given, dict):
        raise ParameterError("the body is not a JSON object: write {...}")
    unknown = sorted(set(given) - set(names))
    if unknown:
        raise ParameterError(f"{unknown[0][:60]!r} is unknown; known members are: {', '.join(names)}")
    return given


def read_text(given: dict[str, Any], name: str, default: str = "") -> str:
    """Return a string of a JSON object.

    Parameters
    ----------
    given : dict
        The object.
    name : str
        The name of the member.
    default : str
        The value if the member is missing.

    Raises
    ------
    ParameterError
        The value is not a string, or not valid Unicode.
    """
    value = given.get(name, default)
    if not isinstance(value, str):
        raise ParameterError(f"{name} is not a string: write it in quotes")
    check_unicode(name, value)
    return value
