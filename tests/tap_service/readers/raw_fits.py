"""Writes FITS files byte by byte: forms that astropy refuses to write, or corrects."""

from __future__ import annotations

from pathlib import Path

Value = int | str | bytes

_BLOCK = 2880


def write_header(cards: list[bytes]) -> bytes:
    header = b"".join(card[:80].ljust(80) for card in [*cards, b"END"])
    return header + b" " * (-len(header) % _BLOCK)


def write_card(keyword: str, value: Value) -> bytes:
    """Write a card; bytes are written unchanged."""
    shown = f"'{value:8}'".encode() if isinstance(value, str) else value if isinstance(value, bytes) else b"%d" % value
    return f"{keyword:8}= ".encode() + shown.rjust(20)


PRIMARY = write_header([b"SIMPLE  =                    T", write_card("BITPIX", 8), write_card("NAXIS", 0)])


def write_table(
    columns: list[dict[str, Value]],
    rows: bytes,
    *,
    count: int = 1,
    kind: str = "BINTABLE",
    cards: list[bytes] | None = None,
    heap: bytes = b"",
) -> bytes:
    """Write the HDU of a table whose columns are given by their keywords, without the column number."""
    fixed: dict[str, Value] = {"XTENSION": kind, "BITPIX": 8, "NAXIS": 2, "NAXIS1": len(rows) // count, "NAXIS2": count}
    fixed |= {"PCOUNT": len(heap), "GCOUNT": 1, "TFIELDS": len(columns)}
    numbered = {f"{key}{number}": value for number, column in enumerate(columns, 1) for key, value in column.items()}
    header = [write_card(key, value) for key, value in (fixed | numbered).items()]
    data = rows + heap
    return write_header(header + (cards or [])) + data + b"\0" * (-len(data) % _BLOCK)


def write_file(path: Path, *hdus: bytes) -> Path:
    path.write_bytes(b"".join([PRIMARY, *hdus]))
    return path
