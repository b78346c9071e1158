"""VOTables exactly as in the standard (VOTable 1.5, sections 5 and 6), written and read without any library.

A value is None for NULL; arrays are flat lists, also of complex numbers; texts and arrays of strings are one text.
"""

from __future__ import annotations

import base64
import math
import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree
from xml.sax.saxutils import escape

FORMATS = {"unsignedByte": "B", "short": "h", "int": "i", "long": "q", "float": "f", "double": "d"}
FORMATS |= {"floatComplex": "ff", "doubleComplex": "dd", "boolean": "c", "char": "c", "unicodeChar": "H"}
TRUTHS = {True: b"T", False: b"F", None: b"?"}
NAN = float("nan")


@dataclass(frozen=True)
class Column:
    name: str
    datatype: str
    arraysize: str
    values: tuple[Any, ...] = ()
    xtype: str = ""
    null: int | None = None

    @property
    def is_text(self) -> bool:
        return self.datatype in ("char", "unicodeChar")

    @property
    def size(self) -> int | None:
        """Items of a cell; None if the number varies."""
        if "*" in self.arraysize:
            return None
        return math.prod(map(int, self.arraysize.split("x"))) if self.arraysize else 1

    @property
    def is_list(self) -> bool:
        return bool(self.arraysize) and not self.is_text

    def items(self, value: Any) -> list[Any]:
        """The primitives of a value."""
        if self.is_text:
            units = struct.unpack(f">{len(value.encode('utf-16-be')) // 2}H", value.encode("utf-16-be"))
            items: list[Any] = list(units) if self.datatype == "unicodeChar" else [c.encode() for c in value]
            return items + [0 if self.datatype == "unicodeChar" else b"\0"] * ((self.size or 0) - len(items))
        items = list(value) if self.is_list else [value]
        return [self.null if item is None and self.null is not None else item for item in items]

    def nothing(self) -> Any:
        """Return the replacement for NULL without a flag."""
        if self.is_text:
            return ""
        item = {"float": NAN, "double": NAN, "boolean": None, "bit": False}.get(self.datatype, self.null or 0)
        item = complex(NAN, NAN) if "Complex" in self.datatype else item
        return [item] * (self.size or 0) if self.is_list else item

    def encoded(self, value: Any) -> bytes:
        items = self.items(self.nothing() if value is None else value)
        count = struct.pack(">I", len(items)) if self.size is None else b""
        if self.datatype == "bit":
            bits = "".join("01"[bit] for bit in items)
            return count + bytes(int(bits[at : at + 8].ljust(8, "0"), 2) for at in range(0, len(bits), 8))
        return count + b"".join(self._packed(item) for item in items)

    def _packed(self, item: Any) -> bytes:
        if self.datatype == "boolean":
            return TRUTHS[item]
        parts = (item.real, item.imag) if isinstance(item, complex) else (item,)
        return struct.pack(">" + FORMATS[self.datatype], *parts)

    def decoded(self, data: bytes, at: int) -> tuple[Any, int]:
        """Return a value, and the position of the next one."""
        count = self.size
        if count is None:
            count, at = struct.unpack_from(">I", data, at)[0], at + 4
        numbers = struct.unpack_from(">" + FORMATS[self.datatype] * count, data, at)
        at += struct.calcsize(">" + FORMATS[self.datatype] * count)
        if self.datatype == "unicodeChar":
            return struct.pack(f">{count}H", *numbers).decode("utf-16-be").rstrip("\0"), at
        if self.datatype == "char":
            return b"".join(numbers).decode().rstrip("\0"), at
        items: list[Any] = list(numbers)
        if "Complex" in self.datatype:
            items = [complex(*pair) for pair in zip(numbers[::2], numbers[1::2], strict=True)]
        if self.datatype == "boolean":
            items = [{b"T": True, b"F": False}.get(item) for item in items]
        items = [None if item == self.null and self.null is not None else item for item in items]
        return (items if self.is_list else items[0]), at

    def text(self, value: Any) -> str:
        """Return the content of TD."""
        if value is None:
            return ""
        if self.is_text:
            return escape(value)
        words = [self._word(item) for item in self.items(value)]
        return ("" if self.datatype == "bit" else " ").join(words)

    def _word(self, item: Any) -> str:
        if self.datatype in ("boolean", "bit"):
            return "01"[item] if self.datatype == "bit" else TRUTHS[item].decode()
        if isinstance(item, complex):
            return f"{self._number(item.real)} {self._number(item.imag)}"
        return self._number(item)

    @staticmethod
    def _number(item: Any) -> str:
        return {"inf": "+Inf", "-inf": "-Inf", "nan": "NaN"}.get(repr(item), repr(item))

    def read(self, text: str) -> Any:
        if not text or self.is_text:
            return text or None
        words = text.split()
        if self.datatype == "boolean":
            items: list[Any] = [{"t": True, "f": False}.get(word[0].lower()) for word in words]
        elif self.datatype in ("float", "double") or "Complex" in self.datatype:
            part = FORMATS[self.datatype][0]
            numbers = [struct.unpack(part, struct.pack(part, float(word)))[0] for word in words]
            items = list(numbers)
            if "Complex" in self.datatype:
                items = [complex(*pair) for pair in zip(numbers[::2], numbers[1::2], strict=True)]
        else:
            items = [None if int(word) == self.null else int(word) for word in words]
        return items if self.is_list else items[0]


def written(columns: Sequence[Column], serialization: str) -> bytes:
    """A document with these columns."""
    fields = []
    for column in columns:
        said = {"name": column.name, "datatype": column.datatype, "arraysize": column.arraysize, "xtype": column.xtype}
        values = "" if column.null is None else f'<VALUES null="{column.null}"/>'
        attributes = " ".join(f'{key}="{value}"' for key, value in said.items() if value)
        fields.append(f"<FIELD {attributes}>{values}</FIELD>")
    rows = list(zip(*(column.values for column in columns), strict=True))
    if serialization == "TABLEDATA":
        lines = ("".join(f"<TD>{c.text(v)}</TD>" for c, v in zip(columns, row, strict=True)) for row in rows)
        data = "".join(f"<TR>{line}</TR>" for line in lines)
    else:
        stream = b"".join(_row(columns, row, flags=serialization == "BINARY2") for row in rows)
        data = f'<STREAM encoding="base64">{base64.b64encode(stream).decode()}</STREAM>'
    return (
        '<?xml version="1.0" encoding="UTF-8"?><VOTABLE version="1.4" xmlns="http://www.ivoa.net/xml/VOTable/v1.3">'
        f"<RESOURCE><TABLE>{''.join(fields)}<DATA><{serialization}>{data}</{serialization}></DATA></TABLE></RESOURCE>"
        "</VOTABLE>"
    ).encode()


def _row(columns: Sequence[Column], row: Sequence[Any], *, flags: bool) -> bytes:
    bits = "".join("01"[value is None] for value in row)
    mask = bytes(int(bits[at : at + 8].ljust(8, "0"), 2) for at in range(0, len(bits), 8)) if flags else b""
    return mask + b"".join(column.encoded(value) for column, value in zip(columns, row, strict=True))


def read(document: bytes) -> tuple[list[Column], list[list[Any]]]:
    """Return the columns without values, and the rows."""
    plain = re.sub(rb' xmlns="[^"]*"', b"", document, count=1)
    table = ElementTree.fromstring(plain).find(".//TABLE")
    assert table is not None
    columns = [_column(field) for field in table.findall("FIELD")]
    data = table.find("DATA")
    assert data is not None
    if data[0].tag == "TABLEDATA":
        cells = ([cell.text or "" for cell in row] for row in data[0])
        return columns, [[c.read(text) for c, text in zip(columns, row, strict=True)] for row in cells]
    stream = base64.b64decode(data[0][0].text or "")
    rows, at, width = [], 0, -(-len(columns) // 8) if data[0].tag == "BINARY2" else 0
    while at < len(stream):
        flags = "".join(f"{byte:08b}" for byte in stream[at : at + width]) or "0" * len(columns)
        at, row = at + width, []
        for flag, column in zip(flags, columns, strict=False):
            value, at = column.decoded(stream, at)
            row.append(None if flag == "1" else value)
        rows.append(row)
    return columns, rows


def _column(field: ElementTree.Element) -> Column:
    values = field.find("VALUES")
    said = {key: field.get(key, "") for key in ("name", "datatype", "arraysize", "xtype")}
    return Column(**said, null=None if values is None else int(values.get("null", "")))
