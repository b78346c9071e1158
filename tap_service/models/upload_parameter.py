"""The UPLOAD parameter of TAP 1.1 (section 2.7.6) and DALI 1.1 (section 3.4.5)."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import BinaryIO, Protocol
from urllib.parse import urlsplit

from tap_service.constants import MAX_UPLOADS
from tap_service.models.read_options import AS_DETECTED, ReadOptions, parse_options
from tap_service.models.request_parameters import shorten_value
from tap_service.service_errors import ParameterError

#: the schema of uploads in a query
UPLOAD_SCHEMA = "TAP_UPLOAD"

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")
#: separates two tables in one parameter, as TAP 1.0 allows; does not match a ``;`` in a URL
_NEXT = re.compile(r";(?=\s*[A-Za-z][A-Za-z0-9_]*\s*,\s*(?:param:|[a-z]+://))", re.IGNORECASE)

#: an option of the command line in messages of readers -> the option after ``#`` in the location of an upload
_OPTIONS = (
    (re.compile(r" with a --schema whose columns are in the order of the file,"), ""),
    (re.compile(r"--no-header\b"), "#header=false"),
    (re.compile(r"--header\b"), "#header=true"),
    (re.compile(r"--table-index\b"), "#table"),
    (re.compile(r"--(comment|delimiter|format|null) (?!is )"), r"#\1="),
    (re.compile(r"--(comment|delimiter|format|hdu|null)\b"), r"#\1"),
)


class Part(Protocol):
    """A file that a client sent with a request."""

    @property
    def content_type(self) -> str:
        """The media type that the client declared, '' for none."""

    @property
    def size(self) -> int:
        """The size in bytes."""

    def open(self) -> BinaryIO:
        """Open the file, which the calling function closes. Raises OSError."""


@dataclass(frozen=True, slots=True)
class TextPart:
    """A short table in a part without a file name, like a parameter."""

    text: str
    content_type: str = ""

    @property
    def size(self) -> int:
        return len(self.text.encode())

    def open(self) -> BinaryIO:
        file = tempfile.TemporaryFile()  # noqa: SIM115 (the caller closes it)
        file.write(self.text.encode())
        file.seek(0)
        return file


@dataclass(frozen=True, slots=True)
class Upload:
    """An upload of a query.

    Attributes
    ----------
    name : str
        The name of the table in TAP_UPLOAD.
    part : Part or None
        The part of the request with the file; None for a file at a URL.
    address : str
        The URL of the file; '' for a file in the request.
    options : ReadOptions
        How to read the file.
    """

    name: str
    part: Part | None = None
    address: str = ""
    options: ReadOptions = AS_DETECTED


def read_uploads(values: Iterable[str], parts: Mapping[str, Part]) -> tuple[Upload, ...]:
    """Parse the values of UPLOAD.

    Parameters
    ----------
    values : Iterable[str]
        Each value is ``name,location``, or several of these separated by ``;``. After a ``#`` in the location, the
        client may write options for reading the file (``read_options.parse_options``).
    parts : Mapping[str, Part]
        The files of the request, to which ``param:...`` refers.

    Returns
    -------
    tuple of Upload
        The uploads, with distinct names.

    Raises
    ------
    ParameterError
        A value is malformed, or names a part that does not exist.
    """
    found: dict[str, Upload] = {}
    for value in values:
        for pair in _NEXT.split(value):
            if not pair.strip():
                continue
            upload = _read_upload(pair.strip(), parts)
            if upload.name.lower() in found:
                raise ParameterError(f"UPLOAD: two tables are called {upload.name}; give each its own name")
            found[upload.name.lower()] = upload
    if len(found) > MAX_UPLOADS:
        raise ParameterError(f"UPLOAD: {len(found)} tables are too many; the maximum is {MAX_UPLOADS}")
    return tuple(found.values())


def _read_upload(pair: str, parts: Mapping[str, Part]) -> Upload:
    name, comma, address = (word.strip() for word in pair.partition(","))
    if not comma or not address:
        raise ParameterError(
            "UPLOAD takes a name and a location, such as UPLOAD=mine,param:file with a part called file, "
            "or UPLOAD=mine,https://example.org/stars.vot"
        )
    name = name[len(UPLOAD_SCHEMA) + 1 :] if name.upper().startswith(UPLOAD_SCHEMA + ".") else name
    if not _NAME.fullmatch(name):
        raise ParameterError(
            f"UPLOAD: {shorten_value(name)} is not a valid table name: "
            "use up to 64 letters, digits and _, starting with a letter"
        )
    address, _, fragment = address.partition("#")
    options = _read_options(name, fragment)
    scheme, _, rest = address.partition(":")
    if scheme.lower() == "param":
        if rest not in parts:
            has = ", ".join(shorten_value(part) for part in parts) or "none"
            raise ParameterError(
                f"UPLOAD: the request has no part {shorten_value(rest)} for table {name} (its parts: {has}); "
                "send the file as a part of multipart/form-data with this name"
            )
        return Upload(name, part=parts[rest], options=options)
    if not is_fetchable(address):
        raise ParameterError(
            f"UPLOAD: table {name} cannot be fetched from {shorten_value(address)}: "
            "give param:... or an http or https address"
        )
    return Upload(name, address=address, options=options)


def _read_options(name: str, fragment: str) -> ReadOptions:
    """Return the options after ``#`` in the location of an upload."""
    try:
        return parse_options(fragment) if fragment else AS_DETECTED
    except ValueError as error:
        raise ParameterError(
            f"UPLOAD: table {name} has {shorten_value('#' + fragment)} after its location: {error}; "
            "write for example param:file#hdu=2 or param:file#delimiter=blanks&null=-999"
        ) from error


def name_upload_options(message: str) -> str:
    """Translate a reader's message for the sender of an upload.

    Parameters
    ----------
    message : str
        A message that names options of the command line, such as ``--null``.

    Returns
    -------
    str
        The message with the options after ``#`` in UPLOAD instead.
    """
    for command_option, upload_option in _OPTIONS:
        message = command_option.sub(upload_option, message)
    return message


def is_fetchable(address: str) -> bool:
    """Return whether the service fetches files from an address.

    Parameters
    ----------
    address : str
        The location of an upload.

    Returns
    -------
    bool
        Whether it is an http or https URL in printable ASCII, with a host and without a user name. Whether the host may
        be reached is checked when the file is fetched.
    """
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        return False
    is_plain = address.isascii() and address.isprintable() and " " not in address
    is_http = parts.scheme.lower() in ("http", "https") and bool(parts.hostname) and port != 0
    return is_plain and is_http and parts.username is None and parts.password is None
