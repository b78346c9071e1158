"""Reader of tables of the CDS, which a ReadMe next to them describes, and of machine-readable tables of journals (MRT).

A position in hours, minutes and seconds, or of another equinox than J2000, adds two columns in degrees: ``ra`` and
``dec``, or ``ra_icrs`` and ``dec_icrs`` if the table has one of these names.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from clickhouse_schema.datatypes import DOUBLE, ICRS, Field
from tap_service.models.read_options import AS_DETECTED, ReadOptions
from tap_service.readers.byte_stream import ByteStream
from tap_service.readers.cds_columns import find_format_type, parse_explanation
from tap_service.readers.cds_positions import Degrees, Position, compute_degrees, find_position
from tap_service.readers.cds_readme import CdsColumn, CdsTable, ReadMe, is_description, parse_readme
from tap_service.readers.compression import strip_compression
from tap_service.readers.fixed_width_rows import FixedColumn, FixedLayout, FixedRows
from tap_service.readers.read_error import ReadError
from tap_service.readers.table_source import MAX_HEADER_BYTES, RejectedRow, RowBlock
from tap_service.readers.text_lines import Start, decode_text, read_line_blocks, read_text
from tap_service.readers.text_source import TextSource
from tap_service.readers.unique_names import name_columns

_README_NAMES = ("readme", "0readme", "readme.txt")

#: a line of dashes; the rows of an MRT follow the last one
_RULE = re.compile(rb"^[ \t]*(?:-{6,}|={6,})[ \t]*\r?\n", re.MULTILINE)
_END_OF_README = re.compile(rb"^={3,}[ \t]*$\s*\(End\)|^\(End\)|^File Summary", re.MULTILINE | re.IGNORECASE)

_POSITION_NAMES = (("ra", "dec"), ("ra_icrs", "dec_icrs"))
_MAX_LISTED = 20


@dataclass(frozen=True, slots=True)
class _Description:
    """The description of the rows of a file: the ReadMe or header, the table in it, and where the rows start."""

    readme: ReadMe
    table: CdsTable
    source: str
    rows: Start
    caption: str
    records: int | None = None


class CdsSource(TextSource):
    """A table with a byte-by-byte description. ``readme``: the path of the ReadMe next to it; None for an MRT."""

    form = "fixed widths"

    def __init__(self, path: Path, options: ReadOptions = AS_DETECTED) -> None:
        super().__init__(path, options)
        own = _read_own_description(path)
        self.readme = None if own else find_readme(path)
        found = own or _read_readme(path, self.readme or path)
        self._start = found.rows
        self._records = found.records
        self.description = ". ".join(text.rstrip(".") for text in (found.readme.title, found.caption) if text)
        columns = found.table.columns
        names, notes = name_columns([column.label for column in columns], case_matters=options.case_matters)
        described = [_describe_column(self.readme or path, *each) for each in zip(columns, names, strict=True)]
        self._layout = FixedLayout([column for column, _ in described], found.table.width, found.source)
        self._position = find_position(_rename_columns(columns, names))
        self._position_names = _choose_names(names, self._position)
        fields = [
            replace(field, description=_add_notes(field.description, column.label, found.table.notes))
            for column, (_, field) in zip(columns, described, strict=True)
        ]
        computed = _list_position_fields(self._position, self._position_names)
        self.fields = (*_mark_position(fields, self._position), *computed)
        readme_note = (f"the columns are as described by {self.readme}",) if self.readme else ()
        self.notes = (*readme_note, *notes, *_note_position(self._position, self._position_names))

    def read_blocks(self, columns: tuple[str, ...]) -> Iterator[RowBlock]:
        count = 0
        with ByteStream(self.path) as stream:
            for block in read_line_blocks(stream, self._start):
                for rows in self._layout.split_block(block):
                    count += len(rows.lines) + len(rows.rejects)
                    yield self._build_block(rows, columns, block.fraction)
        if self._records not in (None, count):
            raise ReadError(
                f"{self.path} has {count:,} rows, but {self.readme} lists {self._records:,} records of it: fetch the"
                " file again, or correct the number there"
            )

    def _build_block(self, rows: FixedRows, columns: tuple[str, ...], fraction: float) -> RowBlock:
        computed = self._position if self._position_names and set(columns) & set(self._position_names) else None
        wanted = {name for name in columns if name not in self._position_names}
        wanted |= set(computed.list_labels()) if computed else set()
        arrays: dict[str, pa.Array] = {name: rows.slice_column(self._layout.columns[name]) for name in wanted}
        rejects = rows.rejects
        keep = np.ones(len(rows.lines), bool)
        if computed:
            degrees = compute_degrees(computed, arrays)
            keep[list(degrees.rejects)] = False
            rejects += tuple(_list_problems(degrees, arrays, rows))
            for name, values in zip(self._position_names, (degrees.ra, degrees.dec), strict=True):
                arrays[name] = pa.array(values, pa.float64(), mask=np.isnan(values))
        schema = pa.schema([(name, arrays[name].type) for name in columns])
        batch = pa.RecordBatch.from_arrays([arrays[name] for name in columns], schema=schema)
        lines = rows.lines
        if not keep.all():
            batch, lines = batch.filter(pa.array(keep)), lines[keep]
        return RowBlock(batch, lambda row: int(lines[row]), fraction, rejects)


def _list_problems(degrees: Degrees, arrays: dict[str, pa.Array], rows: FixedRows) -> Iterator[RejectedRow]:
    for row, (column, reason) in sorted(degrees.rejects.items()):
        value = arrays[column][row].as_py() or b""
        yield RejectedRow(rows.find_line(row), column, value.decode(errors="backslashreplace"), reason)


def find_readme(path: Path) -> Path:
    """Return the ReadMe in the folder of a file. Raise ``ReadError`` if there is none."""
    try:
        siblings = {name.lower(): name for name in os.listdir(path.parent)}
    except OSError:
        siblings = {}
    for name in _README_NAMES:
        if name in siblings and (path.parent / siblings[name]).is_file():
            return path.parent / siblings[name]
    raise ReadError(
        f"{path} has no byte-by-byte description, and there is no ReadMe next to it: "
        "put the ReadMe of the catalogue into its folder"
    )


def is_described_by_readme(path: Path) -> bool:
    """Return whether a ReadMe in the folder of a file describes it, or names it and is broken."""
    try:
        readme = find_readme(path)
        if readme.name == path.name:
            return False
        with ByteStream(readme) as stream:
            text = read_text(stream)
    except ReadError:
        return False
    if not is_description(text):
        return False
    try:
        return _find_table(parse_readme(readme, decode_text(text)), path) is not None
    except ReadError:
        return strip_compression(path.name) in decode_text(text)


def is_mrt_start(start: bytes) -> bool:
    """Return whether a file with this start describes tables: an MRT, or a ReadMe, which is then refused."""
    return is_description(start)


def _find_table(readme: ReadMe, path: Path) -> CdsTable | None:
    return readme.find_table(path.name) or readme.find_table(strip_compression(path.name))


def _read_readme(path: Path, readme: Path) -> _Description:
    with ByteStream(readme) as stream:
        parsed = parse_readme(readme, decode_text(read_text(stream)))
    table = _find_table(parsed, path)
    if table is None:
        raise ReadError(
            f"{readme} does not describe {path.name}; it describes {_list_names(parsed.list_files()) or 'no file'}. "
            "Rename the file to its name there"
        )
    name = strip_compression(path.name)
    caption = parsed.summaries.get(name) or parsed.summaries.get(re.sub(r"\.\d+$", "", name), "")
    return _Description(parsed, table, "the ReadMe", Start(0, 1), caption, parsed.records.get(name))


def _read_own_description(path: Path) -> _Description | None:
    """Return the description at the start of an MRT; None if the file has none."""
    with ByteStream(path) as stream:
        text = read_text(stream)
    if not is_description(text[: 1 << 20]):
        return None
    end = max((rule.end() for rule in _RULE.finditer(text)), default=len(text))
    is_readme = _END_OF_README.search(text) is not None or not text[end:].strip()
    readme = parse_readme(path, decode_text(text if is_readme else text[:end]))
    if not readme.tables:
        raise ReadError(f"{path}: its line 'Byte-by-byte Description of file:' names no file: correct it")
    if is_readme or len(readme.tables) > 1:
        files = _list_names(readme.list_files())
        raise ReadError(f"{path} describes tables and has no rows: load the files {files} next to it")
    if end >= MAX_HEADER_BYTES:
        raise ReadError(f"{path} has a header of more than {MAX_HEADER_BYTES} bytes")
    rows = Start(end, text.count(b"\n", 0, end) + 1)
    return _Description(readme, readme.tables[0], "the header", rows, readme.summaries.get("", ""))


def _list_names(names: list[str]) -> str:
    more = f" and {len(names) - _MAX_LISTED} more" if len(names) > _MAX_LISTED else ""
    return ", ".join(names[:_MAX_LISTED]) + more


def _rename_columns(columns: list[CdsColumn], names: tuple[str, ...]) -> list[CdsColumn]:
    return [replace(column, label=name) for column, name in zip(columns, names, strict=True)]


def _describe_column(path: Path, column: CdsColumn, name: str) -> tuple[FixedColumn, Field]:
    """Return the bytes of a column and its field, whose explanation may still have the mark of a note."""
    type_ = find_format_type(column.format, column.width)
    if type_ is None:
        raise ReadError(
            f"{path}: {column.label} in line {column.line} has the format {column.format:.40}; "
            "the formats of such tables are Aw, Iw, Fw.d and Ew.d"
        )
    found = parse_explanation(column.explanation)
    is_required = type_.is_numeric and not found.is_nullable
    fixed = FixedColumn(name, column.start - 1, column.end, found.nulls, type_.is_numeric, is_required)
    mark = "*" if found.has_note else ""
    return fixed, Field(name, type_, unit=column.unit, description=mark + found.text)


def _add_notes(text: str, label: str, notes: dict[str, str]) -> str:
    """Return the explanation with the text of its note instead of the mark: (1) at its end, * at its start."""
    if text.startswith("*"):
        text = _append_sentence(text[1:], notes.get(label, ""))
    mark = re.search(r"\s*\(([A-Za-z]?\d{1,3}[a-z]?)\)\s*$", text)
    if mark and mark[1] in notes:
        return _append_sentence(text[: mark.start()], notes[mark[1]])
    return text


def _append_sentence(text: str, sentence: str) -> str:
    return f"{text.rstrip('.')}. {sentence}".lstrip(". ") if sentence else text


def _choose_names(names: tuple[str, ...], position: Position | None) -> tuple[str, ...]:
    """Return the names of the columns of a computed position; none if the table has it in degrees."""
    if position is None or position.is_degrees:
        return ()
    taken = {name.lower() for name in names}
    free = (pair for pair in _POSITION_NAMES if not taken & set(pair))
    numbered = ((f"ra_icrs_{number}", f"dec_icrs_{number}") for number in range(2, len(names) + 3))
    return next(free, None) or next(pair for pair in numbered if not taken & set(pair))


def _mark_position(fields: list[Field], position: Position | None) -> Iterator[Field]:
    """Yield the fields, with UCDs for the main position in degrees."""
    marked = (position.ra.whole, position.dec.whole) if position and position.is_degrees else ("", "")
    for field in fields:
        if field.name in marked:
            axis = "ra" if field.name == marked[0] else "dec"
            yield replace(field, ucd=f"pos.eq.{axis};meta.main")
        else:
            yield field


def _list_position_fields(position: Position | None, names: tuple[str, ...]) -> Iterator[Field]:
    if position is None or not names:
        return
    labels = " ".join(position.list_labels())
    converted = f", converted from {position.equinox}" if position.equinox not in ("", "J2000") else ""
    for name, axis, angle in zip(names, ("ra", "dec"), ("Right ascension", "Declination"), strict=True):
        text = f"{angle} (ICRS), computed from {labels}{converted}"
        yield Field(name, DOUBLE, "deg", f"pos.eq.{axis};meta.main", "", text, coordinate_system=ICRS)


def _note_position(position: Position | None, names: tuple[str, ...]) -> Iterator[str]:
    if position is None or not names:
        return
    labels = " ".join(position.list_labels())
    if not position.equinox:
        frame = "no equinox is given, so they count as ICRS"
    elif position.equinox == "J2000":
        frame = "J2000 counts as ICRS"
    else:
        frame = f"{position.equinox} is converted to ICRS"
    yield f"{names[0]} and {names[1]} in degrees are computed from {labels}; {frame}"
