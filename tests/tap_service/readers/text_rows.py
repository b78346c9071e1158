"""The rows of a text table as stored in a table made for the file, and as astropy and STILTS read them."""

from __future__ import annotations

import csv
import math
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
from astropy.table import Table

from tap_service.models.read_options import AS_DETECTED, ReadOptions
from tap_service.readers.file_formats import open_source
from tap_service.readers.table_source import RejectedRow, Source
from tests.support.stilts import read_output
from tests.tap_service.readers.reading import read_named_rows

Rows = list[dict[str, Any]]


def read_rows(path: Path, options: ReadOptions = AS_DETECTED) -> tuple[Rows, list[RejectedRow]]:
    """Return the good rows of a file, and the rejected ones."""
    return read_named_rows(open_source(path, options))


def list_types(source: Source) -> dict[str, str]:
    return {field.name: field.type.datatype for field in source.fields}


def list_reasons(rejects: list[RejectedRow]) -> list[tuple[int, str]]:
    return [(reject.where, reject.reason) for reject in rejects]


def read_with_astropy(path: Path, **options: Any) -> Rows:
    """Return the rows; masked values and empty texts are None."""
    table = Table.read(path, **options)
    return [{name: _to_plain(row[name]) for name in table.colnames} for row in table]


def _to_plain(value: Any) -> Any:
    if np.ma.is_masked(value):
        return None
    plain = value.item() if hasattr(value, "item") else value
    if plain is None or str(plain) == "--" or (isinstance(plain, float) and math.isnan(plain)):
        return None
    return plain if plain != "" else None


def read_with_stilts(path: Path, format_: str) -> list[dict[str, str]]:
    """Return the rows as words; missing values are ''."""
    text = read_output("tcopy", f"ifmt={format_}", f"in={path}", "ofmt=csv", "out=-").decode()
    return list(csv.DictReader(StringIO(text)))


def to_words(rows: Rows) -> list[dict[str, str]]:
    """Return the rows as STILTS writes them in CSV."""
    return [{name: "" if value is None else str(value) for name, value in row.items()} for row in rows]
