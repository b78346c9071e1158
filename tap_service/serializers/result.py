"""What every serializer has in common: the result's description, its status, and the protocol."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import pyarrow as pa

from clickhouse_schema.datatypes import Field


class SerializationError(Exception):
    """A value that the format cannot carry; the message names the column and the way out."""


@dataclass(frozen=True, slots=True)
class ResultInfo:
    """What a result says about itself; '' = not said.

    ``limit`` is the row limit in force, None = none. ``citations`` are bibcodes or texts to cite.
    """

    query: str = ""
    service: str = ""
    limit: int | None = None
    notes: tuple[str, ...] = ()
    citations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Status:
    """How the result ended, with DALI's words; ``text`` is for the user."""

    value: Literal["OK", "OVERFLOW", "ERROR"]
    text: str = ""


OK = Status("OK")


def overflow(limit: int, way_out: str) -> Status:
    """The result was cut at ``limit`` rows; ``way_out`` is a sentence on how to get the rest."""
    rows = "1 row" if limit == 1 else f"{limit} rows"
    said = f"The result was cut at {rows}, the row limit of this request (MAXREC). {way_out}"
    return Status("OVERFLOW", said.rstrip())


class Serializer(Protocol):
    """Makes one result document: ``header()``, then ``rows`` per batch, then ``footer``; the bytes can be streamed.

    The header says QUERY_STATUS OK where the format has a place for it; the footer tells what happened since.
    The bytes do not depend on how the rows are cut into batches.
    """

    def header(self) -> bytes: ...

    def rows(self, batch: pa.RecordBatch) -> bytes:
        """The batch's columns match the fields by position; their types are ``field.type.arrow`` or cast to it safely.

        Raises ``SerializationError`` for a value that does not fit the declared type.
        """

    def footer(self, status: Status) -> bytes:
        """The rest of the document. CSV and TSV have no place for a status: theirs is empty."""


class SerializerFactory(Protocol):
    def __call__(self, fields: Sequence[Field], info: ResultInfo) -> Serializer: ...
