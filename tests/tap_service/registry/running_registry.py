"""A service with a registry."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import httpx
from lxml import etree
from sickle import Sickle

from tests.support.running_service import RunningService


class Registry:
    """A service with a registry, and its two files."""

    def __init__(self, served: RunningService, file: Path, state: Path) -> None:
        self.served = served
        self.file = file
        self.state = state
        self.url = f"{served.url}/oai"
        self.client = Sickle(self.url, timeout=60)

    def ask(self, **arguments: str) -> etree._Element:
        """Return the root of the answer, which must be an answer of OAI-PMH."""
        return parse_answer(httpx.get(self.url, params=arguments, timeout=60, verify=False))

    def list_headers(self, **arguments: str) -> dict[str, tuple[str, bool]]:
        """Harvest identifiers with their datestamps, and whether they are deleted."""
        found = self.client.ListIdentifiers(metadataPrefix="ivo_vor", **arguments)
        return {header.identifier: (header.datestamp, header.deleted) for header in found}

    def set_time(self, identifier: str, unix_time: int) -> None:
        """Set the time of change of a record, so that the tests need not wait."""
        connection = sqlite3.connect(self.state)
        with connection:
            connection.execute("UPDATE record SET changed = ? WHERE identifier = ?", (unix_time, identifier))
        connection.close()


def parse_answer(response: httpx.Response) -> etree._Element:
    assert response.status_code == 200, response.text
    assert response.headers["content-type"].partition(";")[0] == "text/xml"
    return etree.fromstring(response.content)
