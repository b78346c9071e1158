"""CSV (RFC 4180, UTF-8, CR LF) and TSV (IANA text/tab-separated-values).

NULL is an empty field; an empty string is ``""`` in CSV. CSV quotes text only where RFC 4180 requires it, and where
readers would strip white space at its ends. In a table of one column NULL is also ``""``, because readers skip blank
lines. Neither format can contain a status: the caller must abort the connection if the query fails midway.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from clickhouse_schema.datatypes import Field
from tap_service.serializers.cell_text import Spelling, format_cells, has_any
from tap_service.serializers.field_arrays import as_numpy, conform_batch, join_text, split_text
from tap_service.serializers.parallel_rows import map_slices
from tap_service.serializers.serializer import MAX_REMEMBERED, Serializer, Status, distinct_names

#: Java, C, Python and Arrow all read "Infinity"
SPELLING = Spelling()


class Separated(Serializer):
    """Rows of cells between separators."""

    separator = ","
    line_end = "\r\n"
    with_header = True

    def write_header(self) -> bytes:
        return self._write_names(self.fields) if self.with_header else b""

    @classmethod
    @lru_cache(MAX_REMEMBERED)
    def _write_names(cls, fields: tuple[Field, ...]) -> bytes:
        names = cls.quote_cells(pa.array(cls.choose_names(fields), pa.large_string()))
        return (cls.separator.join(names.to_pylist()) + cls.line_end).encode()

    @classmethod
    def choose_names(cls, fields: Sequence[Field]) -> list[str]:
        """Return the names of the columns in the header."""
        return distinct_names([field.name for field in fields])

    def write_rows(self, batch: pa.RecordBatch) -> bytes:
        return b"".join(map_slices(self._encode_rows, batch))

    def write_footer(self, status: Status) -> Iterable[bytes]:  # noqa: ARG002 (the format cannot contain it)
        return ()

    def _encode_rows(self, batch: pa.RecordBatch) -> bytes:
        words = list(map(self._cells_of_column, conform_batch(batch, self.fields), self.fields))
        return join_text(words, "", self.separator, self.line_end, null=self.null_text())

    def _cells_of_column(self, column: pa.Array, field: Field) -> pa.Array:
        words = format_cells(column, field, SPELLING)
        return self.quote_cells(words) if field.type.is_text else words

    @staticmethod
    @abstractmethod
    def quote_cells(words: pa.Array) -> pa.Array:
        """Quote or escape text for the file; NULL stays NULL."""

    def null_text(self) -> str:
        """Return the text of a NULL cell."""
        return ""


class Csv(Separated):
    @staticmethod
    def quote_cells(words: pa.Array) -> pa.Array:
        needs = _needs_quotes(words)
        if not needs.any():
            return words
        quoted = pc.replace_substring(words, '"', '""')
        mark = pa.scalar('"', pa.large_string())
        quoted = pc.binary_join_element_wise(mark, quoted, mark, pa.scalar("", pa.large_string()))
        return pc.if_else(pa.array(needs), quoted, words)

    def null_text(self) -> str:
        return '""' if len(self.fields) == 1 else ""


#: bytes that require quotes: anywhere in a cell, and at its ends
_MARKS, _BLANKS = (np.isin(np.arange(256), [*characters]) for characters in (b',"\r\n', b" \t"))


def _needs_quotes(words: pa.Array) -> np.ndarray:
    """Return which cells are empty, contain a mark, or start or end with a blank."""
    offsets, data = split_text(words)
    needs: np.ndarray = offsets[1:] == offsets[:-1]
    if not data.size:
        return needs
    last = data.size - 1
    needs |= _BLANKS[data[np.minimum(offsets[:-1], last)]] | _BLANKS[data[offsets[1:] - 1]]
    if has_any(words, ',"\r\n'):
        needs[np.searchsorted(offsets, np.flatnonzero(_MARKS[data]), "right") - 1] = True
    return needs & as_numpy(words.is_valid()) if words.null_count else needs


class CsvWithoutHeader(Csv):
    with_header = False


class Tsv(Separated):
    """Tab-separated values. Tabs and line ends in text become a space, because the format has no escape for them."""

    separator = "\t"
    line_end = "\n"

    @staticmethod
    def quote_cells(words: pa.Array) -> pa.Array:
        return pc.replace_substring_regex(words, "\r\n|[\t\r\n]", " ") if has_any(words, "\t\r\n") else words


def to_one_line(name: str) -> str:
    """Replace unprintable characters of a name or message by spaces."""
    return "".join(character if character.isprintable() else " " for character in name).strip() or "column"
