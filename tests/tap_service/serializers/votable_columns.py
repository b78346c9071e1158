"""VOTables as astropy reads them, each column as Python values; a program too, which an old astropy runs.

``python votable_columns.py FOLDER`` prints the columns of each file in a folder as JSON. A warning is an error.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from astropy.io.votable import parse

Columns = list[list[Any]]


def read_votable(file: Any) -> Columns:
    """Read the first table of a file or its path."""
    array = parse(file).get_first_table().array
    names = array.dtype.names or ()
    return [
        [None if np.all(array.mask[name][row]) else plain(array[name][row]) for row in range(len(array))]
        for name in names
    ]


def plain(value: Any) -> Any:
    """Return a library's value as a Python value."""
    if value is np.ma.masked or value is None:
        return None
    if isinstance(value, np.ma.MaskedArray):
        value = [plain(item) for item in value.ravel()] if not value.mask.all() else []
    elif isinstance(value, np.ndarray):
        value = value.ravel().tolist()
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in flat(value)] or None
    if isinstance(value, bytes):
        return value.decode()
    value = value.item() if isinstance(value, np.generic) else value
    return [value.real, value.imag] if isinstance(value, complex) else value


def flat(items: Sequence[Any]) -> list[Any]:
    """Return values without inner lists; complex numbers are two values."""
    items = [[item.real, item.imag] if isinstance(item, complex) else item for item in items]
    return [inner for item in items for inner in (flat(item) if isinstance(item, list) else [item])]


if __name__ == "__main__":
    warnings.simplefilter("error")
    print(json.dumps({path.name: read_votable(path) for path in Path(sys.argv[1]).iterdir()}))
