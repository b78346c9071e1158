"""Connections to other servers by urllib3, with a limit of time for the complete head of each answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import urllib3
from urllib3.connection import HTTPConnection, HTTPSConnection

from tap_service.constants import PRODUCT
from tap_service.deadline import Deadline


class _HttpConnection(HTTPConnection):
    def getresponse(self) -> urllib3.HTTPResponse:  # type: ignore[override]  # as of its base class
        with _limit_head(self):
            return super().getresponse()


class _HttpsConnection(HTTPSConnection):
    def getresponse(self) -> urllib3.HTTPResponse:  # type: ignore[override]  # as of its base class
        with _limit_head(self):
            return super().getresponse()


class _HttpPool(urllib3.HTTPConnectionPool):
    ConnectionCls = _HttpConnection


class _HttpsPool(urllib3.HTTPSConnectionPool):
    ConnectionCls = _HttpsConnection


@contextmanager
def _limit_head(connection: HTTPConnection) -> Iterator[None]:
    """Raise TimeoutError unless the complete head of an answer arrives within the read time-out."""
    assert connection.timeout is not None  # noqa: S101  it is that of ``open_pool``
    with Deadline(connection.timeout) as deadline, deadline.cut_connection(connection.sock):
        try:
            yield
        finally:
            if deadline.has_passed:  # a head that was cut may look complete
                raise TimeoutError


def open_pool(
    max_connections: int, connect_seconds: float, silence_seconds: float, headers: Mapping[str, str] | None = None
) -> urllib3.PoolManager:
    """Return connections that repeat nothing by themselves and ask for bodies as they are.

    Parameters
    ----------
    max_connections
        Connections to one server that are kept.
    connect_seconds
        Limit for a connection.
    silence_seconds
        Limit for the head of an answer, and between two pieces of its body.
    headers
        Sent with each request, besides User-Agent and Accept-Encoding.
    """
    pool = urllib3.PoolManager(
        maxsize=max_connections,
        retries=False,
        timeout=urllib3.Timeout(connect=connect_seconds, read=silence_seconds),
        headers={"User-Agent": PRODUCT, "Accept-Encoding": "identity", **(headers or {})},
    )
    pool.pool_classes_by_scheme = {"http": _HttpPool, "https": _HttpsPool}
    return pool
