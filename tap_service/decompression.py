"""Decompressors of single gzip members and zstd frames, for request bodies and table files."""

from __future__ import annotations

import sys
from typing import Protocol, cast

from isal import igzip_lib

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd


class Member(Protocol):
    """Decompresses a member of gzip, a frame of zstd, or a stream of bzip2 or xz, as ``bz2`` and ``lzma`` do."""

    @property
    def eof(self) -> bool:
        """Whether the end of the member has been reached."""

    @property
    def needs_input(self) -> bool:
        """Whether ``decompress`` needs more data before it can return more bytes."""

    @property
    def unused_data(self) -> bytes:
        """The data after the end of the member."""

    def decompress(self, data: bytes, max_length: int) -> bytes:
        """Decompress the next part of the member.

        Parameters
        ----------
        data : bytes
            Further compressed bytes, b"" if ``needs_input`` is False.
        max_length : int
            The maximum number of bytes to return.

        Returns
        -------
        bytes
            Decompressed bytes, possibly none.

        Raises
        ------
        Exception
            One of BROKEN_DATA, or an error of ``bz2`` or ``lzma``: the data are broken.
        """


#: errors of the decompressors about corrupt data
BROKEN_DATA = (cast("type[Exception]", igzip_lib.IsalError), zstd.ZstdError)


def begin_gzip_member() -> Member:
    """Return the decompressor of a gzip member (RFC 1952), which verifies its checksum."""
    return igzip_lib.IgzipDecompressor(igzip_lib.DECOMP_GZIP)


def begin_zstd_frame(max_window_log: int | None = None) -> Member:
    """Return the decompressor of a zstd frame (RFC 8878).

    Parameters
    ----------
    max_window_log : int or None
        The largest window, as log2 of its bytes; None for zstd's own limit, 27.
    """
    if max_window_log is None:
        return zstd.ZstdDecompressor()
    return zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: max_window_log})
