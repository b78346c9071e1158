"""Table files that lie, are broken, or unpack to huge sizes: each causes one sentence, in limited memory."""

from __future__ import annotations

import base64
import gzip
import io
import random
import re
import struct
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from astropy.table import Table

from tap_service.config import Config
from tap_service.readers.byte_stream import ByteStream
from tap_service.readers.sandboxed_reader import Answer, Limits, Request, answer_request
from tap_service.service_errors import UploadError
from tap_service.services.uploads.table_file_reader import TableFileReader

LIMITS = Limits(rows=100_000, columns=200, cell_bytes=1 << 16, unpacked_bytes=32 << 20, memory=1 << 30, seconds=20)
UNFORESEEN = "broken in an unknown way"


@pytest.fixture
def read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Answer]:
    """Read a file in this process, without the sandbox's system limits."""
    monkeypatch.setattr(ByteStream, "max_bytes", LIMITS.unpacked_bytes)

    def read(content: bytes, content_type: str = "") -> Answer:
        path = tmp_path / "file"
        path.write_bytes(content)
        return answer_request(Request(str(path), str(tmp_path / "rows"), "t", content_type, LIMITS))

    return read


# --- documents


def document(fields: str, data: str, before: str = "", table: str = "") -> bytes:
    head = f'<?xml version="1.0"?>{before}<VOTABLE version="1.4"><RESOURCE><TABLE {table}>'
    return f"{head}{fields}<DATA>{data}</DATA></TABLE></RESOURCE></VOTABLE>".encode()


def stream(data: bytes, kind: str = "BINARY", attributes: str = 'encoding="base64"') -> str:
    return f"<{kind}><STREAM {attributes}>{base64.b64encode(data).decode()}</STREAM></{kind}>"


INT = '<FIELD name="a" datatype="int"/>'
DOUBLES = '<FIELD name="a" datatype="double" arraysize="*"/>'
COMPLEX = '<FIELD name="a" datatype="doubleComplex" arraysize="*"/>'
STRINGS = '<FIELD name="a" datatype="char" arraysize="999999999x*"/>'
ROW = "<TABLEDATA><TR><TD>1</TD></TR></TABLEDATA>"
LAUGHS = "<!DOCTYPE x [" + "".join(f'<!ENTITY a{i + 1} "&a{i};&a{i};">' for i in range(40)) + "]>"


def card(key: str, value: object) -> bytes:
    return f"{key:8}= {value!s:>20}".ljust(80).encode()


def header(*cards: bytes) -> bytes:
    whole = b"".join(cards) + b"END".ljust(80)
    return whole + b" " * (-len(whole) % 2880)


PRIMARY = header(card("SIMPLE", "T"), card("BITPIX", 8), card("NAXIS", 0), card("EXTEND", "T"))
EMPTY_PART = header(card("XTENSION", "'IMAGE   '"), card("BITPIX", 8), card("NAXIS", 0))


def fits(
    width: object, rows: object, forms: list[str], *more: bytes, data: bytes = b"\0" * 2880, heap: int = 0
) -> bytes:
    columns = [card(f"TFORM{i}", f"'{form}'") + card(f"TTYPE{i}", f"'c{i}'") for i, form in enumerate(forms, 1)]
    sizes = (card("NAXIS", 2), card("NAXIS1", width), card("NAXIS2", rows), card("PCOUNT", heap), card("GCOUNT", 1))
    first = (card("XTENSION", "'BINTABLE'"), card("BITPIX", 8), *sizes, card("TFIELDS", len(forms)))
    return PRIMARY + header(*first, *columns, *more) + data


def arrow(table: pa.Table, *, file: bool = False, compression: str | None = None) -> bytes:
    out = io.BytesIO()
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with (pa.ipc.new_file if file else pa.ipc.new_stream)(out, table.schema, options=options) as writer:
        writer.write_table(table)
    return out.getvalue()


def parquet(table: pa.Table, **options: Any) -> bytes:
    out = io.BytesIO()
    pq.write_table(table, out, **options)
    return out.getvalue()


def footer_says(rows: bytes) -> bytes:
    """Return a Parquet file of 100 rows whose footer claims another number, in thrift encoding."""
    whole = parquet(pa.table({"a": pa.array(range(100))}), compression="none")
    size = struct.unpack("<I", whole[-8:-4])[0]
    body, footer = whole[: -8 - size], whole[-8 - size : -8]
    footer = footer.replace(b"\xc8\x01", rows, 1)
    return body + footer + struct.pack("<I", len(footer)) + b"PAR1"


#: represents a file in the test's folder
TOUCHED = b"/touched"


def ecsv(yaml: str) -> bytes:
    return ("# %ECSV 1.0\n# ---\n" + "".join(f"# {line}\n" for line in yaml.splitlines()) + "a b\n1 2\n").encode()


COLUMNS = "datatype:\n- {name: a, datatype: int64}\n- {name: b, datatype: int64}\n"
ALIASES = "x: &a0 [lol]\n" + "".join(f"y{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 15))
MERGES = "m0: &m0 {k: 1}\n" + "".join(f"m{i}: &m{i} {{<<: [{', '.join([f'*m{i - 1}'] * 9)}]}}\n" for i in range(1, 15))


def nested(depth: int) -> pa.DataType:
    made = pa.int32()
    for _ in range(depth):
        made = pa.list_(made)
    return made


def zipped() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zeros", b"\0" * 10_000_000)
    return out.getvalue()


WIDE = 10_000
DEEP = pa.table({"a": pa.nulls(1, nested(30))})

REFUSED: dict[str, tuple[bytes, str]] = {
    # VOTable
    "href to a file": (
        document(INT, stream(b"", attributes='href="file:///etc/passwd"')),
        "keeps its data in another file",
    ),
    "href by http": (
        document(INT, stream(b"", "FITS", 'href="http://127.0.0.1:1/"')),
        "keeps its data in another file",
    ),
    "doctype": (document(INT, ROW, '<!DOCTYPE VOTABLE SYSTEM "file:///etc/passwd">'), "DOCTYPE, which is not allowed"),
    "billion laughs": (document(INT, ROW.replace("1", "&a40;"), LAUGHS), "DOCTYPE, which is not allowed"),
    "entity": (document(INT, ROW.replace("1", "&x;")), "undefined entity"),
    "nrows": (document(INT, ROW, table='nrows="99999999999"'), "more than 100000 rows"),
    "depth": (b"<VOTABLE>" + b"<RESOURCE>" * 100_000, "deeper than 64 levels"),
    "codec": (document(INT, ROW).replace(b'"1.0"', b'"1.0" encoding="rot13"', 1), "write it in UTF-8"),
    "columns": (document("".join(f'<FIELD name="c{i}" datatype="int"/>' for i in range(WIDE)), ROW), "5000 columns"),
    "cells": (document(INT, "<TABLEDATA><TR>" + "<TD/>" * WIDE), "row of more than 5000 cells"),
    "no table": (b"<VOTABLE/>", "no TABLE with FIELDs"),
    "no fields": (document("", ROW), "no TABLE with FIELDs"),
    "html": (b"<html><body>Not found</body></html>", "starts with the element html"),
    "other html": (b"<!DOCTYPE html><html></html>", "DOCTYPE"),
    "empty array": (
        document('<FIELD name="a" datatype="int" arraysize="0"/>', stream(b"")),
        "'0' is not an array size",
    ),
    "row width": (
        document(INT.replace("/", ' arraysize="999999999x999999999"/'), stream(b"abcd")),
        "arraysize|declare rows of",
    ),
    "array length": (document(DOUBLES, stream(b"\xff\xff\xff\xffabcd")), "ends inside row 1"),
    "gzip stream": (document(INT, stream(b"abcd", attributes='encoding="gzip"')), "use base64"),
    "no base64": (document(INT, "<BINARY><STREAM encoding='base64'>%%%%</STREAM></BINARY>"), "not valid base64"),
    "no fits inside": (
        document(INT, stream(b"hello", "FITS")),
        "the FITS file inside is not a FITS file: it does not start with SIMPLE",
    ),
    "complex length": (document(COMPLEX, stream(b"\xff\xff\xff\xffabcd")), "ends inside row 1"),
    "complex parts": (document(COMPLEX, ROW), "length is a multiple of 2"),
    "complex cell": (document(COMPLEX, ROW.replace("1", "1 2 " * 8200)), "more than 65536 bytes"),
    "run of bits": (
        document(COMPLEX.replace("doubleComplex", "bit"), ROW.replace("1", "10" * 40_000)),
        "more than 65536 bytes",
    ),
    "no bits": (
        document(COMPLEX.replace("doubleComplex", "bit"), ROW.replace("1", "12")),
        "does not fit the type BOOLEAN",
    ),
    "size of nothing": (
        document(COMPLEX.replace("*", "999999999"), ROW.replace("1", "")),
        "take more than 33554432 bytes",
    ),
    "long string": (document(STRINGS.replace("*", "9999"), ROW), "take more than 33554432 bytes"),
    "long string, in binary": (document(STRINGS, stream(b"\0\0\0\5abcdefg")), "ends inside row 2"),
    "long description": (
        document(f'<FIELD name="a" datatype="int"><DESCRIPTION>{"x" * (9 << 20)}</DESCRIPTION></FIELD>', ROW),
        "descriptions of the columns take more than",
    ),
    "cell": (
        document('<FIELD name="a" datatype="char" arraysize="*"/>', ROW.replace("1", "x" * 70_000)),
        "more than 65536 bytes",
    ),
    # FITS
    "width": (fits(1 << 40, 5, ["1E"]), "NAXIS1 is not a number from 0 to"),
    "rows": (fits(4, 1 << 60, ["1E"]), "more than 100000 rows"),
    "rows that are not there": (fits(4, 50_000, ["1E"]), "ends in row 721 of 50000"),
    "negative": (fits(4, -5, ["1E"]), "NAXIS2 is not a number"),
    "no number": (fits(4, "'five'", ["1E"]), "NAXIS2 is not a number"),
    "repeat": (fits(4, 5, ["99999999999E"]), "the columns take 399999999996 bytes of a row"),
    "letter": (fits(4, 5, ["1Z"]), "TFORM letter Z"),
    "scale": (fits(2, 1, ["1I"], card("TZERO1", "'inf'")), "TZERO1 is not a number"),
    "heap offset": (
        fits(8, 2, ["1PE"], card("THEAP", 1 << 60), data=struct.pack(">iiii", 5, 0, 5, 0) * 180),
        "variable arrays after the end of its heap",
    ),
    "negative heap": (
        fits(8, 2, ["1PE"], data=struct.pack(">iiii", -5, 0, 5, -9) * 180),
        "variable arrays of invalid length",
    ),
    "heap before the heap": (fits(8, 2, ["1PE"], data=struct.pack(">iiii", 5, -9, 5, -9) * 180), "at invalid offsets"),
    "huge array": (
        fits(16, 1, ["1QE"], data=struct.pack(">qq", 1 << 61, 0) * 180),
        "variable arrays of invalid length",
    ),
    "arrays that overlap": (
        fits(8, 60_000, ["1PB"], data=struct.pack(">ii", 1 << 15, 0) * 60_000 + b"\0" * (1 << 15), heap=1 << 15),
        "take more than 33554432 bytes",
    ),
    "endless header": (
        gzip.compress(PRIMARY + b"XTENSION= 'BINTABLE'".ljust(80) + b"COMMENT".ljust(80) * 300_000, 1),
        "header of more than 16777216 bytes",
    ),
    "endless parts": (gzip.compress(PRIMARY + EMPTY_PART * 10_100, 1), "more than 10000 HDUs"),
    "no table inside": (PRIMARY, "no binary table"),
    "no columns": (fits(0, 5, []), "a table without columns"),
    # Parquet and Arrow
    "footer": (b"PAR1" + b"x" * 20 + struct.pack("<I", 0x7FFFFFFF) + b"PAR1", "cannot be read as Parquet"),
    "rows in the footer": (footer_says(b"\x80\xa0\x94\xa5\x8d\x1d"), "more than 100000 rows"),
    "fewer rows in the footer": (footer_says(b"\x02"), "has 100 rows, but its footer declares 1"),
    "wide parquet": (parquet(pa.table({f"c{i}": [1] for i in range(WIDE)})), "10000 columns"),
    "deep parquet": (parquet(DEEP), "unsupported columns|too deeply nested"),
    "wide arrow": (arrow(pa.table({f"c{i}": [1] for i in range(WIDE)})), "10000 columns"),
    "deep arrow": (arrow(DEEP), "unsupported columns"),
    "texts in lists": (arrow(pa.table({"a": [["x"]]})), "unsupported columns"),
    "run ends": (
        arrow(pa.table({"a": pa.RunEndEncodedArray.from_arrays([90_000_000], ["x" * 1000])}, schema=None)),
        "unsupported columns",
    ),
    "nulls": (arrow(pa.table({"a": pa.nulls(100_001)})), "more than 100000 rows"),
    "length of a buffer": (
        arrow(pa.table({"a": np.zeros(1000)}), compression="zstd").replace(
            struct.pack("<q", 8000), struct.pack("<q", 1 << 60)
        ),
        "broken|memory",
    ),
    "no end": (arrow(pa.table({"a": [1]}), file=True)[:-8], "no end marker"),
    "name of no text": (arrow(pa.table({"abcdefgh": [1]})).replace(b"abcdefgh", b"abcdef\xff\xfe"), "not UTF-8"),
    # text
    "aliases as a name": (ecsv(ALIASES + COLUMNS.replace("name: a", "name: *a14")), "a name that is text"),
    "merge keys": (ecsv(MERGES + COLUMNS), "merge keys"),
    "deep header": (ecsv("datatype: " + "[" * 50_000), "nested too deeply"),
    "itself": (ecsv("datatype: &a [*a]"), "a name that is text"),
    "code": (
        ecsv('datatype: !!python/object/apply:os.system ["touch /touched"]'),
        "the ECSV header is broken",
    ),
    "no date": (ecsv("x: 2020-13-45\n" + COLUMNS), "month must be in 1..12"),
    "delimiter": (ecsv('delimiter: "ab"\n' + COLUMNS), "neither a space nor a comma"),
    "wide text": (",".join(f"c{i}" for i in range(WIDE)).encode() + b"\n", "names 10000 columns"),
    "names without end": (b"a," * 9_000_000, "take more than 16777216 bytes"),
    "not UTF-8": (b"a,b\n1,\xe9\n", "line 2, column b: .* is not valid UTF-8"),
    "ragged": (b"a,b\n1,2\n1,2,3\n", "line 3: '1,2,3' has 3 fields for 2 columns"),
    "short text": (b"a,b\n" + b'1,"x\n' + b"1,2\n" * 9_000_000, "more than 33554432 bytes when unpacked"),
    "name of the storage": (b"ra,dec,hpx29\n1,2,3\n", "hpx29 is reserved for the storage"),
    "name of the engine": (b"_row_exists\n1\n", "_row_exists is reserved for the storage"),
    "NUL": (b'"b\0c"\n1\n', "not a table in a known format"),
    # none of these
    "nothing": (b"", "is empty"),
    "blanks": (b" \n\n", "no name in line"),
    "zip": (zipped(), "not a table in a known format"),
    "gzip of gzip": (gzip.compress(gzip.compress(b"a\n1\n")), "not a table in a known format"),
    "program": (b"\x7fELF\2\1\1" + b"\0" * 100, "not a table in a known format"),
    "cut gzip": (gzip.compress(b"a\n" + b"1\n" * 1000)[:-8], "it ends inside its compressed data"),
    "zeros, packed": (gzip.compress(b"\0" * 50_000_000, 1), "not a table in a known format"),
    "text, packed": (gzip.compress(b"a\n" + b"1\n" * 200_000, 1), "more than 100000 rows"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(read: Callable[..., Answer], tmp_path: Path, case: str) -> None:
    content, said = REFUSED[case]
    touched = tmp_path / "touched"
    error = read(content.replace(TOUCHED, bytes(touched))).error
    assert re.search(said, error), error
    assert UNFORESEEN not in error
    assert "\n" not in error
    assert len(error) <= 1000
    assert not touched.exists()


@pytest.mark.parametrize(
    ("content", "kind", "said"),
    [
        (b"a,b\n1,2\n", "application/x-votable+xml", "does not start like a VOTable file"),
        (document(INT, ROW), "text/csv", "is a VOTable file, but its Content-Type is for CSV"),
        (document(INT, ROW), "application/fits; x=y", "is a VOTable file, but its Content-Type is for FITS"),
        (parquet(pa.table({"a": [1]})), "application/vnd.apache.arrow.file", "is a Parquet file"),
    ],
)
def test_wrong_types(read: Callable[..., Answer], content: bytes, kind: str, said: str) -> None:
    assert said in read(content, kind).error


ACCEPTED = {
    "what a description may not say of rows": document(INT, ROW, table='nrows="' + "9" * 5000 + '"'),
    "digits of other alphabets": document(INT, ROW, table='nrows="²"'),
    "a null that is no number": document(INT.replace("/>", '><VALUES null="abc"/></FIELD>'), stream(b"\0\0\0\1")),
    "a long name": document(INT.replace('"a"', f'"{"a" * 65}"'), ROW),
    "no name": document(INT.replace('"a"', '""'), ROW),
    "control character": document(INT.replace('"a"', '"a&#10;b"'), ROW),
    "control in a name": '"a\u202eb",c\n1,2\n'.encode(),
    "equal names": document(INT * 2, ROW.replace("</TR>", "<TD>2</TD></TR>")),
    "UTF-16": document(INT, ROW).replace(b'"1.0"', b'"1.0" encoding="UTF-16"', 1).decode().encode("utf-16"),
    "any names": b'select,"it\'s","say ""x""",`t`,x\\,hpx29,A,a\n1,2,3,4,5,6,7,8\n',
    "no positions": b"ra,dec\n400,1\n",
    "NULL and NaN positions": b"ra,dec\n1,2\n",
    "aliases in metadata": ecsv(ALIASES + COLUMNS + "meta: *a14"),
    "aliases in a description": ecsv(ALIASES + COLUMNS.replace("name: a", "name: a, description: *a14")),
}


@pytest.mark.parametrize("case", ACCEPTED)
def test_what_is_odd_but_good(read: Callable[..., Answer], case: str) -> None:
    answer = read(ACCEPTED[case])
    assert (answer.error, answer.rows) == ("", 1)


# --- as broken as chance makes them


def sample() -> Table:
    count = 20
    table = Table({"id": np.arange(count), "ra": np.linspace(0, 359, count), "dec": np.linspace(-80, 80, count)})
    table["flag"] = np.arange(count) % 2 == 0
    table["name"] = [f"s{i}" for i in range(count)]
    table["spectrum"] = np.arange(3 * count, dtype="f4").reshape(count, 3)
    return table


def written(form: str, **options: Any) -> bytes:
    out: Any = io.StringIO() if "ascii" in form else io.BytesIO()
    table = sample()
    if form == "ascii.csv":
        table.remove_column("spectrum")
    table.write(out, format=form, **options)
    value = out.getvalue()
    return value.encode() if isinstance(value, str) else bytes(value)


def columns() -> pa.Table:
    count = 20
    return pa.table(
        {
            "id": pa.array(range(count)),
            "name": [f"s{i}" for i in range(count)],
            "list": [[1.0] * (i % 3) for i in range(count)],
            "word": pa.array(["a", "b"] * (count // 2)).dictionary_encode(),
            "time": pa.array(range(count), pa.timestamp("us")),
            "pair": pa.array([[1.0, 2.0]] * count, pa.list_(pa.float32(), 2)),
            "big": pa.array(range(count), pa.uint64()),
        }
    )


FILES = {
    "VOTable": lambda: written("votable"),
    "VOTable BINARY2": lambda: written("votable", tabledata_format="binary2"),
    "FITS": lambda: written("fits"),
    "ECSV": lambda: written("ascii.ecsv"),
    "CSV": lambda: written("ascii.csv"),
    "Parquet": lambda: parquet(columns()),
    "Arrow": lambda: arrow(columns(), compression="lz4"),
    "Arrow file": lambda: arrow(columns(), file=True),
}
EXTREMES = (
    b"\xff" * 4,
    b"\0" * 8,
    b"\xff\xff\xff\x7f",
    b"\x7f\xff\xff\xff",
    b"\x80\0\0\0\0\0\0\0",
    b'"',
    b"<",
    b"-1",
    b"",
)


def damaged(content: bytes, dice: random.Random) -> bytes:
    out = bytearray(content)
    for _ in range(dice.choice((1, 1, 2, 8))):
        at = dice.randrange(len(out))
        if dice.random() < 0.5:
            out[at] ^= 1 << dice.randrange(8)
        else:
            out[at : at + dice.randrange(9)] = dice.choice(EXTREMES)
    return bytes(out[: dice.randrange(len(out))]) if dice.random() < 0.1 else bytes(out)


@pytest.mark.parametrize("form", FILES)
@pytest.mark.filterwarnings("ignore")  # astropy's warnings about broken headers
def test_damaged_files(read: Callable[..., Answer], form: str) -> None:
    """Every damaged file gets rows or a ReadError: all exceptions of the libraries are handled."""
    dice = random.Random(5)
    whole = FILES[form]()
    assert read(whole).error == ""
    answers = [read(damaged(whole, dice)) for _ in range(60)]
    assert sum(bool(answer.error) for answer in answers) > 3
    assert [answer.error for answer in answers if UNFORESEEN in answer.error] == []
    assert all(answer.error or answer.rows >= 0 for answer in answers)


# --- what unpacks to more than fits, in the reader's own process


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TableFileReader]:
    files = TableFileReader(
        Config(spool_path=tmp_path_factory.mktemp("spool"), upload_memory=1 << 30, upload_seconds=20),
        is_kept_ready=False,
    )
    yield files
    files.close()


def bomb(kind: str) -> bytes:
    """Return a few kilobytes that unpack to gigabytes, or to one endless value."""
    if kind == "text":
        return gzip.compress(b"a,b\n1," + b"x" * 100_000_000, 1)
    if kind == "arrow":
        return arrow(pa.table({"a": np.zeros(160_000_000)}), compression="zstd")
    if kind == "parquet":
        return parquet(pa.table({"a": ["\0" * (60 << 20)] * 20}), compression="zstd", use_dictionary=False)
    repeated = pa.array(["x" * (1 << 19)]).dictionary_encode().take(pa.array([0] * 60_000))
    return parquet(pa.table({"a": repeated}))


@pytest.mark.parametrize("kind", ["text", "arrow", "parquet", "dictionary"])
def test_bombs(files: TableFileReader, tmp_path: Path, kind: str) -> None:
    path = tmp_path / "bomb"
    path.write_bytes(bomb(kind))
    said = r"a row has more than 67108864 bytes" if kind == "text" else r"takes more than 1073741824 bytes of memory"
    with pytest.raises(UploadError, match=said), files.read_table(path, "mine"):
        pass
