"""Small bodies in JSON, of requests that change something.

A page of another site can make a browser send a form with a remembered password, but not JSON: the browser asks first,
and the answer to that allows no passwords.
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
    """Return a JSON object with no other names than these. Raises ParameterError, and as ``open_body``."""
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
        raise ParameterError(f"{unknown[0][:60]!r} is not known here: {', '.join(names)} are")
    return given


def read_text(given: dict[str, Any], name: str, default: str = "") -> str:
    """Return a text of the object. Raises ParameterError."""
    value = given.get(name, default)
    if not isinstance(value, str):
        raise ParameterError(f"{name} is not a text: write it in quotes")
    check_unicode(name, value)
    return value
