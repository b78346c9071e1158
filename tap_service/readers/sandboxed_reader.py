"""Reads the table in a file that anybody may have sent: a process of its own, which has few rights and ends by itself.

It is forked from one that has loaded what it needs (``host``). It gets one request as a line of JSON on standard
input, writes the rows as an Arrow stream into the file that the request names, and answers with one line of JSON: the
table and its rows, or what is wrong. Memory, processor time, open files and the bytes that it may write are limited by
the system, so that a file can at worst end its own reader. It also ends with the process that it was forked from.
"""

from __future__ import annotations

import errno
import json
import os
import resource
import signal
import sys
import threading
import time
import traceback
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import ValidationError

from adql import make_printable
from clickhouse_schema.datatypes import CHAR, INTEGERS, UNICODE, ColumnType, Field
from clickhouse_schema.schema_files.schema_checks import UNSTORABLE, is_reserved_column
from clickhouse_schema.schema_model import Column, Layout, Table
from clickhouse_schema.shape_cover import has_cover
from tap_service.readers import open_upload
from tap_service.readers.byte_stream import ByteStream
from tap_service.readers.column_casts import NULL_INSIDE
from tap_service.readers.conform_rows import Conformer
from tap_service.readers.csv_reader import CsvSource
from tap_service.readers.ecsv_reader import EcsvSource
from tap_service.readers.file_columns import field_to_felis
from tap_service.readers.position_columns import find_position_columns
from tap_service.readers.read_error import ReadError
from tap_service.readers.table_source import Fault, Source
from tap_service.readers.votable_reader import VotableSource

#: What a full disk, a full quota and a too large file are told as
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

_MAX_OPEN_FILES = 64
_MAX_SHOWN_CALLS = 20

#: The whole numbers that stand for NULL within arrays of a file that has another mark of it
_NULL_STAND_INS = {"unsignedByte": 255, "short": -(2**15), "int": -(2**31), "long": -(2**63)}

#: Of the model of a table as JSON: names, units, descriptions
_MAX_MODEL_BYTES = 8 << 20


@dataclass(frozen=True, slots=True)
class Limits:
    """Of a table; ``unpacked_bytes`` of the file and of its rows; ``memory`` (bytes) and ``seconds`` of the process."""

    rows: int
    columns: int
    cell_bytes: int
    unpacked_bytes: int
    memory: int
    seconds: int


@dataclass(frozen=True, slots=True)
class Request:
    """Paths of what is read and written, the name of the table, and the Content-Type of what is read, '' for none.

    ``table``: the model that the rows have to fit, as JSON; '' = what the file says.
    """

    source: str
    rows: str
    name: str
    content_type: str
    limits: Limits
    table: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """``error`` is '' if the rows are there. ``table``: its model as JSON."""

    error: str = ""
    table: str = ""
    rows: int = 0


@dataclass
class _Plan:
    """How the columns are taken: as the file says, until a row shows that this cannot be."""

    fields: list[Field]
    position: tuple[str, str] | None


def main() -> None:
    threading.Thread(target=_exit_with_parent, args=(os.getppid(),), daemon=True).start()
    line = sys.stdin.readline()
    if not line:  # whoever started this process has ended without a request
        return
    request = json.loads(line)
    asked = Request(**{**request, "limits": Limits(**request["limits"])})
    limit_process(asked.limits)
    print(json.dumps(asdict(answer_request(asked))), flush=True)


def answer_request(request: Request) -> Answer:
    """What ``read`` gives, or what is wrong with the file.

    A file can be broken in more ways than its format's library has errors for: what is not foreseen here is told as
    that, and how it came to be goes to standard error, which the service logs.
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


def _exit_with_parent(parent: int) -> None:
    """End when the service has: nobody waits for the answer then."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


def limit_process(limits: Limits) -> None:
    """What this process may take from now on; no core dump."""
    resource.setrlimit(resource.RLIMIT_AS, (limits.memory, limits.memory))
    resource.setrlimit(resource.RLIMIT_CPU, (limits.seconds, limits.seconds + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (_MAX_OPEN_FILES, _MAX_OPEN_FILES))
    most = 2 * limits.unpacked_bytes
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # it is an OSError then
    ByteStream.max_bytes = limits.unpacked_bytes


def read_table(request: Request) -> Answer:
    """Raises ReadError."""
    limits = request.limits
    source = open_upload(Path(request.source), request.content_type)
    if request.table:
        return _fit_to_table(Table.model_validate_json(request.table), source, request)
    if source.unusable:
        listed = "; ".join(f"{name}: {reason}" for name, reason in source.unusable.items())
        raise ReadError(f"the file has unsupported columns ({listed}); remove them")
    if len(source.fields) > limits.columns:
        raise ReadError(f"the file has {len(source.fields)} columns; the limit is {limits.columns}")
    if source.rows is not None and source.rows > limits.rows:
        raise _build_row_limit_error(limits)
    plan = _Plan(list(source.fields), find_position_columns(source.fields))
    while True:
        table = _plan_table(request.name, source, plan)
        rows, fault = _write_rows(table, source, request)
        if fault is None:
            return Answer(table=_table_to_json(table), rows=rows)
        if not _relax_plan(plan, source, fault):
            raise _build_row_error(source, fault)


def _fit_to_table(table: Table, source: Source, request: Request) -> Answer:
    """The rows for a table that is there, which the file has to have the columns of, in any order."""
    there = {column.name.lower(): column.name for column in table.columns}
    given = {name.lower(): name for name in (*(field.name for field in source.fields), *source.unusable)}
    for missing, what in ((there.keys() - given.keys(), "lacks"), (given.keys() - there.keys(), "has extra")):
        if missing:
            names = ", ".join(sorted({**given, **there}[name] for name in missing))
            raise ReadError(f"the file {what} columns: {names}; the table has {', '.join(there.values())}")
    rows, fault = _write_rows(table, source, request)
    if fault is not None:
        raise _build_row_error(source, fault)
    return Answer(table=request.table, rows=rows)


def _build_row_error(source: Source, fault: Fault) -> ReadError:
    where = f"{source.unit} {fault.where}" + (f", column {fault.column}" if fault.column else "")
    verb = "" if fault.reason.startswith(("does ", "has ")) or not fault.column else "is "
    return ReadError(f"{where}: " + (f"{fault.value!r} {verb}{fault.reason}" if fault.value else fault.reason))


def _plan_table(name: str, source: Source, plan: _Plan) -> Table:
    try:
        columns = tuple(Column.model_validate(field_to_felis(each)) for each in plan.fields)
        layout = Layout(position=plan.position)
        table = Table(name=name, description=source.description, columns=columns, layout=layout)
    except ValidationError as error:
        said = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise ReadError(f"the columns of the file are invalid: {said}") from error
    # the engine keeps columns of its own beside positions and shapes, and only there
    has_more = table.layout.position is not None or any(has_cover(column.type) for column in columns)
    for column in columns:
        if column.name in UNSTORABLE or (has_more and is_reserved_column(column.name)):
            raise ReadError(f"the column name {column.name} is reserved for the storage: choose another")
    return table


def _table_to_json(table: Table) -> str:
    text = table.model_dump_json(by_alias=True)
    if len(text) > _MAX_MODEL_BYTES:
        raise ReadError(f"the names, units and descriptions of the columns take more than {_MAX_MODEL_BYTES} bytes")
    return text


def _write_rows(table: Table, source: Source, request: Request) -> tuple[int, Fault | None]:
    """The number of rows, or the first bad one."""
    limits = request.limits
    conformer = Conformer(table, source)
    least = sum(column.type.min_bytes for column in table.columns)
    rows = size = 0
    with open(request.rows, "wb") as file, pa.ipc.new_stream(file, conformer.schema) as writer:
        for piece in source.read_blocks(conformer.source_names):
            batch, faults = conformer.conform_block(piece)
            if faults:
                return rows, faults[0]
            rows += batch.num_rows
            size += max(batch.nbytes, batch.num_rows * least)
            if rows > limits.rows:
                raise _build_row_limit_error(limits)
            if size > limits.unpacked_bytes:
                raise ReadError(f"the rows of the file take more than {limits.unpacked_bytes} bytes")
            _check_cells(batch, rows - batch.num_rows, limits.cell_bytes)
            writer.write_batch(batch)
    return rows, None


def _check_cells(batch: pa.RecordBatch, before: int, most: int) -> None:
    """Raises ReadError for a value of more than ``most`` bytes."""
    for name, values in zip(batch.schema.names, batch.columns, strict=True):
        if pa.types.is_string(values.type):
            sizes = pc.binary_length(values)
        elif pa.types.is_list(values.type) and not pa.types.is_list(values.type.value_type):
            sizes = pc.multiply(pc.list_value_length(values), values.type.value_type.bit_width // 8 or 1)
        else:
            continue
        if batch.num_rows and (pc.max(sizes).as_py() or 0) > most:
            row = before + 1 + int(np.argmax(sizes.fill_null(0).to_numpy(zero_copy_only=False)))
            raise ReadError(f"row {row}, column {name}: a value has more than {most} bytes")


def _relax_plan(plan: _Plan, source: Source, fault: Fault) -> bool:
    """Whether the columns can be taken otherwise so that this row is good.

    Positions out of range are none, text that is not ASCII is Unicode, too short a length of texts is none, timestamps
    that the engine has not stay texts, and types that were guessed get wider.
    """
    if plan.position and fault.column in plan.position and "outside" in fault.reason:
        plan.position = None
        return True
    place = next((i for i, each in enumerate(plan.fields) if each.name == fault.column), None)
    if place is None:
        return False
    before = plan.fields[place]
    wider: ColumnType | None = None
    if before.type.datatype == "char" and before.type.is_text and "ASCII" in fault.reason:
        wider = replace(before.type, datatype="unicodeChar") if before.type.string_length else UNICODE
    elif before.type.is_text and fault.reason.startswith("longer than"):
        wider = replace(before.type, arraysize="*")
    elif before.type.is_timestamp and isinstance(source, VotableSource | EcsvSource):
        wider = CHAR
    elif before.type.datatype in INTEGERS and fault.reason == NULL_INSIDE:
        wider = replace(before.type, null=_NULL_STAND_INS[before.type.datatype])
    elif isinstance(source, CsvSource) and not isinstance(source, EcsvSource):
        wider = source.widen_type(before)
    if wider is None:
        return False
    plan.fields[place] = replace(before, type=wider)
    plan.position = (
        plan.position if before.name not in (plan.position or ()) else find_position_columns(tuple(plan.fields))
    )
    return True


def _build_row_limit_error(limits: Limits) -> ReadError:
    return ReadError(f"the file has more than {limits.rows} rows")


def _trim_message(text: str) -> str:
    return make_printable(text, 1000)
