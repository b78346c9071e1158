"""Reader of delimited text (CSV, TSV, and files with other delimiters); types are guessed from the first rows.

The text is cut into blocks at row ends. Arrow parses each block into binary columns, so that a bad value or a broken
line costs one row. An empty field is NULL; a quoted empty field ("") is an empty text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from clickhouse_schema.datatypes import DOUBLE, UNICODE, ColumnType, Field
from tap_service.models.read_options import AS_DETECTED, ReadOptions
from tap_service.readers.byte_stream import ByteStream
from tap_service.readers.latin1_text import SkipRow, is_utf8, parse_as_latin1
from tap_service.readers.quoted_fields import QuotedFields
from tap_service.readers.read_error import ReadError
from tap_service.readers.table_source import MAX_ROW_BYTES, RejectedRow, RowBlock, TypeNote
from tap_service.readers.text_dialect import BLANKS, DELIMITER_NAMES, Dialect, detect_dialect
from tap_service.readers.text_source import TextSource
from tap_service.readers.type_guess import NULL_WORDS, NUMBER, find_lost_characters, find_lost_digits, guess_fields

_BLOCK_BYTES = 4 << 20

_MAX_SHOWN = 200

_NUMBER = rf"{NUMBER}|(?i)^ *[-+]?(inf|infinity|nan) *$"

_REJECT_HINT = "to reject such rows, give the column's datatype in a --schema file"

#: fraction of numbers among the values of a text column above which it probably should be numeric
_MIN_NUMBER_SHARE = 0.5


class CsvSource(TextSource):
    """A file of delimited text. See ``Source``.

    Parameters
    ----------
    path : Path
        The file.
    options : ReadOptions
        What the sender says about the file.
    dialect, fields, description
        Detected unless given, as from the header of ECSV.

    Attributes
    ----------
    delimiters : ClassVar[tuple[str, ...]]
        The candidates, in order of preference.
    null_words : ClassVar[tuple[str, ...]]
        The unquoted texts that are NULL in every file of this format.
    """

    delimiters: ClassVar[tuple[str, ...]] = (",", "\t", ";", "|")
    null_words: ClassVar[tuple[str, ...]] = ()
    description = ""

    def __init__(
        self,
        path: Path,
        options: ReadOptions = AS_DETECTED,
        dialect: Dialect | None = None,
        fields: tuple[Field, ...] = (),
        description: str = "",
    ) -> None:
        super().__init__(path, options)
        self.description = description
        self._dialect = dialect or detect_dialect(path, self.delimiters, options)
        self.notes = self._dialect.notes
        self._quoted = QuotedFields(
            self._dialect.delimiter, self._dialect.comment, has_escapes=self._dialect.has_escapes
        )
        self._is_guessed = not fields
        self._doubts: tuple[str, ...] = ()
        self.fields = fields or self._guess_fields()

    @property
    def form(self) -> str:
        """Delimiter, header and quotation marks, for messages."""
        mark = self._dialect.delimiter
        header = f"names in line {self._dialect.header_line}" if self._dialect.header_line else "no header"
        escapes = ', quotation marks inside fields as \\"' if self._dialect.has_escapes else ""
        return f"delimiter {DELIMITER_NAMES.get(mark, mark)}, {header}{escapes}"

    def read_blocks(self, columns: tuple[str, ...]) -> Iterator[RowBlock]:
        for block in self._read_text_blocks():
            rejects: list[RejectedRow] = []
            broken: list[int] = []

            def skip(row: pacsv.InvalidRow, rejects: list[RejectedRow] = rejects, broken: list[int] = broken) -> str:
                broken.append(row.number - 1)
                reason = f"has {row.actual_columns} fields for {row.expected_columns} columns"
                rejects.append(RejectedRow(row.number - 1, "", row.text[:_MAX_SHOWN], reason))
                return "skip"

            table = self._parse_texts(block, columns, skip)
            lines = _LineNumbers(self._quoted, block, tuple(broken))
            located = tuple(replace(reject, where=lines.find_line(reject.where)) for reject in rejects)
            batches = table.combine_chunks().to_batches()
            batch = batches[0] if batches else pa.RecordBatch.from_pylist([], schema=table.schema)
            yield RowBlock(batch, lines.find_good_row_line, block.fraction, located)

    def widen_type(self, column: Field) -> ColumnType | None:
        """Return the next wider type for a guessed column whose values do not fit; None if it is already text."""
        if column.type == UNICODE:
            return None
        is_whole = column.type.is_integer and self._find_inexact(Field(column.name, DOUBLE)) is None
        return DOUBLE if is_whole else UNICODE

    def keep_digits(self) -> None:
        """Read all rows, and make guessed numbers text if a value would lose digits; add a note for each column."""
        if not self._is_guessed:
            return
        numbers = [field for field in self.fields if field.type.is_numeric]
        inexact = self._find_inexact_columns(numbers)
        self.fields = tuple(replace(field, type=UNICODE) if field.name in inexact else field for field in self.fields)
        self.notes += tuple(TypeNote(f"column {name} stays text: {reason}", name) for name, reason in inexact.items())

    def _find_inexact(self, column: Field) -> str | None:
        return self._find_inexact_columns([column]).get(column.name)

    def _find_inexact_columns(self, columns: list[Field]) -> dict[str, str]:
        """Return the columns in which a value would lose digits, each with the reason."""
        found: dict[str, str] = {}
        remaining = {column.name: column for column in columns}
        for block in self._read_text_blocks() if columns else ():
            table = self._parse_texts(block, tuple(remaining), lambda _: "skip")
            for name in table.column_names:
                find_lost = find_lost_characters if remaining[name].type.is_integer else find_lost_digits
                if lost := find_lost(table[name]):
                    found[name] = lost
                    del remaining[name]
            if not remaining:
                break
        return found

    def list_doubts(self) -> Iterator[str]:
        """Describe what may be guessed wrong: longitudes in hours, and numbers that a few values make text."""
        yield from self._doubts
        texts = tuple(field.name for field in self.fields if field.type == UNICODE) if self._is_guessed else ()
        block = next(self._read_text_blocks(), None) if texts else None
        if block is None:
            return
        broken: list[int] = []

        def skip(row: pacsv.InvalidRow) -> str:
            broken.append(row.number - 1)
            return "skip"

        table = self._parse_texts(block, texts, skip)
        for name in texts:
            fits = pc.match_substring_regex(table[name], _NUMBER)
            share = pc.mean(fits).as_py() or 0
            if _MIN_NUMBER_SHARE <= share < 1:
                row = pc.index(fits, False).as_py()
                value = table[name][row].as_py().decode(errors="replace")[:_MAX_SHOWN]
                line = _LineNumbers(self._quoted, block, tuple(broken)).find_good_row_line(row)
                why = f"because of values such as {value!r} in line {line}; most of its values are numbers"
                yield f"column {name} is read as text {why}: {_REJECT_HINT}"

    def _guess_fields(self) -> tuple[Field, ...]:
        block = next(self._read_text_blocks(), None)
        if block is None:
            return tuple(Field(name, UNICODE) for name in self._dialect.names)
        texts = self._parse_texts(block, self._dialect.names, lambda _: "skip")
        types = self._parse_block(block.text, {}, (*self._null_texts, *NULL_WORDS), lambda _: "skip").schema
        guess = guess_fields(texts, types)
        self.options = self.options.add_nulls(guess.nulls)
        self.notes += guess.notes
        self._doubts = guess.doubts
        return guess.fields

    @property
    def _null_texts(self) -> tuple[str, ...]:
        """The unquoted texts that are NULL."""
        return ("", *self.null_words, *self.options.nulls)

    def _parse_texts(self, block: _Block, columns: tuple[str, ...], skip: SkipRow) -> pa.Table:
        """Return columns of a block as binary."""
        return self._parse_block(block.text, dict.fromkeys(columns, pa.binary()), self._null_texts, skip)

    def _parse_block(
        self, text: bytes, types: dict[str, pa.DataType], nulls: tuple[str, ...], skip: SkipRow
    ) -> pa.Table:
        """Parse the columns of ``types``; all columns, with the types that Arrow infers, if it is empty."""
        parse = partial(self._parse_utf8, types)
        return parse(text, nulls, skip) if is_utf8(text) else parse_as_latin1(parse, text, nulls, skip)

    def _parse_utf8(
        self, types: dict[str, pa.DataType], text: bytes, nulls: tuple[str, ...], skip: SkipRow
    ) -> pa.Table:
        try:
            return pacsv.read_csv(
                pa.BufferReader(text),
                # Arrow numbers the broken rows only with one thread and one block
                read_options=pacsv.ReadOptions(
                    column_names=self._dialect.names, use_threads=False, block_size=len(text) + 1
                ),
                parse_options=pacsv.ParseOptions(
                    delimiter=self._dialect.delimiter,
                    escape_char="\\" if self._dialect.has_escapes else False,
                    newlines_in_values=True,
                    invalid_row_handler=skip,
                ),
                convert_options=pacsv.ConvertOptions(
                    column_types=types,
                    include_columns=list(types),
                    null_values=list(nulls),
                    strings_can_be_null=True,
                    quoted_strings_can_be_null=False,
                    check_utf8=False,
                ),
            )
        except pa.ArrowInvalid as error:
            raise ReadError(f"{self.path} cannot be read as delimited text: {error}") from error

    def _read_text_blocks(self) -> Iterator[_Block]:
        with ByteStream(self.path) as stream:
            line = 1
            while line < self._dialect.first_line:
                stream.readline()
                line += 1
            rest = b""
            while True:
                read = stream.read(_BLOCK_BYTES)
                rest += read
                cut = self._quoted.find_last_row_end(rest) if read else self._find_end(rest, line)
                if cut:
                    text, rest = rest[:cut], rest[cut:]
                    yield _Block(self._prepare_text(text), line, stream.fraction_read)
                    line += text.count(b"\n")
                elif len(rest) > MAX_ROW_BYTES:
                    raise ReadError(
                        f"{self.path}: a row has more than {MAX_ROW_BYTES} bytes; "
                        f"a quotation mark opened in or after line {line} may be unclosed"
                    )
                if not read:
                    return

    def _find_end(self, text: bytes, line: int) -> int:
        """Return the length of the last rows, which start in ``line``. Raise ``ReadError`` if a field stays open."""
        if (opened := self._quoted.find_open_field(text)) is not None:
            line += text.count(b"\n", 0, opened)
            raise ReadError(
                f"{self.path}, line {line}: the quotation mark that starts a field is not closed, so the rows below it "
                "would be lost: close it, or write it twice inside quotation marks"
            )
        return len(text)

    def _prepare_text(self, text: bytes) -> bytes:
        """Return the text in a form that Arrow can parse, with the same lines."""
        if self._dialect.comment:
            text = re.sub(rb"(?m)^" + re.escape(self._dialect.comment.encode()) + rb"[^\n]*", b"", text)
        if self._dialect.delimiter == BLANKS and self._joins_blanks:
            text = _join_blanks(text, self._quoted)
        if self._dialect.has_escapes:  # Arrow would make N of \\N
            mark = re.escape(self._dialect.delimiter.encode())
            text = re.sub(rb"(?m)(^|" + mark + rb")\\N(?=" + mark + rb"|\r?$)", rb"\1", text)
        return text

    #: whether several blanks are one delimiter
    _joins_blanks: ClassVar[bool] = True


class TsvSource(CsvSource):
    """A file of tab-separated values."""

    delimiters: ClassVar[tuple[str, ...]] = ("\t",)


@dataclass(frozen=True)
class _Block:
    """Complete rows; the first one starts in ``line`` of the file."""

    text: bytes
    line: int
    fraction: float


class _LineNumbers:
    """The line of each row of a block, computed on demand: rows may contain line ends, and blank lines are not rows."""

    def __init__(self, quoted: QuotedFields, block: _Block, broken: tuple[int, ...]) -> None:
        self._quoted = quoted
        self._block = block
        self._broken = broken

    def find_line(self, row: int) -> int:
        return int(self._line_ends[min(row, len(self._line_ends) - 1)])

    def find_good_row_line(self, row: int) -> int:
        good = np.arange(row + len(self._broken) + 1)
        broken = [number for number in self._broken if number < len(good)]
        return self.find_line(int(np.delete(good, broken)[row]))

    @cached_property
    def _line_ends(self) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        lines = []
        start, line = 0, self._block.line
        for row in self._quoted.join_rows(self._block.text).split(b"\n"):
            if row.rstrip(b"\r"):
                lines.append(line)
            end = start + len(row) + 1
            line += self._block.text.count(b"\n", start, end)
            start = end
        return np.array(lines or [self._block.line], np.int64)


def _join_blanks(text: bytes, quoted: QuotedFields) -> bytes:
    """Return the text with single blanks outside quoted fields, and no blanks at the ends of lines."""
    if b'"' in text:
        return _join_unquoted_blanks(text, quoted.find_quoted(text))
    characters = np.frombuffer(text.replace(b"\t", b" "), np.uint8)
    is_blank = characters == ord(" ")
    joined = characters[~_find_superfluous(is_blank, characters == ord("\n"))].tobytes()
    return joined.replace(b" \n", b"\n").replace(b" \r\n", b"\r\n").removesuffix(b" ")


def _join_unquoted_blanks(text: bytes, is_quoted: npt.NDArray[np.bool_]) -> bytes:
    characters = np.frombuffer(text, np.uint8)
    is_blank = ((characters == ord(" ")) | (characters == ord("\t"))) & ~is_quoted
    kept = np.flatnonzero(~_find_superfluous(is_blank, characters == ord("\n")))
    joined, is_blank = characters[kept], is_blank[kept]
    joined[is_blank] = ord(" ")
    is_blank[:-1] &= np.isin(joined[1:], (ord("\n"), ord("\r")))  # blanks that remain at the ends of lines
    return bytes(joined[~is_blank])


def _find_superfluous(is_blank: npt.NDArray[np.bool_], is_line_feed: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Find the blanks after another blank, and blanks at the start of a line."""
    found = is_blank.copy()
    found[1:] &= (is_blank | is_line_feed)[:-1]
    return found
