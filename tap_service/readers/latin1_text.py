"""Parsing of delimited text that is not UTF-8, since Arrow reports broken rows only in UTF-8."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

#: receives a row with a wrong number of fields; returns "skip"
SkipRow = Callable[[pacsv.InvalidRow], str]


def is_utf8(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


def parse_as_latin1(
    parse: Callable[[bytes, tuple[str, ...], SkipRow], pa.Table], text: bytes, nulls: tuple[str, ...], skip: SkipRow
) -> pa.Table:
    """Parse text of any encoding, with each byte as a character of Latin-1.

    Parameters
    ----------
    parse : callable
        Parses UTF-8, with the texts that are NULL and the receiver of broken rows.
    text : bytes
        The text.
    nulls : tuple of str
        The texts that are NULL.
    skip : callable
        Receives each broken row.

    Returns
    -------
    pyarrow.Table
        The columns of ``parse``; binary columns have the bytes of the text.
    """
    table = parse(
        text.decode("latin-1").encode(),
        tuple(null.encode().decode("latin-1") for null in nulls),
        lambda row: skip(row._replace(text=row.text.encode("latin-1").decode(errors="replace"))),
    )
    return pa.table([_restore_bytes(column) for column in table.columns], table.column_names)


def _restore_bytes(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if not pa.types.is_binary(column.type) or pc.all(pc.string_is_ascii(column.cast(pa.string()))).as_py():
        return column
    values = column.to_pylist()
    restored = [None if value is None else value.decode().encode("latin-1") for value in values]
    return pa.chunked_array([pa.array(restored, pa.binary())])
