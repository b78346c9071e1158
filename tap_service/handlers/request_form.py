"""Read the parameters and files of a request, from its query string and its form.

Text is strict UTF-8; sizes are limited; files are written to disk as they arrive.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, BinaryIO
from urllib.parse import parse_qsl

from fastapi import Request
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from tap_service.constants import BYTES_PER_CHARACTER, FORM_OVERHEAD, MAX_PARAMETERS
from tap_service.factory.services import Services
from tap_service.handlers.request_body import feed_body, no_room_error, read_body
from tap_service.handlers.request_context import create_incoming_file
from tap_service.models.request_parameters import Pair, is_known, read_single_values
from tap_service.scratch_files import IncomingFile, NoRoom
from tap_service.service_errors import BodyTooLarge, ParameterError

if TYPE_CHECKING:
    from python_multipart.multipart import MultipartCallbacks

_URLENCODED = "application/x-www-form-urlencoded"
_MULTIPART = "multipart/form-data"


@dataclass(frozen=True, slots=True)
class FilePart:
    """A file in a part of a form; it is deleted when the form is closed."""

    content_type: str
    file: IncomingFile

    @property
    def size(self) -> int:
        return self.file.size

    def open(self) -> BinaryIO:
        return self.file.path.open("rb")


@dataclass
class Form:
    """The parameters of a request in their order, and its files by the names of their parts."""

    pairs: list[Pair] = field(default_factory=list)
    files: dict[str, FilePart] = field(default_factory=dict)

    def close(self) -> None:
        """Delete the files."""
        for part in self.files.values():
            part.file.close()


def read_query_pairs(request: Request) -> list[Pair]:
    """Read the parameters of the query string. Raises ParameterError if it is not UTF-8 or has too many parameters."""
    return parse_urlencoded(request.scope["query_string"], "the query string")


def read_query_values(request: Request, names: Sequence[str]) -> dict[str, str]:
    """Read parameters of the query string, whose names are case-insensitive.

    Parameters
    ----------
    request : Request
        The request.
    names : Sequence[str]
        The names in upper case.

    Returns
    -------
    dict of str to str
        The values of the parameters that are present, by these names.

    Raises
    ------
    ParameterError
        The query string is not UTF-8, has too many parameters, or has one of these several times.
    """
    return read_single_values(read_query_pairs(request), names)


async def read_request_pairs(request: Request, skyhouse: Services, max_parameters: int = MAX_PARAMETERS) -> list[Pair]:
    """Read the parameters of the query string, and of the form of a POST. Files are discarded.

    Parameters
    ----------
    request : Request
        The request, whose body has not been read.
    skyhouse : Services
        The services, whose configuration limits the body.
    max_parameters : int
        The maximum number of parameters.

    Returns
    -------
    list of Pair
        Names and values, first of the query string, then of the form.

    Raises
    ------
    ParameterError
        The body is not a form, is not UTF-8, or there are too many parameters.
    BodyTooLarge
        The body is longer than the longest query.
    BodyTooSlow, ClientGone, UnknownEncoding, TooManyUploads
        As in ``open_body``.
    """
    form = await read_request_form(request, skyhouse, with_files=False, max_parameters=max_parameters)
    return form.pairs


async def read_request_form(
    request: Request, skyhouse: Services, *, with_files: bool = True, max_parameters: int = MAX_PARAMETERS
) -> Form:
    """Read the parameters and files of a request.

    Parameters
    ----------
    request, skyhouse, max_parameters
        As in ``read_request_pairs``.
    with_files : bool
        Whether to keep files; otherwise they are discarded.

    Returns
    -------
    Form
        The parameters and files; the calling function closes it.

    Raises
    ------
    ParameterError, BodyTooLarge, BodyTooSlow, ClientGone, UnknownEncoding, TooManyUploads
        As in ``read_request_pairs``.
    ServiceUnavailable
        The disk has no space for the files.
    """
    form = Form(parse_urlencoded(request.scope["query_string"], "the query string", max_parameters))
    if request.method != "POST":
        return form
    config = skyhouse.config
    max_text_bytes = config.max_query_length * BYTES_PER_CHARACTER + FORM_OVERHEAD
    kind, options = parse_options_header(request.headers.get("content-type", ""))
    if kind == _MULTIPART.encode():
        if not (boundary := options.get(b"boundary")):
            raise ParameterError(f"the Content-Type {_MULTIPART} has no boundary")
        max_file_bytes = config.upload_bytes if with_files else 0
        create_file = partial(create_incoming_file, request)
        reader = PartReader(form, boundary, max_text_bytes, max_file_bytes, create_file, max_parameters)
        try:
            max_bytes = max_text_bytes + config.upload_bytes
            if await feed_body(request, reader.write, max_bytes, _describe_file_limit(config.upload_bytes)):
                reader.finish()
        except BaseException as error:
            reader.close()
            if isinstance(error, OSError | NoRoom):
                raise no_room_error("the files of the request", error) from error
            raise
        return form
    body = await read_body(request, max_text_bytes, _describe_limit(max_text_bytes))
    if body and kind not in (b"", _URLENCODED.encode()):
        raise ParameterError(f"the Content-Type of a POST must be {_URLENCODED} or {_MULTIPART}")
    form.pairs += parse_urlencoded(body, "the body", max_parameters) if body else []
    return form


def parse_urlencoded(data: bytes, where: str, max_parameters: int = MAX_PARAMETERS) -> list[Pair]:
    """Parse an URL-encoded form.

    Parameters
    ----------
    data : bytes
        The form, in UTF-8.
    where : str
        What it is, for messages of errors.
    max_parameters : int
        The maximum number of parameters.

    Raises
    ------
    ParameterError
        The form is not UTF-8, or has too many parameters.
    """
    try:
        return parse_qsl(data.decode("utf-8"), keep_blank_values=True, errors="strict", max_num_fields=max_parameters)
    except UnicodeDecodeError as error:
        raise ParameterError(f"{where} is not UTF-8: {error.reason}; encode it in UTF-8") from error
    except ValueError as error:
        raise ParameterError(f"{where} has more than {max_parameters} parameters") from error


def _describe_limit(max_bytes: int) -> str:
    return (
        f"the parameters of the request have more than {max_bytes} bytes, the limit of this service: "
        "put a long list of values into a table and upload it (UPLOAD)"
    )


def _describe_file_limit(max_bytes: int) -> str:
    return (
        f"the files of the request have more than {max_bytes} bytes, the limit of this service: "
        "upload fewer rows or columns, or use a compact format such as Parquet"
    )


class PartReader:
    """Reads the parts of a multipart/form-data body into a ``Form``, and writes its files to disk.

    A part is a file if its name is not the name of a parameter, and it has a file name, is long or is not UTF-8.

    Parameters
    ----------
    form : Form
        Receives the parameters and files.
    boundary : bytes
        The boundary of the body.
    max_text_bytes : int
        The maximum size of all parameters, in bytes.
    max_file_bytes : int
        The maximum size of all files, in bytes; 0 discards files.
    create_file : Callable[[], IncomingFile]
        Creates a file on disk. Raises OSError.
    max_parts : int
        The maximum number of parts.
    """

    def __init__(
        self,
        form: Form,
        boundary: bytes,
        max_text_bytes: int,
        max_file_bytes: int,
        create_file: Callable[[], IncomingFile],
        max_parts: int = MAX_PARAMETERS,
    ) -> None:
        self._form = form
        self._max_parts = max_parts
        self._room = self._max_text_bytes = max_text_bytes
        self._room_for_files = self._max_file_bytes = max_file_bytes
        self._create_file = create_file
        self._count = 0
        self._ended = False
        self._header = bytearray()
        self._header_value = bytearray()
        self._headers: dict[bytes, bytes] = {}
        self._name = ""
        self._value: bytearray | None = None
        self._file: IncomingFile | None = None
        self._size = 0
        callbacks: MultipartCallbacks = {
            "on_part_begin": self._begin_part,
            "on_header_field": self._add_header_name,
            "on_header_value": self._add_header_value,
            "on_header_end": self._end_header,
            "on_headers_finished": self._end_headers,
            "on_part_data": self._add_part_data,
            "on_part_end": self._end_part,
            "on_end": self._end_body,
        }
        with _translate_parser_errors():
            self._parser = MultipartParser(boundary, callbacks)

    def write(self, data: bytes) -> None:
        """Parse the next bytes.

        Raises
        ------
        ParameterError
            The body is malformed, or has too many parts.
        BodyTooLarge
            The parameters or the files exceed their limit.
        NoRoom, OSError
            The disk has no space for a file.
        """
        with _translate_parser_errors():
            self._parser.write(data)

    def finish(self) -> None:
        """Check that the body is complete. Raises ParameterError."""
        with _translate_parser_errors():
            self._parser.finalize()
        if not self._ended:
            raise ParameterError("the multipart/form-data body is truncated: its final boundary is missing")

    def close(self) -> None:
        """Delete all files."""
        self._form.close()
        if self._file is not None:
            self._file.close()

    def _begin_part(self) -> None:
        self._count += 1
        if self._count > self._max_parts:
            raise ParameterError(f"the body has more than {self._max_parts} parts")
        self._headers = {}
        self._value, self._file, self._size = None, None, 0

    def _add_header_name(self, data: bytes, start: int, end: int) -> None:
        self._header += data[start:end]

    def _add_header_value(self, data: bytes, start: int, end: int) -> None:
        self._header_value += data[start:end]

    def _end_header(self) -> None:
        self._headers[bytes(self._header).lower()] = bytes(self._header_value)
        self._header.clear()
        self._header_value.clear()

    def _end_headers(self) -> None:
        _, options = parse_options_header(self._headers.get(b"content-disposition", b""))
        name = options.get(b"name")
        if name is None:
            raise ParameterError("a part of the multipart/form-data body has no name in its Content-Disposition")
        self._name = _decode_part(name)
        if b"filename" in options and not is_known(self._name):
            self._begin_file()
        else:
            self._value = bytearray()

    def _begin_file(self) -> None:
        if self._max_file_bytes:
            self._file = self._create_file()

    def _add_part_data(self, data: bytes, start: int, end: int) -> None:
        length = end - start
        self._size += length
        if self._value is not None and self._size > FORM_OVERHEAD and self._max_file_bytes and not is_known(self._name):
            self._begin_file()
            self._room += len(self._value)
            self._write_file(self._value)
            self._value = None
        if self._value is not None:
            self._room -= length
            if self._room < 0:
                raise BodyTooLarge(_describe_limit(self._max_text_bytes))
            self._value += data[start:end]
        else:
            self._write_file(data[start:end])

    def _write_file(self, data: bytes | bytearray) -> None:
        """Write to the file, unless files are discarded."""
        if self._file is not None:
            self._room_for_files -= len(data)
            if self._room_for_files < 0:
                raise BodyTooLarge(_describe_file_limit(self._max_file_bytes))
            self._file.write(data)

    def _end_part(self) -> None:
        if self._value is not None:
            self._end_value(bytes(self._value))
        if self._file is not None:
            if earlier := self._form.files.pop(self._name, None):
                earlier.file.close()
                raise ParameterError(f"two files of the request are called {self._name[:60]!r}")
            content_type = self._headers.get(b"content-type", b"").decode("latin-1")
            self._form.files[self._name] = FilePart(content_type, self._file)
            self._file = None

    def _end_value(self, value: bytes) -> None:
        try:
            self._form.pairs.append((self._name, _decode_part(value)))
        except ParameterError:
            if is_known(self._name) or not self._max_file_bytes:
                raise
            self._begin_file()  # a short binary table
            self._write_file(value)

    def _end_body(self) -> None:
        self._ended = True


@contextmanager
def _translate_parser_errors() -> Iterator[None]:
    try:
        yield
    except FormParserError as error:
        raise ParameterError(f"the body is not valid multipart/form-data: {error}") from error


def _decode_part(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise ParameterError(f"a part of the body is not UTF-8: {error.reason}") from error
