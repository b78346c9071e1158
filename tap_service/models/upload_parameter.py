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
#: the separator of two tables in one parameter, which TAP 1.0 allows, but not a ``;`` in an address
_NEXT = re.compile(r";(?=\s*[A-Za-z][A-Za-z0-9_]*\s*,\s*(?:param:|[a-z]+://))", re.IGNORECASE)

#: how readers name a choice, and what it is behind ``#`` in the location of an upload, which has no schema file
_CHOICES = (
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
        """The type that the client declared, or ''."""

    @property
    def size(self) -> int:
        """The size in bytes."""

    def open(self) -> BinaryIO:
        """Open the file; the caller closes it. Raise OSError."""


@dataclass(frozen=True, slots=True)
class TextPart:
    """A short table that a client sent like a parameter, without a file name."""

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
    """The upload ``name`` of a query, from a part of the request or from an ``address``; how its file is read."""

    name: str
    part: Part | None = None
    address: str = ""
    options: ReadOptions = AS_DETECTED


def read_uploads(values: Iterable[str], parts: Mapping[str, Part]) -> tuple[Upload, ...]:
    """Parse the values of UPLOAD.

    Parameters
    ----------
    values
        Each is ``name,address``; several of them may be separated by ``;``. Behind ``#`` in the address the sender
        says how to read the file (``read_options.parse_options``).
    parts
        The files of the request, to which ``param:...`` refers.

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
        raise ParameterError(f"UPLOAD: {len(found)} tables are too many; a query may have {MAX_UPLOADS}")
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
            "use up to 64 letters, digits and _, beginning with a letter"
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
    """Return the choices behind ``#`` in the location of an upload."""
    try:
        return parse_options(fragment) if fragment else AS_DETECTED
    except ValueError as error:
        raise ParameterError(
            f"UPLOAD: table {name} has {shorten_value('#' + fragment)} behind its location: {error}; "
            "write it such as param:file#hdu=2 or param:file#delimiter=blanks&null=-999"
        ) from error


def name_choices(message: str) -> str:
    """Return a reader's message with the choices behind ``#`` in the place of options of the command line."""
    for option, choice in _CHOICES:
        message = option.sub(choice, message)
    return message


def is_fetchable(address: str) -> bool:
    """Return whether this is an http or https address without a user name."""
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        return False
    is_plain = address.isascii() and address.isprintable() and " " not in address
    is_http = parts.scheme.lower() in ("http", "https") and bool(parts.hostname) and port != 0
    return is_plain and is_http and parts.username is None and parts.password is None
