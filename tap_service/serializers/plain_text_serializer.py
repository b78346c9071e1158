"""Plain text for people: columns aligned under their names, numbers to the right.

A column is as wide as its longest cell, so rows are spooled until the last one arrives. NULL is blank; control
characters in text, including line ends, become spaces. A line of dashes marks the columns. If the row limit cut the
result, a comment at the end says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from clickhouse_schema.datatypes import Field
from tap_service.scratch_files import NO_SCRATCH, ScratchSpace
from tap_service.serializers.cell_text import Spelling, control_characters, format_cells
from tap_service.serializers.csv_serializer import to_one_line
from tap_service.serializers.field_arrays import conform_batch, join_text
from tap_service.serializers.padded_text import Widths
from tap_service.serializers.parallel_rows import map_slices
from tap_service.serializers.serializer import ResultInfo, Serializer, Status, distinct_names
from tap_service.serializers.spooled_rows import SpooledRows

_SPELLING = Spelling("inf", "-inf", "nan")


class PlainText(Serializer):
    def __init__(self, fields: Sequence[Field], info: ResultInfo, scratch: ScratchSpace = NO_SCRATCH) -> None:
        super().__init__(fields, info, scratch)
        self._names = distinct_names([to_one_line(field.name) for field in fields])
        self._spooled = SpooledRows(scratch)
        self._widths = [Widths() for _ in self.fields]

    def write_rows(self, batch: pa.RecordBatch) -> bytes:
        for texts in map_slices(self._format_rows, batch):
            for text, widths in zip(texts, self._widths, strict=True):
                widths.observe_sizes(pc.utf8_length(text))
            self._spooled.add_batch(pa.record_batch(texts, names=[str(number) for number in range(len(texts))]))
        return b""

    def _format_rows(self, batch: pa.RecordBatch) -> list[pa.Array]:
        return list(map(_format_plain_cells, conform_batch(batch, self.fields), self.fields))

    def write_footer(self, status: Status) -> Iterable[bytes]:
        if status.value == "ERROR":
            return
        rows = self._spooled.count
        widths = [
            max(len(name), sizes.longest if sizes.can_pad(rows) else 0)
            for name, sizes in zip(self._names, self._widths, strict=True)
        ]
        aligned = [(field.type.is_numeric, width) for field, width in zip(self.fields, widths, strict=True)]
        yield _join_line([_pad_name(name, *alignment) for name, alignment in zip(self._names, aligned, strict=True)])
        yield _join_line(["-" * width for width in widths])
        for batch in self._spooled:
            cells = [_pad_words(words, *alignment) for words, alignment in zip(batch.columns, aligned, strict=True)]
            yield join_text(cells, "", " ", "\n")
        if status.text:
            yield f"\n# {to_one_line(status.text)}\n".encode()  # readers skip it as a comment


def _format_plain_cells(column: pa.Array, field: Field) -> pa.Array:
    words = format_cells(column, field, _SPELLING)
    words = pc.fill_null(words, "") if words.null_count else words
    if field.type.is_text and control_characters(words):
        words = pc.replace_substring_regex(words, "\r\n|[\x00-\x1f]", " ")
    return words


def _pad_words(words: pa.Array, right: bool, width: int) -> pa.Array:
    return pc.utf8_lpad(words, width) if right else pc.utf8_rpad(words, width)


def _pad_name(name: str, right: bool, width: int) -> str:
    return name.rjust(width) if right else name.ljust(width)


def _join_line(words: Sequence[str]) -> bytes:
    return (" ".join(words) + "\n").encode()
