"""A plain HTTP client of /tap/async for tests."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import httpx

UWS = "{http://www.ivoa.net/xml/UWS/v1.0}"
NIL = "{http://www.w3.org/2001/XMLSchema-instance}nil"
HREF = "{http://www.w3.org/1999/xlink}href"

#: millions of rows, from a query that the engine computes one by one
ENDLESS = "SELECT a.n, b.half FROM svc.numbers AS a, svc.numbers AS b"
#: rows that take the engine longer than the serializers
LABORIOUS = f"{ENDLESS} WHERE {' + '.join(f'SIN(a.n + {i}) * COS(b.n + {i})' for i in range(12))} > -1000"
FINISHED = ("COMPLETED", "ERROR", "ABORTED")


def _send(method: str, url: str, **options: Any) -> httpx.Response:
    """Send a request without TLS verification: reading the certificates takes longer than most requests."""
    return httpx.request(method, url, verify=False, timeout=100, **options)


class Job:
    """A job, identified by its URL."""

    def __init__(self, url: str, auth: tuple[str, str] | None = None) -> None:
        self.url = url
        self.auth = auth

    def get(self, path: str = "", **options: Any) -> httpx.Response:
        return _send("GET", self.url + path, auth=self.auth, **options)

    def post(self, path: str = "", **data: Any) -> httpx.Response:
        return _send("POST", self.url + path, data=data, auth=self.auth)

    def run(self) -> Job:
        assert self.post("/phase", PHASE="RUN").status_code == 303
        return self

    def delete(self) -> httpx.Response:
        return _send("DELETE", self.url, auth=self.auth)

    @property
    def phase(self) -> str:
        return self.get("/phase").text

    @property
    def summary(self) -> ElementTree.Element:
        response = self.get()
        assert response.status_code == 200, response.text
        return ElementTree.fromstring(response.content)

    def element_text(self, name: str) -> str | None:
        """Return the text of an element of the job document, None if it is missing or nil."""
        return self.summary.findtext(UWS + name) or None

    @property
    def info(self) -> dict[str, str | None]:
        found = self.summary.find(f"{UWS}jobInfo/work")
        return {} if found is None else {part.tag: part.text for part in found}

    @property
    def message(self) -> str:
        return self.summary.findtext(f"{UWS}errorSummary/{UWS}message") or ""

    def wait_for_end(self) -> str:
        """Wait for the end with UWS 1.1 long polls; return the phase."""
        while True:
            answer = self.get(params={"WAIT": "-1"})
            assert answer.status_code == 200, answer.text
            phase = ElementTree.fromstring(answer.content).findtext(UWS + "phase")
            if phase in FINISHED:
                return phase

    def rows(self) -> str:
        answer = self.get("/results/result")
        assert answer.status_code == 200, answer.text
        return answer.text


def create_job(tap: str, query: str = "", auth: tuple[str, str] | None = None, **parameters: Any) -> Job:
    data = {"LANG": "ADQL", "QUERY": query, **parameters} if query else parameters
    response = _send("POST", tap + "/async", data=data, auth=auth)
    assert response.status_code == 303, response.text
    return Job(response.headers["location"], auth)
