"""A service whose file of registry metadata has so many collections that their records need two pages."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from lxml import etree
from sickle import Sickle

from clickhouse_schema.engine_tables.catalogue_log import read_catalogue
from clickhouse_schema.engine_tables.density_table import count_density, delete_density
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tests.tap_service.conftest import Served

COLLECTIONS = 25

_FILE = """
authority: test.example.org
publisher: Observatory <of> & Tests
contact: {name: The staff, email: staff@example.org}
creators: ["O'Tester, A."]
created: 2026-11-01
reference_url: https://example.org/?a=1&b=2
subjects: [proper-motions]
wavebands: [Optical, X-ray]
rights: {uri: "https://spdx.org/licenses/CC0-1.0.html"}
service: {title: Tests in ADQL, short_name: Tests}
collections:
"""


class Registry:
    """A service with a registry, and the two files of it."""

    def __init__(self, served: Served, file: Path, state: Path) -> None:
        self.served = served
        self.file = file
        self.state = state
        self.url = f"{served.url}/oai"
        self.client = Sickle(self.url, timeout=60)

    def ask(self, **arguments: str) -> etree._Element:
        """Return the root of the answer, which is an answer of OAI-PMH."""
        return parse_answer(httpx.get(self.url, params=arguments, timeout=60, verify=False))

    def list_headers(self, **arguments: str) -> dict[str, tuple[str, bool]]:
        """Harvest identifiers with their datestamps, and whether they are deleted."""
        found = self.client.ListIdentifiers(metadataPrefix="ivo_vor", **arguments)
        return {header.identifier: (header.datestamp, header.deleted) for header in found}

    def set_time(self, identifier: str, unix_time: int) -> None:
        """Change when a record was changed: the tests need not wait."""
        connection = sqlite3.connect(self.state)
        with connection:
            connection.execute("UPDATE record SET changed = ? WHERE identifier = ?", (unix_time, identifier))
        connection.close()


def parse_answer(response: httpx.Response) -> etree._Element:
    assert response.status_code == 200, response.text
    assert response.headers["content-type"].partition(";")[0] == "text/xml"
    return etree.fromstring(response.content)


def write_file(path: Path, collections: int = COLLECTIONS) -> Path:
    path.write_text(
        _FILE
        + "".join(
            f"  - {{id: part/{number}, schema: svc, tables: [stars], title: Part {number}, temporal: [50000, 51000.5]}}\n"
            for number in range(collections)
        )
        + "  - {id: numbers, schema: svc, title: Everything}\n  - {id: gone, schema: nowhere, title: Nothing}\n"
    )
    return path


@pytest.fixture(scope="module")
def counted_stars(svc_engine: EmbeddedEngine) -> Iterator[None]:
    """svc.stars has counts in cells, as after a load."""
    entry = read_catalogue(svc_engine).find_entry("svc", "stars")
    assert entry is not None
    count_density(svc_engine, "svc", entry.table)
    yield
    delete_density(svc_engine, "svc", "stars")


@pytest.fixture(scope="module")
def serve_registry(
    serve: Callable[..., Served], counted_stars: None, tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., Registry]:
    """Start a service with these settings and a registry."""

    def start(file: Path | None = None, state: Path | None = None, **settings: Any) -> Registry:
        folder = tmp_path_factory.mktemp("registry")
        file = file or write_file(folder / "registry.yaml")
        state = state or folder / "registry.sqlite"
        served = serve(registry=file, registry_state=state, public_url="https://example.org/sky", **settings)
        return Registry(served, file, state)

    return start


@pytest.fixture(scope="module")
def registry(serve_registry: Callable[..., Registry]) -> Registry:
    return serve_registry()
