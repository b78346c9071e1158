"""Parameters of DALI and TAP, read from pairs and from real requests of every form."""

from __future__ import annotations

import re
from typing import Any

import httpx
import pytest

from tap_service.constants import LANGUAGES
from tap_service.service_errors import ParameterError
from tap_service.services.queries.tap_parameters import read_tap_parameters

SELECT = "SELECT TOP 2 n FROM svc.numbers WHERE n < 2 ORDER BY n"
ROWS = "n\r\n0\r\n1\r\n"


def read(*pairs: tuple[str, str]) -> Any:
    return read_tap_parameters(pairs, 1000)


class TestReading:
    def test_names_have_no_case_and_unknown_ones_are_ignored(self) -> None:
        given = read(
            ("query", SELECT), ("Lang", "adql-2.0"), ("maxREC", "5"), ("RunId", "r1"), ("VERSION", "1.0"), ("x", "")
        )
        assert (given.query, given.language, given.maxrec, given.runid) == (SELECT, "ADQL-2.0", 5, "r1")

    @pytest.mark.parametrize("language", LANGUAGES)
    def test_languages(self, language: str, service: Any) -> None:
        answer = httpx.get(service.sync, params={"QUERY": SELECT, "LANG": language, "FORMAT": "csv"})
        assert (answer.status_code, answer.text) == (200, ROWS)

    def test_what_is_not_given(self) -> None:
        given = read(("QUERY", SELECT), ("MAXREC", ""), ("FORMAT", ""), ("UPLOAD", " "))
        assert (given.language, given.maxrec, given.runid, given.format.mime) == (
            "ADQL",
            None,
            "",
            "application/x-votable+xml",
        )

    @pytest.mark.parametrize("name", ["FORMAT", "RESPONSEFORMAT"])
    def test_both_names_of_the_format(self, name: str) -> None:
        assert read(("QUERY", SELECT), (name, "tsv")).format.extension == "tsv"
        assert read(("QUERY", SELECT), ("FORMAT", "csv"), ("RESPONSEFORMAT", "csv")).format.extension == "csv"
        assert read(("QUERY", SELECT), ("FORMAT", "csv"), ("RESPONSEFORMAT", "text/csv")).format.extension == "csv"

    @pytest.mark.parametrize(("given", "rows"), [("0", 0), ("007", 7), (" 12 ", 12), ("9" * 5000, 10**18 - 1)])
    def test_maxrec(self, given: str, rows: int) -> None:
        assert read(("QUERY", SELECT), ("MAXREC", given)).maxrec == rows

    @pytest.mark.parametrize(
        ("pairs", "said"),
        [
            ([], "QUERY is missing"),
            ([("QUERY", "  ")], "QUERY is missing"),
            ([("QUERY", "x" * 1001)], "1001 characters, and this service accepts at most 1000"),
            ([("QUERY", "SELECT '\ud800'")], "QUERY: character 9 is U+D800, half of a surrogate pair"),
            ([("QUERY", SELECT), ("RUNID", "\udfff")], "RUNID: character 1 is U+DFFF"),
            ([("QUERY", SELECT), ("query", SELECT)], "QUERY is given more than once"),
            ([("QUERY", SELECT), ("MAXREC", "1"), ("maxrec", "1")], "MAXREC is given more than once"),
            ([("QUERY", SELECT), ("MAXREC", "-1")], "MAXREC=-1 is not a number of rows"),
            ([("QUERY", SELECT), ("MAXREC", "1e3")], "MAXREC=1e3 is not a number of rows"),
            ([("QUERY", SELECT), ("MAXREC", "٣")], "is not a number of rows"),
            (
                [("QUERY", SELECT), ("LANG", "OOBLECK\x00")],
                "LANG=OOBLECK\N{REPLACEMENT CHARACTER}; the languages are: ADQL,",
            ),
            ([("QUERY", SELECT), ("REQUEST", "getCapabilities")], "give doQuery, or leave REQUEST out"),
            ([("QUERY", SELECT), ("FORMAT", "png")], "the formats are: votable"),
            ([("QUERY", SELECT), ("FORMAT", "csv"), ("RESPONSEFORMAT", "tsv")], "mean the same"),
            ([("QUERY", SELECT), ("UPLOAD", "t")], "UPLOAD takes a name and a location"),
            ([("QUERY", SELECT), ("UPLOAD", "t,")], "UPLOAD takes a name and a location"),
            ([("QUERY", SELECT), ("UPLOAD", "t,ftp://example.org/t.vot")], "cannot be fetched from ftp://example.org"),
            ([("QUERY", SELECT), ("UPLOAD", "t,file:///etc/passwd")], "give param:... or an http or https address"),
            ([("QUERY", SELECT), ("UPLOAD", "t,https://me:secret@example.org/t")], "cannot be fetched from https://me"),
            ([("QUERY", SELECT), ("UPLOAD", "t,http://example.org:99999/t")], "cannot be fetched from"),
            ([("QUERY", SELECT), ("UPLOAD", "t,param:file")], "no part file for table t (its parts: none)"),
            ([("QUERY", SELECT), ("UPLOAD", "t,param:a"), ("b", "x\n1")], "(its parts: b)"),
            ([("QUERY", SELECT), ("UPLOAD", "a.b,param:b"), ("b", "x\n1")], "a.b is not a valid table name"),
            ([("QUERY", SELECT), ("UPLOAD", '"t",param:b'), ("b", "x\n1")], "is not a valid table name"),
            ([("QUERY", SELECT), ("UPLOAD", "t,param:b;T,param:b"), ("b", "x\n1")], "two tables are called T"),
            (
                [("QUERY", SELECT), ("UPLOAD", ";".join(f"t{i},http://x/y" for i in range(21)))],
                "21 tables are too many",
            ),
        ],
    )
    def test_errors(self, pairs: list[tuple[str, str]], said: str) -> None:
        with pytest.raises(ParameterError, match=re.escape(said)):
            read(*pairs)

    @pytest.mark.parametrize(
        ("values", "expected"),
        [
            (["t,param:b"], [("t", "")]),
            (["TAP_UPLOAD.t , param:b"], [("t", "")]),
            (["t,http://x/a;b=1?c;d"], [("t", "http://x/a;b=1?c;d")]),
            (["t,param:b; u,https://x/a;v,HTTP://y:80/"], [("t", ""), ("u", "https://x/a"), ("v", "HTTP://y:80/")]),
            (["t,param:b", "u,http://x/"], [("t", ""), ("u", "http://x/")]),
        ],
    )
    def test_uploads(self, values: list[str], expected: list[tuple[str, str]]) -> None:
        given = read(("QUERY", SELECT), ("b", "x\n1"), *(("UPLOAD", value) for value in values))
        assert [(upload.name, upload.address) for upload in given.uploads] == expected


class TestRequests:
    @pytest.mark.parametrize(
        "request_of",
        [
            lambda url: httpx.get(url, params={"QUERY": SELECT, "FORMAT": "csv", "LANG": "ADQL"}),
            lambda url: httpx.post(url, data={"QUERY": SELECT, "FORMAT": "csv", "LANG": "ADQL"}),
            lambda url: httpx.post(url, files={"QUERY": (None, SELECT), "FORMAT": (None, "csv")}),
            lambda url: httpx.post(url, files={"QUERY": ("query.adql", SELECT, "text/plain"), "FORMAT": (None, "csv")}),
            lambda url: httpx.post(url, params={"FORMAT": "csv"}, data={"QUERY": SELECT}),
            lambda url: httpx.post(url, params={"FORMAT": "csv", "QUERY": SELECT}),
        ],
        ids=["get", "form", "multipart", "multipart with a file name", "both", "post without body"],
    )
    def test_every_way_to_ask(self, service: Any, request_of: Any) -> None:
        response = request_of(service.sync)
        assert response.status_code == 200, response.text
        assert response.text == ROWS

    def test_a_parameter_in_the_address_and_in_the_form_is_there_twice(self, service: Any) -> None:
        response = httpx.post(service.sync, params={"MAXREC": "1"}, data={"QUERY": SELECT, "MAXREC": "1"})
        assert response.status_code == 400
        assert "MAXREC is given more than once" in response.text

    @pytest.mark.parametrize(
        ("content", "content_type", "status", "said"),
        [
            (b"{}", "application/json", 400, "the Content-Type of a POST must be"),
            (b"x", "multipart/form-data", 400, "has no boundary"),
            (b"x", "multipart/form-data; boundary=b", 400, "is not valid multipart/form-data"),
            (
                b'--b\r\nContent-Disposition: form-data; name="QUERY"\r\n\r\nS',
                "multipart/form-data; boundary=b",
                400,
                "is truncated",
            ),
            (b"--b\r\nX-Y: z\r\n\r\nS\r\n--b--\r\n", "multipart/form-data; boundary=b", 400, "has no name"),
            (
                b'--b\r\nContent-Disposition: form-data; name="QUERY"\r\n\r\n\xff\r\n--b--\r\n',
                "multipart/form-data; boundary=b",
                400,
                "not UTF-8",
            ),
            (b"QUERY=%ff", "application/x-www-form-urlencoded", 400, "the body is not UTF-8"),
            (b"QUERY=\xff", "application/x-www-form-urlencoded", 400, "the body is not UTF-8"),
            (b"&".join([b"a=1"] * 1001), "application/x-www-form-urlencoded", 400, "more than 1000 parameters"),
        ],
    )
    def test_broken_bodies(self, service: Any, content: bytes, content_type: str, status: int, said: str) -> None:
        response = httpx.post(service.sync, content=content, headers={"Content-Type": content_type})
        assert response.status_code == status
        assert response.headers["content-type"] == "application/x-votable+xml"
        assert said in response.text

    def test_invalid_utf8_in_the_address(self, service: Any) -> None:
        response = httpx.get(service.sync + "?QUERY=SELECT%20%C3%28")
        assert response.status_code == 400
        assert "the query string is not UTF-8" in response.text
