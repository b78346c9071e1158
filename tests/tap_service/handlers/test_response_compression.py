"""Compressed responses: the encoding, the exceptions, and interrupted transfers."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from tap_service.handlers.compress_responses import choose_encoding, zstd
from tests.tap_service.async_client import LABORIOUS, create_job

QUERY = "SELECT n, word FROM svc.numbers WHERE n < 40000 ORDER BY n"
UNPACK: dict[str, Callable[[bytes], bytes]] = {"gzip": gzip.decompress, "zstd": zstd.decompress}


@pytest.mark.parametrize(
    ("header", "encoding"),
    [
        ("", ""),
        ("gzip, deflate, br, zstd", "zstd"),
        ("gzip, deflate", "gzip"),
        ("x-gzip", "gzip"),
        ("GZIP;Q=0.5, zstd;q=0.1", "gzip"),
        ("gzip ; q = 0.5 , zstd ; q=0.5", "zstd"),
        ("*", "zstd"),
        ("zstd;q=0, *;q=0.3", "gzip"),
        ("gzip;q=0, zstd;q=0", ""),
        ("identity, gzip;q=0.5", ""),
        ("gzip;q=abc", ""),
        ("gzip;q=nan", ""),
        ("br, deflate", ""),
        (",;=,;q=1,\xe9", ""),
    ],
)
def test_accept_encoding(header: str, encoding: str) -> None:
    assert choose_encoding(header) == encoding


def packed(method: str, url: str, encoding: str, **options: Any) -> tuple[httpx.Response, bytes]:
    """Return the response and its raw bytes."""
    with httpx.stream(method, url, headers={"Accept-Encoding": encoding}, timeout=60, **options) as response:
        return response, b"".join(response.iter_raw())


@pytest.mark.parametrize("form", ["votable", "votable/td", "csv", "fits", "arrow", "json"])
@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
def test_sync(service: Any, form: str, encoding: str) -> None:
    data = {"QUERY": QUERY, "FORMAT": form}
    _, plain = packed("POST", service.sync, "identity", data=data)
    response, body = packed("POST", service.sync, encoding, data=data)
    assert response.headers["content-encoding"] == encoding
    assert "Accept-Encoding" in response.headers["vary"]
    assert timeless(UNPACK[encoding](body)) == timeless(plain)
    assert len(body) < len(plain) / 2


def timeless(document: bytes) -> bytes:
    """Remove the date of the request and its duration."""
    return re.sub(rb'\d{4}-\d\d-\d\dT[\d:.]+Z|(?<=execution_seconds)" ?(value=|:)"? ?[\d.]+', b"", document)


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
def test_the_result_of_a_job(service: Any, encoding: str) -> None:
    job = create_job(service.tap, QUERY, FORMAT="csv", PHASE="RUN")
    assert job.wait_for_end() == "COMPLETED"
    url = job.url + "/results/result"
    whole, plain = packed("GET", url, "identity")
    assert whole.headers["accept-ranges"] == "bytes"
    assert "Accept-Encoding" in whole.headers["vary"]
    response, body = packed("GET", url, encoding)
    assert UNPACK[encoding](body) == plain
    assert response.headers["etag"] == f"W/{whole.headers['etag']}"
    assert not {"content-length", "accept-ranges"} & response.headers.keys()
    known = httpx.get(url, headers={"If-None-Match": response.headers["etag"]})
    assert (known.status_code, known.content) == (304, b"")
    part = httpx.get(url, headers={"Range": "bytes=0-9", "Accept-Encoding": encoding})
    assert (part.status_code, part.content) == (206, plain[:10])
    assert "content-encoding" not in part.headers
    job.delete()


def test_responses_that_are_not_compressed(service: Any) -> None:
    data = {"QUERY": QUERY, "FORMAT": "parquet"}
    assert "content-encoding" not in packed("POST", service.sync, "gzip, zstd", data=data)[0].headers
    small, _ = packed("GET", service.tap + "/availability", "gzip")
    assert "content-encoding" not in small.headers
    assert int(small.headers["content-length"]) < 1000
    error, _ = packed("POST", service.sync, "gzip", data={"QUERY": "SELECT " + "x, " * 1000 + "y FROM svc.numbers"})
    assert error.status_code == 400
    assert "content-encoding" not in error.headers


def test_documents_are_compressed(service: Any) -> None:
    response, body = packed("GET", service.tap + "/capabilities", "gzip")
    assert gzip.decompress(body) == httpx.get(service.tap + "/capabilities").content
    assert "content-length" not in response.headers


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
def test_an_interrupted_result_is_detected(serve: Callable[..., Any], encoding: str) -> None:
    """Both the transfer and the compressed bytes are incomplete."""
    patient = serve(sync_seconds=1000, hard_maxrec=10**9)
    data = {"QUERY": LABORIOUS, "FORMAT": "csv", "MAXREC": "1000000000"}
    received: list[bytes] = []
    with httpx.stream("POST", patient.sync, data=data, headers={"Accept-Encoding": encoding}, timeout=60) as response:
        assert response.headers["content-encoding"] == encoding
        patient.set_time_limit(0)
        with pytest.raises(httpx.RemoteProtocolError):
            received.extend(response.iter_raw())
    unpacker = zlib.decompressobj(31) if encoding == "gzip" else zstd.ZstdDecompressor()
    assert unpacker.decompress(b"".join(received)).startswith(b"n,half\r\n")
    assert not unpacker.eof
