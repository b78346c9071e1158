"""Small VOTables, written by hand."""

from __future__ import annotations

import base64
from pathlib import Path

_DOCUMENT = '<?xml version="1.0"?>\n<VOTABLE version="1.4" xmlns="http://www.ivoa.net/xml/VOTable/v1.3">{}</VOTABLE>\n'


def write_votable(path: Path, *tables: str) -> Path:
    """Write a document of one RESOURCE with these TABLEs."""
    path.write_text(_DOCUMENT.format(f"<RESOURCE>{''.join(tables)}</RESOURCE>"))
    return path


def make_table(fields: str, *rows: tuple[str, ...], attributes: str = "") -> str:
    """Return a TABLE with rows in TABLEDATA."""
    cells = ("".join(f"<TD>{cell}</TD>" for cell in row) for row in rows)
    data = "".join(f"<TR>{row}</TR>" for row in cells)
    return f"<TABLE {attributes}>{fields}<DATA><TABLEDATA>{data}</TABLEDATA></DATA></TABLE>"


def make_binary_table(fields: str, data: bytes, serialization: str = "BINARY") -> str:
    """Return a TABLE with rows as bytes: BINARY, BINARY2 or FITS."""
    text = base64.b64encode(data).decode()
    stream = f'<{serialization}><STREAM encoding="base64">{text}</STREAM></{serialization}>'
    return f"<TABLE>{fields}<DATA>{stream}</DATA></TABLE>"
