"""VOTable 1.4 (namespace v1.3) in BINARY2, BINARY and TABLEDATA.

The serializations share the document around the rows: QUERY_STATUS OK comes first, and any other final status after the
table.

Losses of the serializations:

- ``char`` is ASCII: other characters become '?' (the loader declares columns with such characters ``unicodeChar``);
- in TABLEDATA characters that XML forbids become U+FFFD, or '?' in ``char``;
- TABLEDATA and BINARY write an empty string or array as NULL, and BINARY writes NaN as NULL;
- in BINARY, and inside arrays in all serializations, a NULL integer becomes a number declared in VALUES.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from functools import lru_cache

import pyarrow as pa
import pyarrow.compute as pc
import pybase64

from clickhouse_schema.datatypes import Field
from tap_service.scratch_files import NO_SCRATCH, ScratchSpace
from tap_service.serializers.cell_text import Spelling, format_cells, replace_characters
from tap_service.serializers.field_arrays import conform_batch, join_text, text_bytes
from tap_service.serializers.null_values import NullMark
from tap_service.serializers.parallel_rows import map_slices
from tap_service.serializers.serializer import MAX_REMEMBERED, ResultInfo, Serializer, Status
from tap_service.serializers.spooled_rows import SpooledRows
from tap_service.serializers.votable_binary_rows import find_row_encoder, fixed_size
from tap_service.serializers.votable_links import links_by_place, service_resources
from tap_service.xml_text import DECLARATION, Markup, element, start_tag, tag

NAMESPACE = "http://www.ivoa.net/xml/VOTable/v1.3"
VERSION = "1.4"

OPENING = Markup(DECLARATION + start_tag("VOTABLE", {"version": VERSION, "xmlns": NAMESPACE}) + "\n")
RESOURCE = Markup('<RESOURCE type="results">\n')
RESOURCE_END = Markup("</RESOURCE>\n")
CLOSING = Markup("</VOTABLE>\n")


def query_status(status: Status) -> Markup:
    """Write the INFO element QUERY_STATUS (DALI 1.1, section 4.4)."""
    return element("INFO", status.text, name="QUERY_STATUS", value=status.value)


def named_info(name: str, value: str, ucd: str = "") -> Markup:
    """Write an INFO element; nothing for an empty value."""
    return element("INFO", name=name, value=value, ucd=ucd) if value else Markup("")


def _execution_time(status: Status) -> Markup:
    if status.seconds is None:
        return Markup("")
    return element("INFO", name="execution_seconds", value=f"{status.seconds:.3f}", unit="s")


def _write_citation(text: str) -> Markup:
    """Write the INFO element of a citation (DALI 1.1, section 4.4.3)."""
    is_bibcode = re.fullmatch(r"\d{4}[A-Za-z.&]{5}[\w.]{9}[A-Za-z.]", text)
    return named_info("citation", text, "meta.bib.bibcode" if is_bibcode else "meta.bib")


class VOTable(Serializer):
    """Writes the document around the rows; subclasses write the content of DATA."""

    data_start = ""
    data_end = ""

    def write_header(self) -> bytes:
        lines = [*_write_description(self.fields, self.info, Status("OK")), "<DATA>" + self.data_start]
        return (OPENING + RESOURCE + "\n".join(lines)).encode()

    def flush_data(self) -> bytes:
        """Return the bytes of the data that ``write_rows`` has retained."""
        return b""

    def write_footer(self, status: Status) -> Iterable[bytes]:
        after = "" if status.value == "OK" else query_status(status) + "\n"
        if status.value == "ERROR" and self.info.error_name:
            after += named_info(self.info.error_name, status.text) + "\n"
        if spent := _execution_time(status):
            after += spent + "\n"
        yield (
            self.flush_data()
            + f"{self.data_end}</DATA>\n</TABLE>\n{after}{_write_end(self.fields, self.info)}".encode()
        )


def metadata_document(fields: Sequence[Field], info: ResultInfo, status: Status | None) -> bytes:
    """Write a VOTable without data, which other formats embed to describe their columns.

    ``status`` is None before the end of the result.
    """
    lines = [*_write_description(tuple(fields), info, status), "</TABLE>\n"]
    return (OPENING + RESOURCE + "\n".join(lines) + _write_end(fields, info)).encode()


def _write_end(fields: Sequence[Field], info: ResultInfo) -> Markup:
    """Write the end of the results and the descriptors of services that use their values."""
    used = info.links.services
    services = service_resources(used, fields, _find_ids(tuple(fields)).fields) if used else ""
    return Markup(RESOURCE_END + services + CLOSING)


class _Ids:
    """The XML IDs of a document's frames, time systems and fields."""

    def __init__(self, fields: Sequence[Field]) -> None:
        self.frames = {frame: f"coosys_{frame}" for frame in sorted({field.frame for field in fields} - {""})}
        systems = sorted({field.time_system for field in fields if field.time_system is not None})
        self.times = {system: f"timesys_{number}" for number, system in enumerate(systems, 1)}
        taken = (*self.frames.values(), *self.times.values())
        self.fields = field_ids([field.name for field in fields], taken)

    def find_ref(self, field: Field) -> str:
        """Return the ID of a field's frame or time system, '' if it has neither."""
        if field.frame:
            return self.frames[field.frame]
        return "" if field.time_system is None else self.times[field.time_system]


@lru_cache(MAX_REMEMBERED)
def _find_ids(fields: tuple[Field, ...]) -> _Ids:
    return _Ids(fields)


def _write_description(fields: tuple[Field, ...], info: ResultInfo, status: Status | None) -> Iterable[Markup]:
    """Yield the lines before the data, up to the last FIELD."""
    infos = (
        query_status(status) if status else Markup(""),
        named_info("standardID", info.standard_id),
        named_info("service", info.service),
        named_info("server_software", info.software),
        named_info("request_date", info.request_date),
        named_info("QUERY", info.query),
        named_info("MAXREC", "" if info.limit is None else str(info.limit)),
        _execution_time(status) if status else Markup(""),
        *(_write_citation(text) for text in info.citations),
        *(named_info("rights", text) for text in info.rights),
        *(named_info("note", note) for note in info.notes),
    )
    yield from (line for line in infos if line)
    links = links_by_place(info.links.of_columns, _find_ids(fields).fields)
    yield from _describe_columns(fields, tuple(links.items()))


@lru_cache(MAX_REMEMBERED)
def _describe_columns(fields: tuple[Field, ...], links: tuple[tuple[int, Markup], ...]) -> tuple[Markup, ...]:
    """Return the lines from the frames to the last FIELD; ``links`` are the LINKs of fields by position."""
    ids, links_of = _find_ids(fields), dict(links)
    return (
        *(element("COOSYS", ID=ident, system=frame) for frame, ident in ids.frames.items()),
        *(element("TIMESYS", ID=ident, **asdict(system)) for system, ident in ids.times.items()),
        Markup("<TABLE>"),
        *(
            _write_field(field, ident, ids.find_ref(field), links_of.get(place, Markup("")))
            for place, (field, ident) in enumerate(zip(fields, ids.fields, strict=True))
        ),
    )


def _write_field(field: Field, ident: str, ref: str, links: Markup) -> Markup:
    kind = field.type
    attributes = {
        "ID": ident,
        "name": field.name,
        "datatype": kind.datatype,
        "arraysize": "" if kind.arraysize == "1" else kind.arraysize,  # 1 is the default
        "xtype": kind.xtype,
        "unit": field.unit,
        "ucd": field.ucd,
        "utype": field.utype,
        "ref": ref,
    }
    description = element("DESCRIPTION", field.description) if field.description else ""
    values = "" if kind.null is None else element("VALUES", null=str(kind.null))
    return tag("FIELD", attributes, Markup(description + values + links))


def field_ids(names: Sequence[str], taken_already: Iterable[str] = ()) -> list[str]:
    """Return unique XML IDs close to the columns' names, which astropy uses as column names.

    No ID equals another column's name, because clients look up references among both.
    """
    taken, own = set(taken_already), set(names)
    ids = []
    for name in names:
        base = re.sub(r"[^A-Za-z0-9_.-]", "_", name)
        if not re.match(r"[A-Za-z_]", base):
            base = "_" + base
        ident, number = base, 1
        while ident in taken or (ident != name and ident in own):
            number += 1
            ident = f"{base}_{number}"
        taken.add(ident)
        ids.append(ident)
    return ids


class Binary2(VOTable):
    """BINARY2: lossless, and the fastest to write and to read."""

    data_start = '<BINARY2>\n<STREAM encoding="base64">\n'
    data_end = "\n</STREAM>\n</BINARY2>"

    def __init__(self, fields: Sequence[Field], info: ResultInfo, scratch: ScratchSpace = NO_SCRATCH) -> None:
        super().__init__(fields, info, scratch)
        self._encoder = find_row_encoder(self.fields, flags=True)
        self._remainder = b""

    def write_rows(self, batch: pa.RecordBatch) -> bytes:
        text, self._remainder = _encode_base64(
            self._remainder + self._encoder.encode_rows(conform_batch(batch, self.fields))
        )
        return text

    def flush_data(self) -> bytes:
        return pybase64.b64encode(self._remainder)


def _encode_base64(data: bytes) -> tuple[bytes, bytes]:
    """Encode the whole triples of bytes; return their base64 and the one or two bytes left over."""
    whole = len(data) - len(data) % 3
    return pybase64.b64encode(memoryview(data)[:whole]), data[whole:]


class Binary(VOTable):
    """BINARY: for readers from before VOTable 1.3.

    A NULL integer becomes a number that no row has, declared in VALUES before the rows, so rows are spooled until the
    last one arrives. If a column leaves no number, it gets a wider type.
    """

    data_start = '<BINARY>\n<STREAM encoding="base64">\n'
    data_end = "\n</STREAM>\n</BINARY>"

    def __init__(self, fields: Sequence[Field], info: ResultInfo, scratch: ScratchSpace = NO_SCRATCH) -> None:
        super().__init__(fields, info, scratch)
        self._marks = [NullMark(field, fills_arrays=fixed_size(field) is not None) for field in fields]
        self._spooled = SpooledRows(scratch)

    def write_header(self) -> bytes:
        return b""

    def write_rows(self, batch: pa.RecordBatch) -> bytes:
        arrays = conform_batch(batch, self.fields)
        for mark, array in zip(self._marks, arrays, strict=True):
            mark.observe_values(array)
        if batch.num_rows:
            self._spooled.add_batch(pa.record_batch(arrays, names=[str(number) for number in range(len(arrays))]))
        return b""

    def write_footer(self, status: Status) -> Iterable[bytes]:
        for mark in self._marks:
            mark.choose_value()
        self.fields = tuple(mark.apply_to_field(field) for mark, field in zip(self._marks, self.fields, strict=True))
        encoder = find_row_encoder(self.fields, flags=False)
        yield super().write_header()
        remainder = b""
        for batch in self._spooled:
            text, remainder = _encode_base64(remainder + encoder.encode_rows(batch.columns))
            yield text
        yield pybase64.b64encode(remainder)
        yield from super().write_footer(status)


class TableData(VOTable):
    """TABLEDATA: readable text, several times the size."""

    data_start = "<TABLEDATA>\n"
    data_end = "</TABLEDATA>"

    def write_rows(self, batch: pa.RecordBatch) -> bytes:
        return b"".join(map_slices(self._encode_rows, batch))

    def _encode_rows(self, batch: pa.RecordBatch) -> bytes:
        words = list(map(_xml_cells, conform_batch(batch, self.fields), self.fields))
        return join_text(words, "<TR><TD>", "</TD><TD>", "</TD></TR>\n")


_SPELLING = Spelling(plus_infinity="+Inf", minus_infinity="-Inf")

#: UTF-8 bytes of characters that need no escaping: not of controls or markup, nor 0xEF, which begins U+FFFE and U+FFFF
_SAFE_BYTES = bytes({*range(32, 256), *b"\t\n"} - {*b"&<>", 0xEF})
_FORBIDDEN = r"[\x00-\x08\x0b\x0c\x0e-\x1f\x{FFFE}\x{FFFF}]"
_NOT_ASCII = r"[^\t\n\r\x20-\x7f]"


def _xml_cells(column: pa.Array, field: Field) -> pa.Array:
    words = format_cells(column, field, _SPELLING)
    return escape_cells(words, ascii_only=field.type.datatype == "char") if field.type.is_text else words


def escape_cells(words: pa.Array, *, ascii_only: bool = False) -> pa.Array:
    """Escape text for XML or HTML; NULL stays NULL."""
    data = text_bytes(words)
    if data.translate(None, _SAFE_BYTES) or (ascii_only and not data.isascii()):
        pattern, replacement = (_NOT_ASCII, "?") if ascii_only else (_FORBIDDEN, "�")
        words = pc.replace_substring_regex(words, pattern, replacement)
        words = replace_characters(words, (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("\r", "&#13;")))
    return words
