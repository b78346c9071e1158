"""Column names, units and descriptions with special meaning in a format: quotes, markup, keywords, line ends."""

from __future__ import annotations

import csv
import io
import json
import tempfile
from html.parser import HTMLParser
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from astropy.io import fits
from astropy.io.votable import parse
from astropy.table import Table

from clickhouse_schema.datatypes import INT, UNICODE, Field
from tap_service.serializers import ResultInfo

NAMES = [
    *(
        "select",
        "SELECT",
        "null",
        "true",
        "no",
        "1",
        "a b",
        " a ",
        "a,b",
        "it's",
        'say "x"',
        "back\\slash",
        "# x",
        "- y: z",
    ),
    *(
        "<script>alert(1)</script>",
        "&amp;",
        "%ECSV",
        "{x}",
        "é",
        "è",
        "𝄞",
        "tab\there",
        "line\nend",
        "cr\rx",
        "bell\x07",
        "x",
    ),
    *("END", "=1+1", "c" * 100, "x_2", "x", "X"),
]
FIELDS = [Field(name, INT, "deg", "", "", f"{name}: <b>&\n'\"") for name in NAMES]
COLUMNS = [[number] for number in range(len(NAMES))]
INFO = ResultInfo("SELECT '</pre><script>' -- \x07\n'", '<a href="x">', 3, ("]]>",), ("\u2028'",), ("&",))


@pytest.fixture
def document(request: Any, write: Any) -> bytes:
    return write(request.param, FIELDS, COLUMNS, info=INFO)


def told_apart(names: list[str]) -> bool:
    return len(set(names)) == len(NAMES)


@pytest.mark.parametrize("document", ["csv", "tsv"], indirect=True)
def test_separated(document: bytes) -> None:
    delimiter = "," if b"a b, a " in document or b'"a,b"' in document else "\t"
    quoting = csv.QUOTE_MINIMAL if delimiter == "," else csv.QUOTE_NONE
    names, values = csv.reader(io.StringIO(document.decode(), newline=""), delimiter=delimiter, quoting=quoting)
    assert told_apart(names)
    assert [int(value) for value in values] == list(range(len(NAMES)))
    if delimiter == ",":
        assert names[:-2] == NAMES[:-2]


@pytest.mark.parametrize("document", ["ecsv"], indirect=True)
def test_ecsv(document: bytes) -> None:
    table = Table.read(document.decode(), format="ascii.ecsv")
    assert told_apart(table.colnames)
    assert [table[name][0] for name in table.colnames] == list(range(len(NAMES)))
    assert table["a,b"].description == "a,b: <b>&\n'\""
    assert table.meta["query"] == INFO.query


@pytest.mark.filterwarnings("ignore:It is strongly recommended that column names contain only")
@pytest.mark.parametrize("document", ["fits"], indirect=True)
def test_fits(document: bytes) -> None:
    with fits.open(io.BytesIO(document)) as hdus:
        assert told_apart([name.lower() for name in hdus[1].columns.names])
        assert list(hdus[1].data[0]) == list(range(len(NAMES)))


@pytest.mark.parametrize("document", ["parquet"], indirect=True)
def test_parquet(document: bytes) -> None:
    with tempfile.NamedTemporaryFile(suffix=".parquet") as file:
        file.write(document)
        file.flush()
        rows = duckdb.sql(f"SELECT * FROM '{file.name}'")
        assert told_apart([name.lower() for name in rows.columns])
        assert rows.fetchall() == [tuple(range(len(NAMES)))]


@pytest.mark.parametrize("document", ["arrow"], indirect=True)
def test_arrow(document: bytes) -> None:
    table = pa.ipc.open_stream(document).read_all()
    assert told_apart(table.column_names)
    assert table.to_pylist() == [dict(zip(table.column_names, range(len(NAMES)), strict=True))]


@pytest.mark.parametrize("document", ["json"], indirect=True)
def test_json(document: bytes) -> None:
    whole = json.loads(document)
    assert [column["name"] for column in whole["columns"]] == NAMES
    assert whole["metadata"]["query"] == INFO.query


@pytest.mark.parametrize("document", ["votable/td", "votable/b2"], indirect=True)
def test_votable(document: bytes) -> None:
    table = parse(io.BytesIO(document)).get_first_table()
    assert [field.name for field in table.fields] == [name.replace("\x07", "\ufffd") for name in NAMES]
    assert list(table.array[0]) == list(range(len(NAMES)))


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []
        self.attributes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.seen.append(tag)
        self.attributes |= {name for name, _ in attrs}


@pytest.mark.parametrize("document", ["html"], indirect=True)
def test_html(document: bytes, write: Any) -> None:
    values = write(
        "html", [Field("x", UNICODE)], [["<img src=x onerror=alert(1)>", "</td></tr></table><script>", "&lt;"]]
    )
    for page in (document, values):
        tags = _Tags()
        tags.feed(page.decode())
        assert not {"script", "a", "img"} & set(tags.seen)
        assert tags.attributes <= {"lang", "charset", "http-equiv", "content", "name", "title"}


@pytest.mark.parametrize("document", ["text"], indirect=True)
def test_text(document: bytes) -> None:
    assert len(document.decode().splitlines()) == 3
