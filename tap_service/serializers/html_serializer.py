"""An HTML page for browsers. Text from the query and the data is escaped; the page runs no scripts."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from clickhouse_schema.datatypes import Field
from tap_service.serializers.cell_text import Spelling, format_cells
from tap_service.serializers.field_arrays import conform_batch, join_text
from tap_service.serializers.parallel_rows import map_slices
from tap_service.serializers.serializer import Serializer, Status
from tap_service.serializers.votable_serializer import escape_cells
from tap_service.xml_text import element, escape_text

_STYLE = (
    "body{font:14px/1.4 system-ui,sans-serif;margin:1.5em}table{border-collapse:collapse}"
    "th,td{padding:.15em .6em;text-align:left;vertical-align:top;white-space:pre-wrap;border-bottom:1px solid #ddd}"
    "thead th{position:sticky;top:0;background:#f3f3f3}th span{font-weight:normal;color:#555}"
    "pre{white-space:pre-wrap;background:#f3f3f3;padding:.6em}"
)
_SPELLING = Spelling("∞", "−∞")


class Html(Serializer):
    def write_header(self) -> bytes:
        numbers = [number for number, field in enumerate(self.fields, 1) if field.type.is_numeric]
        right = ",".join(f"td:nth-child({number})" for number in numbers)
        style = _STYLE + (f"{right}{{text-align:right}}" if right else "")
        title = escape_text(f"Result of {self.info.service or 'a query'}")
        query = element("pre", self.info.query) if self.info.query else ""
        notes = "".join(element("p", note) for note in self.info.notes)
        return (
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
            f'<meta name="viewport" content="width=device-width">\n<title>{title}</title>\n<style>{style}</style>\n'
            f"</head>\n<body>\n<h1>{title}</h1>\n{query}{notes}\n<table>\n"
            f"<thead><tr>{''.join(map(_format_heading, self.fields))}</tr></thead>\n<tbody>\n"
        ).encode()

    def write_rows(self, batch: pa.RecordBatch) -> bytes:
        return b"".join(map_slices(self._encode_rows, batch))

    def _encode_rows(self, batch: pa.RecordBatch) -> bytes:
        words = list(map(_format_html_cells, conform_batch(batch, self.fields), self.fields))
        return join_text(words, "<tr><td>", "</td><td>", "</td></tr>\n")

    def write_footer(self, status: Status) -> Iterable[bytes]:
        ends = {"OK": "The result is complete.", "OVERFLOW": status.text, "ERROR": f"The query failed: {status.text}"}
        citations = [f"To cite: {citation}" for citation in self.info.citations]
        lines = [ends[status.value], *citations, *(f"Rights: {rights}" for rights in self.info.rights)]
        paragraphs = "".join(element("p", line) + "\n" for line in lines)
        yield f"</tbody>\n</table>\n{paragraphs}</body>\n</html>\n".encode()


def _format_heading(field: Field) -> str:
    unit = element("span", f" [{field.unit}]") if field.unit else ""
    title = "; ".join(text for text in (field.description, field.ucd, field.type.adql) if text)
    return element("th", field.name, unit, title=title)


def _format_html_cells(column: pa.Array, field: Field) -> pa.Array:
    words = format_cells(column, field, _SPELLING)
    return escape_cells(words) if field.type.is_text else words
