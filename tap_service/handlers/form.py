"""The parameters of a request as pairs of text, from its query string and its form. UTF-8 strictly, sizes bounded."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from fastapi import Request
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.concurrency import run_in_threadpool

from tap_service.constants import BYTES_PER_CHARACTER, DISCARDED_BYTES, FORM_OVERHEAD, MAX_PARAMETERS
from tap_service.exceptions import BodyTooLarge, ClientGone, ParameterFault
from tap_service.models.parameters import Pair

if TYPE_CHECKING:
    from python_multipart.multipart import MultipartCallbacks

_URLENCODED = "application/x-www-form-urlencoded"
_MULTIPART = "multipart/form-data"


async def request_pairs(request: Request, max_query_length: int) -> list[Pair]:
    """The pairs of the query string, then those of the form of a POST.

    Raises ParameterFault for what is no form or not UTF-8, BodyTooLarge for a body that no query needs.
    """
    pairs = urlencoded(request.scope["query_string"], "the query string")
    if request.method != "POST":
        return pairs
    body = await _body(request, max_query_length * BYTES_PER_CHARACTER + FORM_OVERHEAD)
    if not body:
        return pairs
    return pairs + await run_in_threadpool(_form, request.headers.get("content-type", ""), body)


def urlencoded(data: bytes, where: str) -> list[Pair]:
    try:
        return parse_qsl(data.decode("utf-8"), keep_blank_values=True, errors="strict", max_num_fields=MAX_PARAMETERS)
    except UnicodeDecodeError as error:
        raise ParameterFault(f"{where} is not UTF-8: {error.reason}; encode it in UTF-8") from error
    except ValueError as error:
        raise ParameterFault(f"{where} has more than {MAX_PARAMETERS} parameters") from error


def multipart(data: bytes, boundary: bytes) -> list[Pair]:
    """The parts of a multipart/form-data body; a part with a file name is a value like any other."""
    reader = _PartReader()
    try:
        parser = MultipartParser(boundary, reader.callbacks)
        parser.write(data)
        parser.finalize()
    except FormParserError as error:
        raise ParameterFault(f"the body is not multipart/form-data as its Content-Type says: {error}") from error
    if not reader.ended:
        raise ParameterFault("the multipart/form-data body has no end: its last boundary is missing")
    return reader.pairs


def _form(content_type: str, body: bytes) -> list[Pair]:
    kind, options = parse_options_header(content_type)
    if kind == _MULTIPART.encode():
        if not (boundary := options.get(b"boundary")):
            raise ParameterFault(f"the Content-Type {_MULTIPART} has no boundary")
        return multipart(body, boundary)
    if kind in (b"", _URLENCODED.encode()):
        return urlencoded(body, "the body")
    raise ParameterFault(f"the Content-Type of a POST is {_URLENCODED} or {_MULTIPART} here")


async def _body(request: Request, most: int) -> bytes:
    """The whole body. One that is too long is read on but not kept: a client listens when it has said all."""
    body = bytearray()
    length = 0
    while True:
        message = await request.receive()
        if message["type"] == "http.disconnect":
            raise ClientGone("the client went away while it sent its request")
        chunk = message.get("body", b"")
        length += len(chunk)
        if length <= most:
            body += chunk
        if not message.get("more_body", False) or length > DISCARDED_BYTES:
            break
    if length > most:
        raise BodyTooLarge(
            f"the request has more than {most} bytes, and no query needs as many: "
            "this service takes no uploaded tables yet, and a long list of values is better put as a condition"
        )
    return bytes(body)


class _PartReader:
    """Collects names and values from the parser's callbacks."""

    def __init__(self) -> None:
        self.pairs: list[Pair] = []
        self.ended = False
        self._header = bytearray()
        self._header_value = bytearray()
        self._headers: dict[bytes, bytes] = {}
        self._value = bytearray()
        self.callbacks: MultipartCallbacks = {
            "on_part_begin": self._begin,
            "on_header_field": self._header_name_data,
            "on_header_value": self._header_value_data,
            "on_header_end": self._header_end,
            "on_part_data": self._part_data,
            "on_part_end": self._part_end,
            "on_end": self._end,
        }

    def _begin(self) -> None:
        if len(self.pairs) >= MAX_PARAMETERS:
            raise ParameterFault(f"the body has more than {MAX_PARAMETERS} parts")
        self._headers = {}
        self._value = bytearray()

    def _header_name_data(self, data: bytes, start: int, end: int) -> None:
        self._header += data[start:end]

    def _header_value_data(self, data: bytes, start: int, end: int) -> None:
        self._header_value += data[start:end]

    def _header_end(self) -> None:
        self._headers[bytes(self._header).lower()] = bytes(self._header_value)
        self._header.clear()
        self._header_value.clear()

    def _part_data(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _part_end(self) -> None:
        _, options = parse_options_header(self._headers.get(b"content-disposition", b""))
        name = options.get(b"name")
        if name is None:
            raise ParameterFault("a part of the multipart/form-data body has no name in its Content-Disposition")
        try:
            self.pairs.append((name.decode(), self._value.decode()))
        except UnicodeDecodeError as error:
            if b"filename" not in options:  # the binary file of an upload is no parameter's value
                raise ParameterFault(f"a part of the body is not UTF-8: {error.reason}") from error

    def _end(self) -> None:
        self.ended = True
