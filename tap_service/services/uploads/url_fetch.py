"""Fetches tables for uploads from other servers, with limits of time and size, and only from public hosts."""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO
from urllib.parse import urljoin

import urllib3

from tap_service.constants import MAX_REDIRECTS
from tap_service.deadline import Deadline
from tap_service.http_connections import CONNECTION_ERRORS, open_response
from tap_service.models.upload_parameter import is_fetchable
from tap_service.public_addresses import NotPublic
from tap_service.service_errors import ServiceUnavailable, UploadError

_REDIRECTS = (301, 302, 303, 307, 308)
_PIECE_BYTES = 1 << 18


class UrlFetcher:
    """Fetches files. Thread-safe.

    Parameters
    ----------
    directory : Path
        Where the file is while it is read.
    hosts : Collection[str]
        Hosts, names or ``name:port``, that may have private addresses.
    max_bytes : int
        Maximum size of a file.
    seconds : float
        Time limit for one file with all redirects.
    """

    def __init__(self, directory: Path, hosts: Collection[str], max_bytes: int, seconds: float) -> None:
        self._directory = directory
        self._hosts = hosts
        self._max_bytes = max_bytes
        self._seconds = seconds

    @contextmanager
    def fetched_file(self, address: str) -> Iterator[tuple[BinaryIO, str]]:
        """Fetch a file, and yield it with its Content-Type.

        Parameters
        ----------
        address : str
            An http or https URL.

        Raises
        ------
        UploadError
            The file cannot be fetched; the message says why.
        ServiceUnavailable
            The disk is full.
        """
        with tempfile.TemporaryFile(dir=self._directory) as file:
            with Deadline(self._seconds) as deadline:
                try:
                    content_type = self._fetch_into(address, file, deadline)
                except NotPublic as error:
                    raise _fetch_error(address, str(error)) from error
                except CONNECTION_ERRORS as error:
                    if deadline.has_passed:
                        raise _fetch_error(address, f"it takes longer than {self._seconds:g} seconds") from error
                    raise _fetch_error(address, "the server cannot be reached, or does not speak HTTP") from error
            file.seek(0)
            yield file, content_type

    def _fetch_into(self, address: str, file: BinaryIO, deadline: Deadline) -> str:
        url = address
        for _ in range(MAX_REDIRECTS + 1):
            with open_response("GET", url, deadline, hosts=self._hosts, headers={"Accept": "*/*"}) as response:
                if response.status not in _REDIRECTS:
                    self._save_body(response, file, address, deadline)
                    return response.headers.get("Content-Type", "")
                url = urljoin(url, response.headers.get("Location", ""))
            if not is_fetchable(url):
                raise _fetch_error(address, "it redirects to an address that is not http or https")
        raise _fetch_error(address, f"it redirects more than {MAX_REDIRECTS} times")

    def _save_body(self, response: urllib3.HTTPResponse, file: BinaryIO, address: str, deadline: Deadline) -> None:
        """Copy the body. A deadline that passes may look like the end of the body: check it at the end."""
        if response.status != 200:
            raise _fetch_error(address, f"the server answers {response.status}")
        too_large = _fetch_error(address, f"it has more than {self._max_bytes} bytes")
        if (response.length_remaining or 0) > self._max_bytes:
            raise too_large
        length = 0
        while piece := _read_piece(response, address, deadline):
            length += len(piece)
            if length > self._max_bytes:
                raise too_large
            try:
                file.write(piece)
            except OSError as error:
                raise _no_room_error() from error
        if deadline.has_passed:
            raise TimeoutError
        try:
            file.flush()
        except OSError as error:
            raise _no_room_error() from error


def _read_piece(response: urllib3.HTTPResponse, address: str, deadline: Deadline) -> bytes:
    try:
        # not ``read``, which takes a chunk of length -1 for an endless one and holds it in memory
        return response.read1(_PIECE_BYTES)
    except CONNECTION_ERRORS as error:
        if deadline.has_passed:
            raise
        raise _fetch_error(address, "the connection ended before the file") from error


def _fetch_error(address: str, reason: str) -> UploadError:
    return UploadError(f"a table cannot be fetched from {address[:200]}: {reason}")


def _no_room_error() -> ServiceUnavailable:
    return ServiceUnavailable("the service does not have enough disk space for a fetched table. Try again later")
