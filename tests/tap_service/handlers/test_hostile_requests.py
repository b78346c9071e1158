"""Attacks are refused with a clear message or answered as ADQL; they never reach the engine or stop the service."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest

SELECT = "SELECT TOP 1 n FROM svc.numbers"

#: represents a file in the test's folder
OUTFILE = "/outfile"

#: each would have an effect in ClickHouse; none is ADQL
NOT_ADQL = [
    "SELECT * FROM file('/etc/passwd')",
    "SELECT file('/etc/passwd') FROM svc.numbers",
    "SELECT * FROM url('http://127.0.0.1:1/', CSV, 'x String')",
    "SELECT * FROM numbers(10)",
    "SELECT * FROM remote('127.0.0.1', system.one)",
    "SELECT * FROM system.tables",
    'SELECT * FROM "system"."processes"',
    "SELECT * FROM skyhouse.catalogue",
    "SELECT * FROM information_schema.tables",
    "SELECT * FROM svc.numbers; DROP TABLE svc.numbers",
    "DROP TABLE svc.numbers",
    "INSERT INTO svc.numbers VALUES (1, 2, 'x')",
    "KILL QUERY WHERE 1 = 1",
    "SYSTEM SHUTDOWN",
    "SET max_memory_usage = 1",
    f"{SELECT} SETTINGS max_memory_usage = 0",
    f"{SELECT} FORMAT Native",
    f"{SELECT} INTO OUTFILE '{OUTFILE}'",
    "SELECT {x:String} FROM svc.numbers",
    "SELECT $1 FROM svc.numbers",
    "SELECT sleep(3) FROM svc.numbers",
    "SELECT version() FROM svc.numbers",
    "SELECT currentUser() FROM svc.numbers",
    "SELECT getSetting('max_threads') FROM svc.numbers",
    "SELECT dictGet('d', 'a', 1) FROM svc.numbers",
    "SELECT throwIf(1) FROM svc.numbers",
    "SELECT `n` FROM svc.numbers",
    "SELECT n FROM svc.numbers /* comment */ WHERE n = 1",
    "SELECT n FROM svc.numbers # comment",
    "SELECT n FROM svc.numbers ARRAY JOIN [1,2] AS x",
    "SELECT n FROM svc.numbers PREWHERE n = 1",
    "SELECT n FROM svc.numbers SAMPLE 0.1",
    "SELECT n FROM svc.numbers AS a FINAL",
    "SELECT n FROM svc.numbers LIMIT 1",
    "SELECT n::String FROM svc.numbers",
    "SELECT x -> 1 FROM svc.numbers",
    "SELECT COLUMNS('.*') FROM svc.numbers",
    "SELECT _part FROM svc.numbers",
    'SELECT "n` FROM svc.numbers UNION ALL SELECT 1 --" FROM svc.numbers',
    "SELECT * FROM merge('svc', '.*')",
    "SELECT (SELECT * FROM file('/etc/passwd')) FROM svc.numbers",
    "EXPLAIN SELECT 1",
    "SHOW TABLES",
    "",
    "\\",
    "'",
    '"',
    "SELECT",
    "SELECT 0x41 FROM svc.numbers WHERE",
]


@pytest.mark.parametrize("query", NOT_ADQL)
def test_other_languages_are_refused(service: Any, tmp_path: Path, query: str) -> None:
    file = tmp_path / "outfile"
    response = service.ask(query.replace(OUTFILE, str(file)))
    assert response.status_code == 400
    assert response.headers["content-type"] == "application/x-votable+xml"
    assert 'value="ERROR"' in response.text
    assert "DB::Exception" not in response.text
    assert not file.exists()


@pytest.mark.parametrize(
    "text",
    [
        "\\",
        "\\'",
        "\\\\",
        "a\\",
        "'' OR 1=1",
        "\\x41\\n\\0",
        "{x:String}",
        "${HOME}",
        "`",
        '"',
        "-- no comment",
        "/* none */",
        ";",
        "\N{SNOWMAN}\N{PILE OF POO}",
        "\t\n",
        "<a>&amp;</a>",
    ],
)
def test_text_in_a_literal_stays_text(service: Any, text: str) -> None:
    literal = text.replace("'", "''")
    response = service.ask(f"SELECT '{literal}' AS x FROM svc.numbers WHERE n = 1", FORMAT="csv")
    assert response.status_code == 200, response.text
    stripped = response.content.decode().removeprefix("x\r\n").removesuffix("\r\n")
    quoted = text.replace('"', '""')
    assert stripped in (text, f'"{quoted}"')


@pytest.mark.parametrize("name", ["a`b", "a\\", "a' OR '1", "; DROP", "{x:Int8}", "c0", "_part"])
def test_names_in_double_quotes_stay_names(service: Any, name: str) -> None:
    response = service.ask(f'SELECT n AS "{name}" FROM svc.numbers WHERE n = 3 ORDER BY "{name}"', FORMAT="csv")
    assert (response.status_code, response.text) == (200, f"{name}\r\n3\r\n")


def test_line_comments_are_adql(service: Any) -> None:
    response = service.ask("SELECT n -- FORMAT Native\nFROM svc.numbers WHERE n = 1 -- INTO OUTFILE 'x'", FORMAT="csv")
    assert response.text == "n\r\n1\r\n"


@pytest.mark.parametrize(
    "query",
    [
        "(" * 10_000 + "SELECT 1" + ")" * 10_000,
        "SELECT " + "(" * 10_000 + "n" + ")" * 10_000 + " FROM svc.numbers",
        "SELECT n FROM svc.numbers WHERE " + "NOT " * 10_000 + "n = 1",
        "SELECT " + "-" * 9_999 + " 1 FROM svc.numbers",
        "SELECT " + "ABS(" * 10_000 + "n" + ")" * 10_000 + " FROM svc.numbers",
        "SELECT * FROM " + "(SELECT * FROM " * 10_000 + "svc.numbers" + ") AS t" * 10_000,
    ],
    ids=["queries", "parentheses", "not", "signs", "functions", "subqueries"],
)
def test_nesting(service: Any, query: str) -> None:
    response = service.ask(query)
    assert response.status_code == 400
    assert 'value="ERROR"' in response.text


def test_long_queries(service: Any) -> None:
    megabyte = "SELECT n FROM svc.numbers WHERE n IN (" + "1, " * 350_000 + "1)"
    response = service.ask(megabyte)
    assert response.status_code == 400
    assert f"the query has {len(megabyte)} characters, and this service accepts at most 500000" in response.text
    allowed = "SELECT n FROM svc.numbers WHERE n IN (" + "1," * 50_000 + "1)"
    assert service.ask(allowed, FORMAT="csv").text == "n\r\n1\r\n"


PART = b'--b\r\nContent-Disposition: form-data; name="QUERY"\r\n\r\n'


def test_oversized_bodies_are_refused(service: Any) -> None:
    for content, kind in (
        (b"QUERY=" + b"x" * 20_000_000, "application/x-www-form-urlencoded"),
        (PART + b"x" * 20_000_000 + b"\r\n--b--\r\n", "multipart/form-data; boundary=b"),
    ):
        response = httpx.post(service.sync, content=content, headers={"Content-Type": kind}, timeout=30)
        assert response.status_code == 413
        assert "the limit of this service" in response.text


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b'--b\r\nContent-Disposition: form-data; name="x"\r\n\r\n\r\n' * 2000 + b"--b--\r\n", "more than 1000 parts"),
        (b"--b\r\n" + b"X: y\r\n" * 10_000 + b"\r\n--b--\r\n", "is not valid multipart/form-data"),
        (b"--b\r\nX: " + b"y" * 1_000_000 + b"\r\n\r\n--b--\r\n", "is not valid multipart/form-data"),
    ],
    ids=["parts", "headers", "long header"],
)
def test_multipart_bombs(service: Any, body: bytes, said: str) -> None:
    response = httpx.post(service.sync, content=body, headers={"Content-Type": "multipart/form-data; boundary=b"})
    assert response.status_code == 400
    assert said in response.text


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("SELECT%00 n FROM svc.numbers", "U+0000"),
        ("SELECT '%00' FROM svc.numbers", "U+0000"),
        ("SELECT%ED%A0%80", "not UTF-8"),
        ("SELECT%FF", "not UTF-8"),
        ("SELECT%C0%80", "not UTF-8"),
        ("%EF%BB%BFSELECT TOP 1 n FROM svc.numbers", "U+FEFF"),
    ],
)
def test_bytes_that_are_not_utf8(service: Any, query: str, said: str) -> None:
    response = httpx.get(f"{service.sync}?QUERY={quote(query, safe='%')}")
    assert response.status_code == 400
    assert said in response.text


@pytest.mark.parametrize("name", ["..%2f..%2fetc%2fpasswd", "%00", "svc.stars%27", "%3Cscript%3E", "a" * 5000])
def test_hostile_table_names_in_the_path(service: Any, name: str) -> None:
    response = httpx.get(f"{service.tap}/tables/{name}")
    assert response.status_code == 404
    assert "<script>" not in response.text


def test_many_headers(service: Any) -> None:
    answer = service.raw(b"GET /tap/availability HTTP/1.1\r\nHost: x\r\n" + b"X-A: b\r\n" * 200_000 + b"\r\n")
    assert answer.startswith(b"HTTP/1.1 431 ")


def test_values_of_headers_do_not_reach_documents_unescaped(service: Any) -> None:
    answer = service.raw(b'GET /tap/capabilities HTTP/1.1\r\nHost: x"><evil/>\r\nConnection: close\r\n\r\n')
    assert b"<evil/>" not in answer


def test_the_service_still_works(service: Any) -> None:
    assert service.ask(SELECT, FORMAT="csv").status_code == 200
