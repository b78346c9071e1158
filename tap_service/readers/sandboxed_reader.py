"""Reads the table in an untrusted file, in a short-lived process with few rights.

``sandbox_host`` forks it. It reads one request as a line of JSON from standard input, writes the rows as an Arrow
stream to the file that the request names, and answers with one line of JSON: the table and its row count, or the error.
The operating system limits its memory, processor time, open files and written bytes, so that a hostile file can at
worst end its own reader. The kernel ends the reader with its parent process.
"""

from __future__ import annotations

import errno
import json
import resource
import signal
import sys
import traceback
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import ValidationError

from adql import make_printable
from clickhouse_schema.datatypes import CHAR, INTEGERS, LONG, UNICODE, ColumnType, Field
from clickhouse_schema.schema_files.schema_checks import UNSTORABLE, is_reserved_column
from clickhouse_schema.schema_model import Column, Layout, Table
from clickhouse_schema.shape_cover import has_cover
from tap_service.models.read_options import AS_DETECTED, ReadOptions, build_options
from tap_service.readers.arrow_reader import ArrowSource
from tap_service.readers.byte_stream import ByteStream
from tap_service.readers.column_casts import NULL_INSIDE
from tap_service.readers.conform_rows import Conformer
from tap_service.readers.csv_reader import CsvSource
from tap_service.readers.ecsv_reader import EcsvSource
from tap_service.readers.file_columns import field_to_felis
from tap_service.readers.file_formats import open_upload
from tap_service.readers.parquet_reader import ParquetSource
from tap_service.readers.position_columns import find_position_columns
from tap_service.readers.read_error import ReadError
from tap_service.readers.table_source import RejectedRow, Source
from tap_service.readers.time_casts import describe_cut_times

#: errors of a full disk, a full quota and a file that is too large
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

_MAX_OPEN_FILES = 64
_MAX_SHOWN_CALLS = 20

#: integers that replace missing elements of arrays in formats without declared null values
_NULL_STAND_INS = {"unsignedByte": 255, "short": -(2**15), "int": -(2**31), "long": -(2**63)}

#: maximum size of the model of a table as JSON: names, units, descriptions
_MAX_MODEL_BYTES = 8 << 20


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a request.

    Attributes
    ----------
    rows, columns : int
        The size of the table.
    cell_bytes : int
        The bytes of a value.
    unpacked_bytes : int
        The bytes of the file after decompression, and of its rows.
    memory : int
        The address space of the process, in bytes.
    seconds : int
        The processor time of the process.
    """

    rows: int
    columns: int
    cell_bytes: int
    unpacked_bytes: int
    memory: int
    seconds: int


@dataclass(frozen=True, slots=True)
class Request:
    """A request to read a file.

    Attributes
    ----------
    source, rows : str
        The paths of the file and of the Arrow stream to write.
    name : str
        The name of the table.
    content_type : str
        The Content-Type of the file; '' if unknown.
    limits : Limits
        The limits of the table and of the process.
    table : str
        The model of the table to which the rows must fit, as JSON; '' to derive it from the file.
    options : ReadOptions
        What the sender says about the file.
    """

    source: str
    rows: str
    name: str
    content_type: str
    limits: Limits
    table: str = ""
    options: ReadOptions = AS_DETECTED


@dataclass(frozen=True, slots=True)
class Answer:
    """The outcome of a request.

    Attributes
    ----------
    error : str
        The error; '' if the rows are written.
    table : str
        The model of the table as JSON.
    rows : int
        The number of rows.
    notes : tuple of str
        What the sender should know about how the file was read.
    """

    error: str = ""
    table: str = ""
    rows: int = 0
    notes: tuple[str, ...] = ()


@dataclass
class _Plan:
    """The columns of the table to write: those that the file declares, relaxed when a row does not fit.

    ``notes``: why columns have become text.
    """

    fields: list[Field]
    position: tuple[str, str] | None
    notes: list[str] = field(default_factory=list)


def main() -> None:
    line = sys.stdin.readline()
    if not line:  # the client has ended without a request
        return
    fields = json.loads(line)
    options = build_options(fields["options"])
    request = Request(**{**fields, "limits": Limits(**fields["limits"]), "options": options})
    limit_process(request.limits)
    print(json.dumps(asdict(answer_request(request))), flush=True)


def answer_request(request: Request) -> Answer:
    """Read the table of a request.

    Unexpected exceptions of a format library become a general error; their traceback goes to standard error, which the
    service logs.

    Parameters
    ----------
    request : Request
        The files, the table and the limits.

    Returns
    -------
    Answer
        The table and the number of its rows, or the error.
    """
    try:
        return read_table(request)
    except ReadError as error:
        return Answer(_trim_message(str(error).replace(request.source, "the file")))
    except (MemoryError, pa.ArrowMemoryError):
        return Answer(f"reading it takes more than {request.limits.memory} bytes of memory")
    except OSError as error:
        if error.errno in _NO_ROOM:
            return Answer(f"there is no space for its rows: {error.strerror}")
        traceback.print_exc(_MAX_SHOWN_CALLS)
    except Exception:
        traceback.print_exc(_MAX_SHOWN_CALLS)
    return Answer("the file is broken in an unknown way: write it again, perhaps with another program")


def limit_process(limits: Limits) -> None:
    """Limit the resources of this process; disable core dumps."""
    resource.setrlimit(resource.RLIMIT_AS, (limits.memory, limits.memory))
    resource.setrlimit(resource.RLIMIT_CPU, (limits.seconds, limits.seconds + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (_MAX_OPEN_FILES, _MAX_OPEN_FILES))
    max_written = 2 * limits.unpacked_bytes
    resource.setrlimit(resource.RLIMIT_FSIZE, (max_written, max_written))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # the write then raises OSError
    ByteStream.max_bytes = limits.unpacked_bytes


def read_table(request: Request) -> Answer:
    """Read the table of a request and write its rows. Raise ``ReadError`` if it fails."""
    limits = request.limits
    source = open_upload(Path(request.source), request.content_type, replace(request.options, case_matters=True))
    if request.table:
        return _fit_to_table(Table.model_validate_json(request.table), source, request)
    if source.unusable:
        listed = "; ".join(f"{name}: {reason}" for name, reason in source.unusable.items())
        raise ReadError(f"the file has unsupported columns ({listed}); remove them")
    if len(source.fields) > limits.columns:
        raise ReadError(f"the file has {len(source.fields)} columns; the limit is {limits.columns}")
    if source.rows is not None and source.rows > limits.rows:
        raise _build_row_limit_error(limits)
    if isinstance(source, CsvSource):
        source.keep_digits()
    plan = _Plan(list(source.fields), find_position_columns(source.fields))
    while True:
        table = _plan_table(request.name, source, plan)
        rows, notes, reject = _write_rows(table, source, request)
        if reject is None:
            return Answer(table=_table_to_json(table), rows=rows, notes=(*source.notes, *plan.notes, *notes))
        if not _relax_plan(plan, source, reject):
            raise _build_row_error(source, reject)


def _fit_to_table(table: Table, source: Source, request: Request) -> Answer:
    """Write the rows for an existing table; the file needs the same columns, in any order."""
    wanted = {column.name.lower(): column.name for column in table.columns}
    names = [*(field.name for field in source.fields), *source.unusable]
    given = {name.lower(): name for name in names}
    lacking, extra = wanted.keys() - given.keys(), given.keys() - wanted.keys()
    for differing, verb in ((lacking, "lacks"), (extra, "has extra")):
        if differing:
            listed = ", ".join(sorted({**given, **wanted}[name] for name in differing))
            raise ReadError(f"the file {verb} columns: {listed}; the table has {', '.join(wanted.values())}")
    rows, notes, reject = _write_rows(table, source, request)
    if reject is not None:
        raise _build_row_error(source, reject)
    return Answer(table=request.table, rows=rows, notes=tuple(notes))


def _build_row_error(source: Source, reject: RejectedRow) -> ReadError:
    where = f"{source.unit} {reject.where}" + (f", column {reject.column}" if reject.column else "")
    verb = "" if reject.reason.startswith(("does ", "has ")) or not reject.column else "is "
    return ReadError(f"{where}: " + (f"{reject.value!r} {verb}{reject.reason}" if reject.value else reject.reason))


def _plan_table(name: str, source: Source, plan: _Plan) -> Table:
    try:
        columns = tuple(Column.model_validate(field_to_felis(each)) for each in plan.fields)
        layout = Layout(position=plan.position)
        table = Table(name=name, description=source.description, columns=columns, layout=layout)
    except ValidationError as error:
        reason = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise ReadError(f"the columns of the file are invalid: {reason}") from error
    # the storage adds columns only to positions and shapes
    has_hidden = table.layout.position is not None or any(has_cover(column.type) for column in columns)
    for column in columns:
        if column.name in UNSTORABLE or (has_hidden and is_reserved_column(column.name)):
            raise ReadError(f"the column name {column.name} is reserved for the storage: choose another")
    return table


def _table_to_json(table: Table) -> str:
    text = table.model_dump_json(by_alias=True)
    if len(text) > _MAX_MODEL_BYTES:
        raise ReadError(f"the names, units and descriptions of the columns take more than {_MAX_MODEL_BYTES} bytes")
    return text


def _write_rows(table: Table, source: Source, request: Request) -> tuple[int, list[str], RejectedRow | None]:
    """Write the rows; return their number, notes about what was cut, and the first rejected row if there is one."""
    limits = request.limits
    conformer = Conformer(table, source, checks_texts=False)  # users keep the texts of their files as they are
    min_row_bytes = sum(column.type.min_bytes for column in table.columns)
    rows = size = 0
    with open(request.rows, "wb") as file, pa.ipc.new_stream(file, conformer.schema) as writer:
        for block in source.read_blocks(conformer.source_names):
            batch, rejects = conformer.conform_block(block)
            if rejects:
                return rows, [], rejects[0]
            rows += batch.num_rows
            size += max(batch.nbytes, batch.num_rows * min_row_bytes)
            if rows > limits.rows:
                raise _build_row_limit_error(limits)
            if size > limits.unpacked_bytes:
                raise ReadError(f"the rows of the file take more than {limits.unpacked_bytes} bytes")
            _check_cells(batch, rows - batch.num_rows, limits.cell_bytes)
            writer.write_batch(batch)
    return rows, describe_cut_times(conformer.cut_times), None


def _check_cells(batch: pa.RecordBatch, before: int, max_bytes: int) -> None:
    """Raise ``ReadError`` for a value that is too long; ``before`` is the number of rows before the batch."""
    for name, values in zip(batch.schema.names, batch.columns, strict=True):
        if pa.types.is_string(values.type):
            sizes = pc.binary_length(values)
        elif pa.types.is_list(values.type) and not pa.types.is_list(values.type.value_type):
            sizes = pc.multiply(pc.list_value_length(values), values.type.value_type.bit_width // 8 or 1)
        else:
            continue
        if batch.num_rows and (pc.max(sizes).as_py() or 0) > max_bytes:
            row = before + 1 + int(np.argmax(sizes.fill_null(0).to_numpy(zero_copy_only=False)))
            raise ReadError(f"row {row}, column {name}: a value has more than {max_bytes} bytes")


def _relax_plan(plan: _Plan, source: Source, reject: RejectedRow) -> bool:
    """Relax the plan so that the rejected row fits; return whether that is possible.

    Columns with positions out of range lose that role, non-ASCII text becomes Unicode, text loses a length that is too
    short, timestamps and integers that cannot be stored become text, and guessed types become wider.
    """
    if plan.position and reject.column in plan.position and "outside" in reject.reason:
        plan.position = None
        return True
    index = next((i for i, each in enumerate(plan.fields) if each.name == reject.column), None)
    if index is None:
        return False
    before = plan.fields[index]
    wider: ColumnType | None = None
    guessed = source if isinstance(source, CsvSource) and not isinstance(source, EcsvSource) else None
    if before.type.datatype == "char" and before.type.is_text and "ASCII" in reject.reason:
        wider = replace(before.type, datatype="unicodeChar") if before.type.string_length else UNICODE
    elif before.type.is_text and reject.reason.startswith("longer than"):
        wider = replace(before.type, arraysize="*")
    elif before.type.is_timestamp and guessed is None:
        wider = CHAR
    elif before.type == LONG and "does not fit" in reject.reason and isinstance(source, ParquetSource | ArrowSource):
        wider = CHAR  # unsigned integers beyond BIGINT
    elif before.type.datatype in INTEGERS and reject.reason == NULL_INSIDE:
        wider = replace(before.type, null=_NULL_STAND_INS[before.type.datatype])
    elif guessed is not None:
        wider = guessed.widen_type(before)
    if wider is None:
        return False
    plan.fields[index] = replace(before, type=wider)
    if wider.is_text and not before.type.is_text:
        plan.notes.append(f"column {before.name} is text because of {reject.value!r} in {source.unit} {reject.where}")
    if before.name in (plan.position or ()):
        plan.position = find_position_columns(tuple(plan.fields))
    return True


def _build_row_limit_error(limits: Limits) -> ReadError:
    return ReadError(f"the file has more than {limits.rows} rows")


def _trim_message(text: str) -> str:
    return make_printable(text, 1000)
