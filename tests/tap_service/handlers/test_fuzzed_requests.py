"""No parameters, body or path of a request cause a 5xx.

``make fuzz`` tries many more, different ones each time: see ``tests/adql/test_fuzz.py``.
"""

from __future__ import annotations

import os
import random
import time
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from tests.adql.fuzz_queries import EXTREMES, REFUSED, Fuzzer

_EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "0"))
_SEED = int(os.environ.get("FUZZ_SEED", time.time_ns() if _EXAMPLES else "0"))
_REQUESTS = 250

#: Characters of a parameter in a URL
_LONGEST = 3000

_TEXTS = ("", " ", "a", "é", "\U0001f52d", "\0", "\r\nX: y", "..", "../../etc/passwd", "%00", "%", "&=", "<x>&", "'", '"', "x" * 3000, "\ud800")  # fmt: skip
_NUMBERS = tuple(text.strip("()") for kind in ("integer", "real") for text in (*EXTREMES[kind], *REFUSED[kind]))
_INSTANTS = ("2020", "20200101", "2020-W01", "2020-01-01T00:00:00Z", "9999-12-31T23:59:59.9999999Z", "0000-00-00", "2020-02-30", "2020-01-01T24:00:00", "-2020", "2020-01-01T00:00:00+25:00", "10000-01-01", "now")  # fmt: skip
_QUERIES = (
    "SELECT TOP 2 * FROM svc.stars", "SELECT TOP 1 n FROM svc.numbers WHERE n < 0", "SELECT * FROM TAP_UPLOAD.mine", "SELECT", "",
    "SELECT POINT(ra, dec) AS p, name FROM svc.stars WHERE id < 3", "SELECT id, COUNT(*) AS n FROM svc.stars WHERE id < 3 GROUP BY id",
)  # fmt: skip
_FORMATS = ("csv", "tsv", "votable", "votable/b", "votable/td", "fits", "parquet", "arrow", "json", "ecsv", "html", "text", "application/x-votable+xml; serialization=BINARY2", ";", "text/csv;header=maybe", "*/*")  # fmt: skip
_UPLOADS = ("mine,param:part", "mine,param:gone", "mine,http://127.0.0.1:1/x", "mine,file:///etc/passwd", "mine", ",", "mine,", "a b,param:part", "mine,param:part;mine,param:part", "TAP_SCHEMA.x,param:part", "mine,vos://x", "mine,http://[::1")  # fmt: skip

#: Values to try for each parameter, in addition to the texts and numbers for all parameters
_PARAMETERS: dict[str, tuple[str, ...]] = {
    "LANG": ("ADQL", "ADQL-2.1", "adql-2.0", "PQL"),
    "REQUEST": ("doQuery", "getCapabilities"),
    "MAXREC": ("0", "1", "10"),
    "FORMAT": _FORMATS,
    "RESPONSEFORMAT": _FORMATS,
    "UPLOAD": _UPLOADS,
    "RUNID": ("run",),
    "PHASE": ("RUN", "ABORT", "ARCHIVE", "PENDING"),
    "EXECUTIONDURATION": ("0", "10"),
    "DESTRUCTION": _INSTANTS,
    "ACTION": ("DELETE",),
    "REUSE": ("1",),
    "order": ("0", "5", "29", "30"),
    "AFTER": _INSTANTS,
    "LAST": ("0", "1"),
    "WAIT": ("0",),
    "detail": ("min", "max"),
}
_PATHS = ("sync", "sync", "async", "estimate", "tables", "tables/svc.stars", "tables/svc.stars/density", "tables/{}", "tables/{}/density", "async/{}", "async/{}/phase", "async/{}/results/result", "capabilities", "availability", "examples", "mydb", "mydb/{}", "{}", "{}/{}")  # fmt: skip
_PARTS_OF_JOBS = ("", "/phase", "/parameters", "/executionduration", "/destruction", "/error", "/results", "/results/result", "/quote", "/owner", "/jobinfo", "/{}")  # fmt: skip
_KINDS = ("application/x-www-form-urlencoded", "multipart/form-data; boundary=b", "multipart/form-data", "text/xml", "application/json", "a/b; charset=\u00e9", "")  # fmt: skip


class Requests:
    """Random requests; the same seed gives the same ones."""

    def __init__(self, dice: random.Random) -> None:
        self.dice = dice

    def value(self, name: str) -> str:
        chance = self.dice.random()
        if name == "QUERY":
            return self.dice.choice(_QUERIES) if chance < 0.6 else Fuzzer(self.dice).make_text()
        pools = (_PARAMETERS[name], _PARAMETERS[name], _TEXTS, _NUMBERS)
        return self.dice.choice(self.dice.choice(pools)) if chance < 0.95 else Fuzzer(self.dice).make_text()

    def parameters(self) -> list[tuple[str, str]]:
        names = self.dice.sample(list(_PARAMETERS), self.dice.choice((0, 1, 1, 2, 4)))
        if self.dice.random() < 0.8:
            names.append("QUERY")
        names += names[: self.dice.random() < 0.1]
        return [(self.dice.choice((name, name, name.lower())), self.value(name)) for name in names]

    def path(self, template: str) -> str:
        while "{}" in template:
            template = template.replace(
                "{}", quote(self.dice.choice((*_TEXTS, *_NUMBERS)), safe="", errors="replace"), 1
            )
        return template

    def options(self, method: str) -> dict[str, Any]:
        """A query string, a form, a form with a file, or a body of another type."""
        pairs = [(name, value.encode(errors="replace")) for name, value in self.parameters()]
        chance = self.dice.random()
        if method in ("GET", "HEAD", "DELETE") or chance < 0.1:
            return {"params": [(name, value.decode(errors="replace")[:_LONGEST]) for name, value in pairs]}
        if chance < 0.7:
            return {"data": dict(pairs)}
        if chance < 0.85:
            content = self.dice.choice(
                (b"", b"a,b\n1,2\n", b"<VOTABLE/>", b"\0" * 100, b"PAR1PAR1", b"SIMPLE  =", bytes(range(256)))
            )
            return {"data": dict(pairs), "files": {"part": ("x", content)}}
        return {
            "content": self.dice.randbytes(self.dice.randrange(200)) + b"&".join(b"=".join((n.encode(), v)) for n, v in pairs),
            "headers": {"Content-Type": self.dice.choice(_KINDS).encode()},
        }  # fmt: skip


@pytest.fixture(scope="module")
def client() -> Any:
    with httpx.Client(timeout=100, verify=False) as client:
        yield client


def test_no_request_causes_a_5xx(service: Any, client: httpx.Client) -> None:
    created: list[str] = []
    found = []
    for number in range(_SEED, _SEED + (_EXAMPLES or _REQUESTS)):
        dice = random.Random(number)
        requests = Requests(dice)
        method = dice.choice(("GET", "POST", "POST", "POST", "HEAD", "PUT", "DELETE"))
        if created and dice.random() < 0.4:
            url = dice.choice(created) + requests.path(dice.choice(_PARTS_OF_JOBS))
        else:
            url = f"{service.tap}/{requests.path(dice.choice(_PATHS))}"
        options = requests.options(method)
        answer = client.request(method, url, **options)
        if answer.status_code >= 500:
            found.append(
                f"{number}: {answer.status_code} {method} {url[:300]} {str(options)[:3000]}\n{answer.text[-300:]}"
            )
        elif answer.status_code == 303 and url.endswith("/async"):
            created.append(answer.headers["location"])
    for job in created:
        client.delete(job)
    assert found == []
