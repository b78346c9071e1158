"""The UPLOAD parameter of TAP 1.1 (section 2.7.6) and DALI 1.1 (section 3.4.5)."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import BinaryIO, Protocol
from urllib.parse import urlsplit

from tap_service.constants import MAX_UPLOADS
from tap_service.models.request_parameters import shorten_value
from tap_service.service_errors import ParameterFault

#: The schema of uploaded tables in a query
UPLOAD_SCHEMA = "TAP_UPLOAD"

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")
#: Between two tables in one parameter, as TAP 1.0 has them; a ``;`` in an address is followed by something else.
_NEXT = re.compile(r";(?=\s*[A-Za-z][A-Za-z0-9_]*\s*,\s*(?:param:|[a-z]+://))", re.IGNORECASE)


class Part(Protocol):
    """A file that came with a request."""

    @property
    def content_type(self) -> str:
        """As its sender says, '' if nothing."""

    @property
    def size(self) -> int:
        """In bytes."""

    def open(self) -> BinaryIO:
        """The whole of it, from the start; it is the caller's to close. Raises OSError."""


@dataclass(frozen=True, slots=True)
class TextPart:
    """A short table that came like a parameter, without a file name."""

    text: str
    content_type: str = ""

    @property
    def size(self) -> int:
        return len(self.text.encode())

    def open(self) -> BinaryIO:
        file = tempfile.TemporaryFile()  # noqa: SIM115 (the caller's to close)
        file.write(self.text.encode())
        file.seek(0)
        return file


@dataclass(frozen=True, slots=True)
class Upload:
    """A table ``name`` of a query, in a part of the request or at an ``address``."""

    name: str
    part: Part | None = None
    address: str = ""


def read_uploads(values: Iterable[str], parts: Mapping[str, Part]) -> tuple[Upload, ...]:
    """The tables that UPLOAD's values name. Raises ParameterFault."""
    found: dict[str, Upload] = {}
    for value in values:
        for pair in _NEXT.split(value):
            if not pair.strip():
                continue
            upload = _read_upload(pair.strip(), parts)
            if upload.name.lower() in found:
                raise ParameterFault(f"UPLOAD: two tables are called {upload.name}; give each a name of its own")
            found[upload.name.lower()] = upload
    if len(found) > MAX_UPLOADS:
        raise ParameterFault(f"UPLOAD: {len(found)} tables are too many; a query may have {MAX_UPLOADS}")
    return tuple(found.values())


def _read_upload(pair: str, parts: Mapping[str, Part]) -> Upload:
    name, comma, address = (word.strip() for word in pair.partition(","))
    if not comma or not address:
        raise ParameterFault(
            "UPLOAD is a name and where the table is, such as UPLOAD=mine,param:file with a part called file, "
            "or UPLOAD=mine,https://example.org/stars.vot"
        )
    name = name[len(UPLOAD_SCHEMA) + 1 :] if name.upper().startswith(UPLOAD_SCHEMA + ".") else name
    if not _NAME.fullmatch(name):
        raise ParameterFault(
            f"UPLOAD: {shorten_value(name)} is no name of a table: write a letter, then letters, digits and _, up to 64"
        )
    scheme, _, rest = address.partition(":")
    if scheme.lower() == "param":
        if rest not in parts:
            has = ", ".join(shorten_value(part) for part in parts) or "none"
            raise ParameterFault(
                f"UPLOAD: the request has no part {shorten_value(rest)} for table {name} (its parts: {has}); "
                "send the file as a part of multipart/form-data with this name"
            )
        return Upload(name, part=parts[rest])
    if not is_fetchable(address):
        raise ParameterFault(
            f"UPLOAD: table {name} cannot be fetched from {shorten_value(address)}: "
            "give param:... or an http or https address"
        )
    return Upload(name, address=address)


def is_fetchable(address: str) -> bool:
    """Whether it is an http or https address, without a user in it."""
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        return False
    is_plain = address.isascii() and address.isprintable() and " " not in address
    is_http = parts.scheme.lower() in ("http", "https") and bool(parts.hostname) and port != 0
    return is_plain and is_http and parts.username is None and parts.password is None
