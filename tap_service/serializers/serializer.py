"""What every serializer has in common: the result's description, its status, and what they do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import pyarrow as pa

from clickhouse_schema.column_links import NO_LINKS, ResultLinks
from clickhouse_schema.datatypes import Field
from tap_service.scratch_files import NO_SCRATCH, ScratchSpace


class SerializationError(Exception):
    """A value that the format cannot carry; the message names the column and the way out."""


@dataclass(frozen=True, slots=True)
class ResultInfo:
    """What a result says about itself; '' = not said.

    ``limit`` is the row limit in force, None = none. ``citations`` are bibcodes, DOIs or texts to cite, ``rights``
    licences, of the tables used. ``software``: product and version; ``request_date``: ISO 8601, UTC. ``links``: LINKs
    and service descriptors, which refer to the fields by their places.
    """

    query: str = ""
    service: str = ""
    limit: int | None = None
    notes: tuple[str, ...] = ()
    citations: tuple[str, ...] = ()
    rights: tuple[str, ...] = ()
    software: str = ""
    request_date: str = ""
    links: ResultLinks = NO_LINKS


@dataclass(frozen=True, slots=True)
class Status:
    """How the result ended, with DALI's words; ``text`` is for the user.

    ``seconds``: how long the engine has worked for it, None if that is not known.
    """

    value: Literal["OK", "OVERFLOW", "ERROR"]
    text: str = ""
    seconds: float | None = None


OK = Status("OK")


def overflow_status(limit: int, way_out: str) -> Status:
    """The result was cut at ``limit`` rows; ``way_out`` is a sentence on how to get the rest."""
    rows = "1 row" if limit == 1 else f"{limit:,} rows"
    said = f"The result was cut at {rows}, the row limit of this request (MAXREC). {way_out}"
    return Status("OVERFLOW", said.rstrip())


class Serializer(ABC):
    """Makes one result document: ``header()``, then ``rows`` per batch, then ``footer``; the bytes can be streamed.

    A format whose beginning depends on all rows gives no bytes before the footer, and keeps the rows in ``scratch``.
    The header says QUERY_STATUS OK where the format has a place for it; the footer tells what happened since.
    """

    def __init__(self, fields: Sequence[Field], info: ResultInfo, scratch: ScratchSpace = NO_SCRATCH) -> None:
        self.fields = tuple(fields)
        self.info = info
        self.scratch = scratch

    def write_header(self) -> bytes:
        return b""

    @abstractmethod
    def write_rows(self, batch: pa.RecordBatch) -> bytes:
        """The batch's columns match the fields by position; their types are ``field.type.arrow`` or cast to it safely.

        Raises ``SerializationError`` for a value that does not fit the declared type.
        """

    @abstractmethod
    def write_footer(self, status: Status) -> Iterable[bytes]:
        """The rest of the document, in pieces. Of a result that failed none, unless the format has words for that."""


class SerializerFactory(Protocol):
    def __call__(self, fields: Sequence[Field], info: ResultInfo, scratch: ScratchSpace = ...) -> Serializer: ...
