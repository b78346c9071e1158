"""VOTable in BINARY2, BINARY and TABLEDATA; ``votable_dialect`` has its versions.

The serializations share the document around the rows: QUERY_STATUS OK comes first, and any other final status after
the table.

Losses of the serializations:

- ``char`` is ASCII before VOTable 1.6: other characters become '?' (the loader declares columns with such characters
  ``unicodeChar``);
- in TABLEDATA, characters that XML forbids become U+FFFD, or '?' in ``char``;
- TABLEDATA and BINARY write an empty string or array as NULL, and BINARY writes NaN as NULL;
- in BINARY, and inside arrays in all serializations, a NULL integer becomes a number declared in VALUES.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cached_property

import pyarrow as pa
import pyarrow.compute as pc
import pybase64

from clickhouse_schema.datatypes import Field
from tap_service.scratch_files import NO_SCRATCH, ScratchSpace
from tap_service.serializers.cell_text import Spelling, format_cells, replace_characters
from tap_service.serializers.field_arrays import conform_batch, join_text, text_bytes
from tap_service.serializers.null_values import NullMark
from tap_service.serializers.parallel_rows import map_slices
from tap_service.serializers.serializer import ResultInfo, Serializer, Status
from tap_service.serializers.spooled_rows import SpooledRows
from tap_service.serializers.votable_binary_rows import RowEncoder, find_row_encoder, fixed_size
from tap_service.serializers.votable_columns import describe_columns, find_ids
from tap_service.serializers.votable_dialect import COMPLETE, Dialect, choose_dialect
from tap_service.serializers.votable_links import service_resources
from tap_service.xml_text import Markup, element

RESOURCE = Markup('<RESOURCE type="results">\n')
RESOURCE_END = Markup("</RESOURCE>\n")
CLOSING = Markup("</VOTABLE>\n")


def query_status(status: Status) -> Markup:
    """Write the INFO element QUERY_STATUS (DALI 1.1, section 4.4).

    Parameters
    ----------
    status : Status
        The value and the message; the seconds are not written.

    Returns
    -------
    Markup
        The element, without a line end.
    """
    return element("INFO", status.text, name="QUERY_STATUS", value=status.value)


def named_info(name: str, value: str, ucd: str = "") -> Markup:
    """Write an INFO element.

    Parameters
    ----------
    name, value, ucd : str
        Its attributes, which are escaped; '' for no UCD.

    Returns
    -------
    Markup
        The element, without a line end; '' for an empty value.
    """
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
    """Writes the document around the rows; subclasses write the content of DATA.

    Parameters
    ----------
    fields, info, scratch
        As for ``Serializer``.
    version : str
        The version of VOTable; '' for the default version of the process.
    is_annotated : bool
        Whether the document has a MIVOT block.
    """

    data_start = ""
    data_end = ""
    is_binary = True

    def __init__(
        self,
        fields: Sequence[Field],
        info: ResultInfo,
        scratch: ScratchSpace = NO_SCRATCH,
        *,
        version: str = "",
        is_annotated: bool = False,
    ) -> None:
        self.dialect = choose_dialect(version, is_annotated=is_annotated)
        super().__init__(self.dialect.convert_fields(fields, is_binary=self.is_binary), info, scratch)

    def write_header(self) -> bytes:
        lines = [*_write_description(self.fields, self.info, Status("OK"), self.dialect), "<DATA>" + self.data_start]
        return (self.dialect.opening + RESOURCE + "\n".join(lines)).encode()

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
            + f"{self.data_end}</DATA>\n</TABLE>\n{after}{_write_end(self.fields, self.info, self.dialect)}".encode()
        )


def metadata_document(fields: Sequence[Field], info: ResultInfo, status: Status | None) -> bytes:
    """Write a VOTable without data, which other formats embed to describe their columns.

    Parameters
    ----------
    fields, info
        The columns and the description of the result.
    status : Status | None
        The final status; None before the end of the result.

    Returns
    -------
    bytes
        A document in UTF-8, in the dialect ``COMPLETE``.
    """
    lines = [*_write_description(tuple(fields), info, status, COMPLETE), "</TABLE>\n"]
    return (COMPLETE.opening + RESOURCE + "\n".join(lines) + _write_end(tuple(fields), info, COMPLETE)).encode()


def _write_end(fields: tuple[Field, ...], info: ResultInfo, dialect: Dialect) -> Markup:
    """Write the end of the results, and the descriptors of services that use their values."""
    used = info.links.services
    services = service_resources(used, fields, find_ids(fields, dialect).fields) if used else ""
    return Markup(RESOURCE_END + services + CLOSING)


def _write_description(
    fields: tuple[Field, ...], info: ResultInfo, status: Status | None, dialect: Dialect
) -> Iterable[Markup]:
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
        *(named_info("note", note) for note in (*info.notes, *dialect.list_omissions(fields))),
    )
    yield from (line for line in infos if line)
    yield from describe_columns(fields, info.links, dialect, info.source_rows)


class Binary2(VOTable):
    """BINARY2: lossless, and the fastest to write and to read."""

    data_start = '<BINARY2>\n<STREAM encoding="base64">\n'
    data_end = "\n</STREAM>\n</BINARY2>"

    _remainder = b""

    @cached_property
    def _encoder(self) -> RowEncoder:
        return find_row_encoder(self.fields, flags=True, utf8=self.dialect.has_utf8_char)

    def write_rows(self, batch: pa.RecordBatch) -> bytes:
        text, self._remainder = _encode_base64(
            self._remainder + self._encoder.encode_rows(conform_batch(batch, self.fields))
        )
        return text

    def flush_data(self) -> bytes:
        return pybase64.b64encode(self._remainder)


def _encode_base64(data: bytes) -> tuple[bytes, bytes]:
    """Encode all complete triples of bytes; return their base64 and the one or two remaining bytes."""
    whole = len(data) - len(data) % 3
    return pybase64.b64encode(memoryview(data)[:whole]), data[whole:]


class Binary(VOTable):
    """BINARY, for readers from before VOTable 1.3.

    A NULL integer becomes a number that no row has, which is declared in VALUES before the rows, so rows are spooled
    until the last one arrives. If no number is left, the column gets a wider type.
    """

    data_start = '<BINARY>\n<STREAM encoding="base64">\n'
    data_end = "\n</STREAM>\n</BINARY>"

    @cached_property
    def _marks(self) -> list[NullMark]:
        return [NullMark(field, fills_arrays=fixed_size(field) is not None) for field in self.fields]

    @cached_property
    def _spooled(self) -> SpooledRows:
        return SpooledRows(self.scratch)

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
        encoder = find_row_encoder(self.fields, flags=False, utf8=self.dialect.has_utf8_char)
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
    is_binary = False

    def write_rows(self, batch: pa.RecordBatch) -> bytes:
        return b"".join(map_slices(self._encode_rows, batch))

    def _encode_rows(self, batch: pa.RecordBatch) -> bytes:
        columns = zip(conform_batch(batch, self.fields), self.fields, strict=True)
        words = [_xml_cells(column, field, utf8=self.dialect.has_utf8_char) for column, field in columns]
        return join_text(words, "<TR><TD>", "</TD><TD>", "</TD></TR>\n")


_SPELLING = Spelling(plus_infinity="+Inf", minus_infinity="-Inf")

#: UTF-8 bytes of characters that need no escaping: no controls, no markup, and not 0xEF, which starts U+FFFE and U+FFFF
_SAFE_BYTES = bytes({*range(32, 256), *b"\t\n"} - {*b"&<>", 0xEF})
_FORBIDDEN = r"[\x00-\x08\x0b\x0c\x0e-\x1f\x{FFFE}\x{FFFF}]"
_NOT_ASCII = r"[^\t\n\r\x20-\x7f]"


def _xml_cells(column: pa.Array, field: Field, *, utf8: bool) -> pa.Array:
    words = format_cells(column, field, _SPELLING)
    is_ascii = field.type.datatype == "char" and not (utf8 and fixed_size(field) is None)
    return escape_cells(words, ascii_only=is_ascii) if field.type.is_text else words


def escape_cells(words: pa.Array, *, ascii_only: bool = False) -> pa.Array:
    """Escape text for XML or HTML.

    Parameters
    ----------
    words : pyarrow.Array
        ``large_string``; NULL stays NULL.
    ascii_only : bool
        Whether each character outside ASCII becomes '?'; otherwise only characters that XML forbids are replaced, by
        U+FFFD.

    Returns
    -------
    pyarrow.Array
        The escaped text.
    """
    data = text_bytes(words)
    if data.translate(None, _SAFE_BYTES) or (ascii_only and not data.isascii()):
        pattern, replacement = (_NOT_ASCII, "?") if ascii_only else (_FORBIDDEN, "�")
        words = pc.replace_substring_regex(words, pattern, replacement)
        words = replace_characters(words, (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("\r", "&#13;")))
    return words
