"""Documents read back by third-party libraries: each column as Python values.

None is NULL, timestamps are texts, arrays are flat lists, and an array without items is None.
"""

from __future__ import annotations

import io
import json
import tempfile
import warnings
from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
from astropy.io import fits
from astropy.table import Table

from tests.tap_service.serializers.votable_columns import Columns, flat, plain, read_votable


def read(mime: str, document: bytes) -> Columns:
    kind = mime.partition(";")[0]
    return _READERS[kind](document)


def _votable(document: bytes) -> Columns:
    return read_votable(io.BytesIO(document))


def _csv(document: bytes) -> Columns:
    names = document.decode().split("\r\n", 1)[0].split(",")
    options = pacsv.ConvertOptions(
        column_types=dict.fromkeys(names, pa.string()),
        null_values=[""],
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
    )
    table = pacsv.read_csv(io.BytesIO(document), None, pacsv.ParseOptions(newlines_in_values=True), options)
    return [column.to_pylist() for column in table.columns]


def _tsv(document: bytes) -> Columns:
    lines = [line.split("\t") for line in document.decode().removesuffix("\n").split("\n")]
    return [list(column) for column in zip(*lines[1:], strict=True)] or [[] for _ in lines[0]]


def _fits(document: bytes) -> Columns:
    with warnings.catch_warnings(), fits.open(io.BytesIO(document), logical_as_bytes=True) as hdus:
        hdus.verify("exception")
        table = hdus[1]
        return [_fits_column(table, number) for number in range(len(table.columns))]


def _fits_column(table: fits.BinTableHDU, number: int) -> list[Any]:
    column, values = table.columns[number], table.data.field(number)
    logical = "L" in column.format

    def one(value: Any) -> Any:
        if logical:
            return [{b"T": True, b"F": False}.get(bytes(item)) for item in np.atleast_1d(value)]
        if "A" in column.format:  # one text, or its characters if they are in the heap
            return "".join(value) or None
        items = flat(np.ravel(np.asarray(value)).tolist())
        return [None if item == column.null and column.null is not None else item for item in items]

    read = [one(value) for value in values]
    scalar = column.format in tuple("LBIJKED")
    if scalar:
        return [None if value[0] != value[0] else value[0] for value in read]
    return [value if isinstance(value, str) or not _is_nothing(value) else None for value in read]


def _is_nothing(items: list[Any] | None) -> bool:
    return not items or all(item is None for item in items) or all(item != item for item in items)


def _parquet(document: bytes) -> Columns:
    with tempfile.NamedTemporaryFile(suffix=".parquet") as file:
        file.write(document)
        file.flush()
        rows = duckdb.sql(f"SELECT * FROM '{file.name}'")
        return _arrow_columns(rows.to_arrow_table())


def _arrow_columns(table: pa.Table) -> Columns:
    return [[_moment(plain(value.as_py())) for value in column] for column in table.columns]


def _moment(value: Any) -> Any:
    if not hasattr(value, "isoformat"):
        return value
    text = value.replace(tzinfo=None).isoformat()
    return text.rstrip("0").rstrip(".") if "." in text else text


def _arrow_stream(document: bytes) -> Columns:
    return _arrow_columns(pa.ipc.open_stream(document).read_all())


def _arrow_file(document: bytes) -> Columns:
    return _arrow_columns(pa.ipc.open_file(document).read_all())


def _json(document: bytes) -> Columns:
    whole = json.loads(document)
    return [[plain(row[number]) for row in whole["data"]] for number in range(len(whole["columns"]))]


def _ecsv(document: bytes) -> Columns:
    table = Table.read(document.decode(), format="ascii.ecsv")
    return [[plain(value) for value in table[name]] for name in table.colnames]


class _Cells(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.inside = False

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag == "tr":
            self.rows.append([])
        self.inside = tag == "td"
        if self.inside:
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        self.inside = False

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.rows[-1][-1] += data


def _html(document: bytes) -> Columns:
    cells = _Cells()
    cells.feed(document.decode())
    return [list(column) for column in zip(*cells.rows[1:], strict=True)]


def _text(document: bytes) -> Columns:
    lines = document.decode().split("\n")[:-1]
    if lines[-1].startswith("# "):  # that it was cut, after an empty line
        lines = lines[:-2]
    starts = [0, *(number + 1 for number, mark in enumerate(lines[1]) if mark == " ")]
    ends = [*(start - 1 for start in starts[1:]), None]
    return [[line[start:end].strip(" ") for line in lines[2:]] for start, end in zip(starts, ends, strict=True)]


_READERS: dict[str, Callable[[bytes], Columns]] = {
    "application/x-votable+xml": _votable,
    "text/xml": _votable,
    "text/csv": _csv,
    "text/tab-separated-values": _tsv,
    "application/fits": _fits,
    "application/vnd.apache.parquet": _parquet,
    "application/vnd.apache.arrow.stream": _arrow_stream,
    "application/vnd.apache.arrow.file": _arrow_file,
    "application/json": _json,
    "text/ecsv": _ecsv,
    "text/html": _html,
    "text/plain": _text,
}
