"""ReadMe files of the CDS and the headers of machine-readable tables of the AAS journals (MRT).

A ReadMe describes several files: ``Byte-by-byte Description of file: table1.dat table2.dat``, a line of dashes, the
line ``Bytes Format Units Label Explanations``, dashes, one line for each column, whose explanation may continue in the
next lines, dashes, and notes. In an MRT the rows follow the last line of dashes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from itertools import pairwise

from tap_service.readers.cds_columns import FORMAT
from tap_service.readers.read_error import ReadError
from tap_service.readers.table_source import MAX_FILE_COLUMNS
from tap_service.readers.text_lines import MAX_LINE_BYTES

_MAX_NOTE = 2000

_BLOCK = re.compile(r"\s*Byte-(?:by|per)-byte\s+Description\s+of\s+files?[^:]*:\s*(?P<files>.*)", re.IGNORECASE)
_RULE = re.compile(r"\s*(?:-{6,}|={6,})\s*")
_TITLES = re.compile(r"\s*Bytes\s+Format\b.*", re.IGNORECASE)
_COLUMN = re.compile(
    r"\s*(?:(?P<start>\d+)\s*-)?\s*(?P<end>\d+)\s+(?P<format>\S+)\s+(?P<unit>\S+)\s+(?P<label>\S+)(?:\s+(?P<text>.*))?"
)
_COLUMN_START = re.compile(r"\s*(?:\d+\s*-\s*)?\d+\s+\d*[AIFEDG]\d+(?:\.\d+)?(?:\s|$)")
_NOTE = re.compile(
    r"\s*Note\s*(?:\((?P<mark>[^)]{1,20})\)|on\s+(?P<labels>[^:]{1,200}))\s*:\s*(?P<text>.*)", re.IGNORECASE
)
_FILE_LINE = re.compile(r"\s{0,3}(?P<file>\S+)\s+\d+\s+(?P<records>[\d.]+)\s+\*?(?P<text>\S.*)")
_MRT_KEY = re.compile(r"(Title|Authors|Table)\s*:\s*(.*)")


@dataclass(frozen=True, slots=True)
class CdsColumn:
    """A column: its bytes (from 1, both included), FORTRAN format, unit, label and explanation, and its line."""

    start: int
    end: int
    format: str
    unit: str
    label: str
    explanation: str
    line: int

    @property
    def width(self) -> int:
        return self.end - self.start + 1


@dataclass(slots=True)
class CdsTable:
    """The columns of the tables in ``files``, which may have wildcards, and the notes by mark ('1') or label."""

    files: list[str]
    columns: list[CdsColumn] = field(default_factory=list)
    notes: dict[str, str] = field(default_factory=dict)

    @property
    def width(self) -> int:
        """The number of bytes of a line."""
        return max(column.end for column in self.columns)


@dataclass(frozen=True, slots=True)
class ReadMe:
    """The title of the catalogue, its tables, and the explanation and the number of records of each file."""

    title: str
    tables: tuple[CdsTable, ...]
    summaries: dict[str, str]
    records: dict[str, int]

    def list_files(self) -> list[str]:
        return [file for table in self.tables for file in table.files]

    def find_table(self, name: str) -> CdsTable | None:
        """Return the table of the file ``name``, which may be a part of the described file (``tyc2.dat.00``)."""
        whole = re.sub(r"\.\d+$", "", name)
        for candidate in dict.fromkeys((name.lower(), whole.lower())):
            for table in self.tables:
                if any(fnmatchcase(candidate, file.lower()) for file in table.files):
                    return table
        return None


def is_description(text: bytes) -> bool:
    """Return whether ``text`` has a byte-by-byte description."""
    return re.search(rb"(?im)^\s*Byte-(?:by|per)-byte\s+Description\s+of\s+file", text) is not None


def parse_readme(path: object, text: str) -> ReadMe:
    """Parse a ReadMe or the header of an MRT.

    Parameters
    ----------
    path : Path
        The file, for messages.
    text : str
        The complete ReadMe, or the MRT up to its rows.

    Returns
    -------
    ReadMe
        The tables.

    Raises
    ------
    ReadError
        A description is incomplete, contradicts itself, or exceeds a limit.
    """
    lines = text.splitlines()
    tables: list[CdsTable] = []
    number = 0
    while number < len(lines):
        if _BLOCK.fullmatch(lines[number]):
            table, number = _parse_table(path, lines, number)
            tables.append(table)
        else:
            number += 1
    shared = {mark: note for table in tables for mark, note in table.notes.items() if mark.startswith("G")}
    for table in tables:
        table.notes = {**shared, **table.notes}
    listed = [*_list_files(lines)]
    summaries = {file["file"]: file["text"].strip() for file in listed}
    if caption := _find_caption(lines):
        summaries[""] = caption
    records = {file["file"]: int(file["records"]) for file in listed if file["records"].isdigit()}
    return ReadMe(_find_title(lines), tuple(tables), summaries, records)


def _parse_table(path: object, lines: list[str], number: int) -> tuple[CdsTable, int]:
    """Parse the description that starts in a line; return it and the index of the line after its columns and notes."""
    first = number
    files: list[str] = []
    while number < len(lines) and not _RULE.fullmatch(lines[number]):
        block = _BLOCK.fullmatch(lines[number])
        files += re.split(r"[,\s]+", (block["files"] if block else lines[number]).strip())
        number += 1
    titles = next((at for at in range(number, min(number + 5, len(lines))) if _TITLES.fullmatch(lines[at])), None)
    if titles is None:
        raise ReadError(
            f"{path}: the description in line {first + 1} has no line 'Bytes Format Units Label Explanations' "
            "between lines of dashes"
        )
    table = CdsTable([file for file in files if file])
    number = _parse_columns(path, lines, titles, table)
    end = next((at for at in range(number, len(lines)) if _BLOCK.fullmatch(lines[at])), len(lines))
    table.notes = _collect_notes(lines[number:end])
    return table, end


def _parse_columns(path: object, lines: list[str], titles: int, table: CdsTable) -> int:
    """Add the columns below the line ``titles``; return the index of the line after the dashes that end them."""
    format_title = re.search("format", lines[titles], re.IGNORECASE)
    margin = format_title.start() if format_title else 0
    number = titles + 1
    rules = 0
    explanation: list[str] = []
    found: re.Match[str] | None = None
    line = 0
    while number < len(lines) and rules < 2:
        text = lines[number]
        number += 1
        if _RULE.fullmatch(text):
            rules += 1
        elif rules == 0 or not text.strip():
            continue
        elif (column := _match_column(text, margin)) is not None:
            _add_column(path, table, found, explanation, line)
            found, explanation, line = column, [column["text"] or ""], number
        elif _COLUMN_START.match(text) and len(text) - len(text.lstrip()) < margin:
            raise ReadError(f"{path}: line {number} describes a column without its unit or its label: {text.strip()}")
        elif found is None:
            raise ReadError(f"{path}: line {number} is not the description of a column: {text.strip():.80}")
        else:
            explanation.append(text.strip())
    _add_column(path, table, found, explanation, line)
    if rules < 2:
        raise ReadError(f"{path}: no line of dashes ends the columns that are described from line {titles + 1} on")
    if not table.columns:
        raise ReadError(f"{path}: the description in line {titles + 1} has no columns")
    _check_overlaps(path, table.columns)
    return number


def _match_column(text: str, margin: int) -> re.Match[str] | None:
    """Match the description of a column, which starts to the left of the formats; explanations are farther right."""
    found = _COLUMN.fullmatch(text)
    if found is None or len(text) - len(text.lstrip()) >= margin:
        return None
    return found if FORMAT.fullmatch(found["format"]) else None


def _add_column(path: object, table: CdsTable, found: re.Match[str] | None, explanation: list[str], line: int) -> None:
    if found is None:
        return
    end = int(found["end"][:9])
    start = int((found["start"] or found["end"])[:9])
    if not 1 <= start <= end <= MAX_LINE_BYTES:
        raise ReadError(f"{path}: line {line} gives the bytes {start}-{end} to {found['label']}: correct them")
    if len(table.columns) == MAX_FILE_COLUMNS:
        raise ReadError(f"{path}: line {line} describes another column; the limit is {MAX_FILE_COLUMNS}")
    unit = "" if not found["unit"].strip("-") else found["unit"]
    text = " ".join(" ".join(explanation).split())
    table.columns.append(CdsColumn(start, end, found["format"], unit, found["label"], text, line))


def _check_overlaps(path: object, columns: list[CdsColumn]) -> None:
    ordered = sorted(columns, key=lambda column: column.start)
    for before, after in pairwise(ordered):
        if after.start <= before.end:
            raise ReadError(
                f"{path}: {before.label} (line {before.line}, bytes {before.start}-{before.end}) and {after.label} "
                f"(line {after.line}, bytes {after.start}-{after.end}) overlap: correct the bytes of one of them"
            )


def _collect_notes(lines: list[str]) -> dict[str, str]:
    notes: dict[str, list[str]] = {}
    current: list[str] | None = None
    for line in lines:
        if _RULE.fullmatch(line):
            current = None
        elif found := _NOTE.fullmatch(line):
            current = [found["text"]]
            labels = re.split(r"[,\s]+(?:and\s+)?", (found["labels"] or "").strip())
            notes.update(dict.fromkeys([found["mark"].strip()] if found["mark"] else labels, current))
        elif current is not None:
            current.append(line)
    return {mark: _join_note(words) for mark, words in notes.items()}


def _join_note(lines: list[str]) -> str:
    text = " ".join(" ".join(lines).split())
    return text if len(text) <= _MAX_NOTE else text[:_MAX_NOTE].rstrip() + " ..."


def _find_title(lines: list[str]) -> str:
    """Return the title: in a ReadMe the lines below the first ``===``, in an MRT the lines after ``Title:``."""
    found: list[str] = []
    for line in lines:
        key = _MRT_KEY.match(line)
        if found and (key or not line.strip() or _RULE.fullmatch(line)):
            break
        if key and key[1] == "Title":
            found = [key[2]]
        elif found:
            found.append(line)
    if found:
        return " ".join(" ".join(found).split())
    rule = next((at for at, line in enumerate(lines[:50]) if _RULE.fullmatch(line)), None)
    if rule is None:
        return ""
    for line in lines[rule + 1 : rule + 20]:
        if not line.strip() or line[0].isspace() or _RULE.fullmatch(line):
            break
        found.append(line)
    return " ".join(" ".join(found).split())


def _list_files(lines: list[str]) -> Iterator[re.Match[str]]:
    """Yield the lines of files in the summary of a ReadMe."""
    start = next((at for at, line in enumerate(lines) if line.strip().lower().startswith("file summary")), None)
    rules = 0
    for line in lines[start + 1 :] if start is not None else ():
        rules += bool(_RULE.fullmatch(line))
        if rules == 3:
            return
        if rules == 2 and (found := _FILE_LINE.fullmatch(line)):
            yield found


def _find_caption(lines: list[str]) -> str:
    """Return the caption of an MRT; '' if there is none."""
    return next((key[2].strip() for line in lines if (key := _MRT_KEY.match(line)) and key[1] == "Table"), "")
