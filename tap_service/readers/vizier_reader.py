"""Reader of VizieR's texts (``asu-tsv``, and the same with ``;`` or ``|`` between the columns)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pacsv

from clickhouse_schema.datatypes import UNICODE, ColumnType, Field
from tap_service.models.read_options import AS_DETECTED, ReadOptions
from tap_service.readers.byte_stream import ByteStream
from tap_service.readers.cds_columns import FORMAT, Explanation, find_format_type, parse_explanation
from tap_service.readers.read_error import ReadError
from tap_service.readers.table_source import RejectedRow, RowBlock
from tap_service.readers.text_lines import LineBlock, read_line_blocks
from tap_service.readers.text_source import TextSource
from tap_service.readers.text_values import guess_type, trim_values
from tap_service.readers.unique_names import name_columns
from tap_service.readers.vizier_header import VizierTable, describe_tables, list_vizier_tables

_END = re.compile(rb"^(?:#|$)", re.MULTILINE)
_MAX_SHOWN = 200

#: units that describe how a text is written
_TEXT_FORMS = frozenset({"h:m:s", "d:m:s", "date", "datime", "h:m", "d:m"})


class VizierSource(TextSource):
    """A table of an output of VizieR: the first with rows, or the table that ``options.table`` chooses.

    See ``Source``.
    """

    form = ""

    def __init__(self, path: Path, options: ReadOptions = AS_DETECTED) -> None:
        super().__init__(path, options)
        with ByteStream(path) as stream:
            tables = list_vizier_tables(stream)
        self._table = table = _choose_table(path, tables, options.table)
        self.description = table.title
        self._names, notes = name_columns(table.names, case_matters=options.case_matters)
        self._explanations = {
            unique: parse_explanation(column.explanation) if (column := table.columns.get(name)) else Explanation("")
            for unique, name in zip(self._names, table.names, strict=True)
        }
        self._numbers: frozenset[str] = frozenset()
        types = self._find_types()
        self._numbers = frozenset(name for name, type_ in types.items() if type_.is_numeric)
        self.fields = tuple(self._list_fields(types))
        self.notes = (*_note_tables(tables, table), *notes, *_note_guesses(table))

    def read_blocks(self, columns: tuple[str, ...]) -> Iterator[RowBlock]:
        with ByteStream(self.path) as stream:
            for block in read_line_blocks(stream, self._table.rows):
                end = _END.search(block.text)
                text = block.text[: end.start()] if end and end.start() < len(block.text) else block.text
                if text:
                    yield self._parse_block(LineBlock(text, block.line, block.fraction), columns)
                if len(text) < len(block.text):
                    return

    def _parse_block(self, block: LineBlock, columns: tuple[str, ...]) -> RowBlock:
        kept, rejects = self._split_lines(block)
        text = b"".join(line + b"\n" for line in kept.values())
        arrays = self._parse_lines(text, columns, block.line) if kept else [pa.array([], pa.binary())] * len(columns)
        schema = pa.schema([(name, pa.binary()) for name in columns])
        batch = pa.RecordBatch.from_arrays(arrays, schema=schema)
        numbers = list(kept)
        return RowBlock(batch, numbers.__getitem__, block.fraction, rejects)

    def _split_lines(self, block: LineBlock) -> tuple[dict[int, bytes], tuple[RejectedRow, ...]]:
        """Return the lines by their numbers, and reject lines with more or fewer fields than there are columns.

        For such a line that is not UTF-8, Arrow would refuse the entire block, whatever its handler says.
        """
        delimiter = self._table.delimiter.encode()
        kept: dict[int, bytes] = {}
        rejects: list[RejectedRow] = []
        for number, line in enumerate(block.text.split(b"\n")[:-1], block.line):
            fields = line.count(delimiter) + 1
            if fields == len(self._names):
                kept[number] = line
            else:
                shown = line[:_MAX_SHOWN].decode(errors="backslashreplace")
                rejects.append(RejectedRow(number, "", shown, f"has {fields} fields for {len(self._names)} columns"))
        return kept, tuple(rejects)

    def _parse_lines(self, text: bytes, columns: tuple[str, ...], line: int) -> list[pa.Array]:
        try:
            table = pacsv.read_csv(
                pa.BufferReader(text),
                read_options=pacsv.ReadOptions(column_names=self._names, use_threads=False, block_size=len(text) + 1),
                parse_options=pacsv.ParseOptions(
                    delimiter=self._table.delimiter, quote_char=False, ignore_empty_lines=False
                ),
                convert_options=pacsv.ConvertOptions(
                    column_types=dict.fromkeys(self._names, pa.string()),
                    include_columns=list(columns),
                    strings_can_be_null=False,
                    check_utf8=False,
                ),
            )
        except pa.ArrowInvalid as error:
            raise ReadError(f"{self.path} cannot be read from line {line} on: {error}") from error
        return [self._trim_column(name, table[name].combine_chunks()) for name in columns]

    def _trim_column(self, name: str, texts: pa.Array) -> pa.Array:
        return trim_values(texts, self._explanations[name].nulls, is_number=name in self._numbers)

    def _find_types(self) -> dict[str, ColumnType]:
        """Return the types that the comments declare; types of other columns are guessed from the first rows."""
        types: dict[str, ColumnType] = {}
        for unique, name in zip(self._names, self._table.names, strict=True):
            column = self._table.columns.get(name)
            width = FORMAT.fullmatch(column.format) if column else None
            if column and width and (found := find_format_type(column.format, int((width["width"] or "1")[:9]))):
                types[unique] = found
        unknown = tuple(name for name in self._names if name not in types)
        block = next(self.read_blocks(unknown), None) if unknown else None
        for index, name in enumerate(unknown):
            types[name] = guess_type(block.batch.column(index)) if block else UNICODE
        return types

    def _list_fields(self, types: dict[str, ColumnType]) -> Iterator[Field]:
        for unique, name, unit in zip(self._names, self._table.names, self._table.units, strict=True):
            column = self._table.columns.get(name)
            is_form = unit in _TEXT_FORMS
            text = self._explanations[unique].text
            if is_form:
                text = f"{text} ({unit})".strip()
            ucd = column.ucd if column else ""
            yield Field(unique, types[unique], unit="" if is_form else unit, ucd=ucd, description=text)


def _choose_table(path: Path, tables: list[VizierTable], wanted: str) -> VizierTable:
    listed = ", ".join(describe_tables(tables[:20]))
    if not wanted:
        with_rows = [table for table in tables if table.has_rows]
        return (with_rows or [table for table in tables if table.names])[0]
    if wanted.isdigit() and 1 <= int(wanted) <= len(tables):
        chosen = [tables[int(wanted) - 1]]
    else:
        chosen = [table for table in tables if wanted in table.list_names()]
    if len(chosen) != 1:
        raise ReadError(f"{path} has no table {wanted!r:.100}; it has {listed}")
    if not chosen[0].names:
        raise ReadError(f"{path}: the table {wanted:.100} has no rows; the file has {listed}")
    return chosen[0]


def _note_tables(tables: list[VizierTable], chosen: VizierTable) -> Iterator[str]:
    others = [table for table in tables if table is not chosen]
    if others:
        numbers = [text for table, text in zip(tables, describe_tables(tables), strict=True) if table is not chosen]
        more = f" and {len(numbers) - 20} more" if len(numbers) > 20 else ""
        name = chosen.name or chosen.identifier or "the first with rows"
        yield f"the table {name} is read; the file also has {', '.join(numbers[:20])}{more}"


def _note_guesses(table: VizierTable) -> Iterator[str]:
    guessed = [name for name in table.names if name not in table.columns]
    if guessed:
        yield f"no #Column lines describe {', '.join(guessed[:20])}: their types are guessed from the first rows"
