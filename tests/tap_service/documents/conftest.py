"""A described service, whose documents the tests validate, read with pyvo and inspect."""

from __future__ import annotations

from collections.abc import Iterator
from http.server import ThreadingHTTPServer

import pytest

from tests.servers.server_thread import run_server
from tests.tap_service.documents.described_service import make_documents
from tests.tap_service.documents.document_server import DocumentHandler


@pytest.fixture
def made() -> dict[str, bytes]:
    return make_documents("https://example.org/prefix/tap")


@pytest.fixture(scope="session")
def base_url() -> Iterator[str]:
    with run_server(ThreadingHTTPServer(("127.0.0.1", 0), DocumentHandler)) as server:
        yield f"http://127.0.0.1:{server.server_port}/tap"
