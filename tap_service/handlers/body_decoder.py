"""Decompress the bodies of requests by Content-Encoding (RFC 9110, section 8.4): gzip or zstd."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from fastapi import Request

from tap_service.decompression import BROKEN_DATA, Member, begin_gzip_member, begin_zstd_frame
from tap_service.models.client import find_network
from tap_service.service_errors import ParameterError, TooManyUploads, UnknownEncoding

#: header Accept-Encoding of a refusal
ACCEPTED_ENCODINGS = "gzip, zstd"

#: maximum number of bytes that one step of decompression returns
_PIECE_BYTES = 1 << 18

#: the largest window of zstd as log2 of its bytes, the size that RFC 9659 requires
_MAX_WINDOW_LOG = 23
#: maximum number of compressed bodies of one client at once: each may need memory for a window
_MAX_OF_CLIENT = 16

#: maximum number of gzip members or zstd frames, and the bytes that permit one more: an empty member also takes time
_MAX_MEMBERS = 1000
_BYTES_PER_MEMBER = 1000

_by_client: Counter[str] = Counter()


_MEMBERS: dict[str, Callable[[], Member]] = {
    "gzip": begin_gzip_member,
    "zstd": partial(begin_zstd_frame, _MAX_WINDOW_LOG),
}


class BodyDecoder:
    """Decompresses one body.

    Parameters
    ----------
    encoding : str
        An encoding that ``find_encoding`` returns: ``gzip`` or ``zstd``.
    """

    def __init__(self, encoding: str) -> None:
        self._encoding = encoding
        self._member: Member | None = None
        self._members = 0
        self._bytes = 0

    def decode(self, data: bytes) -> Iterator[bytes]:
        """Decompress the next bytes.

        Parameters
        ----------
        data : bytes
            The next compressed bytes, cut anywhere.

        Yields
        ------
        bytes
            Pieces of the body, never empty.

        Raises
        ------
        ParameterError
            The data are corrupt, need a larger window, or consist of too many members.
        """
        while data or self._member is not None:
            member = self._member = self._member or self._begin_member()
            try:
                piece = member.decompress(data, _PIECE_BYTES)
            except BROKEN_DATA as error:
                hint = "; use level 19 or lower, without --long" if "memory" in str(error) else ""
                raise ParameterError(
                    f"the body cannot be decompressed with {self._encoding}, its Content-Encoding: {error}{hint}"
                ) from error
            self._bytes += len(piece)
            if piece:
                yield piece
            data = b""
            if member.eof:
                data, self._member = member.unused_data, None
            elif member.needs_input:
                return

    def finish(self) -> None:
        """Raise ParameterError if the body is truncated."""
        if self._member is not None:
            raise ParameterError(
                f"the body ends in the middle of its {self._encoding} data, or has other bytes after it: send it again"
            )

    def _begin_member(self) -> Member:
        self._members += 1
        if self._members > _MAX_MEMBERS + self._bytes // _BYTES_PER_MEMBER:
            raise ParameterError(
                f"the body consists of too many small pieces of {self._encoding} data: compress it as one piece"
            )
        return _MEMBERS[self._encoding]()


def find_encoding(request: Request) -> str:
    """Return the content encoding of the body of a request.

    Returns
    -------
    str
        ``gzip`` or ``zstd``, '' if the body is not compressed.

    Raises
    ------
    UnknownEncoding
        The body has another encoding, or several.
    """
    header = ",".join(request.headers.getlist("content-encoding")).lower()
    names = [name.removeprefix("x-") for each in header.split(",") if (name := each.strip()) not in ("", "identity")]
    if not names:
        return ""
    if len(names) > 1 or names[0] not in _MEMBERS:
        raise UnknownEncoding(
            f"the Content-Encoding {', '.join(names)[:60]!r} of the body is not supported: "
            f"use one of {ACCEPTED_ENCODINGS}, or send the body uncompressed",
            ACCEPTED_ENCODINGS,
        )
    return names[0]


@contextmanager
def count_compressed_body(client: str) -> Iterator[None]:
    """Count a compressed body of a client while it arrives.

    Parameters
    ----------
    client : str
        The address of the client.

    Raises
    ------
    TooManyUploads
        The client is already sending the maximum number of compressed bodies.
    """
    network = find_network(client)
    if _by_client[network] >= _MAX_OF_CLIENT:
        raise TooManyUploads(
            f"{network} is already sending {_MAX_OF_CLIENT} compressed bodies, the maximum: send this one later, "
            "or without Content-Encoding"
        )
    _by_client[network] += 1
    try:
        yield
    finally:
        _by_client[network] -= 1
        if not _by_client[network]:
            del _by_client[network]
