"""The base class of serializers, and the description and status of a result."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import pyarrow as pa

from clickhouse_schema.column_links import NO_LINKS, ResultLinks
from clickhouse_schema.datatypes import Field
from tap_service.scratch_files import NO_SCRATCH, ScratchSpace

#: name of the INFO with an error message in Simple Cone Search 1.03 (section 2)
CONE_SEARCH_ERROR = "Error"

SourceRows = tuple[int | None, ...]

#: number of results for which a format caches what depends only on the columns
MAX_REMEMBERED = 64


class SerializationError(Exception):
    """The format cannot represent a value; the message names the column."""


@dataclass(frozen=True, slots=True)
class ResultInfo:
    """The description of a result; empty values are omitted.

    Parameters
    ----------
    query : str
        The ADQL text.
    service : str
        Name of the service.
    limit : int | None
        The row limit in force, None if there is none.
    notes : tuple[str, ...]
        Notes for the user, such as a predicted truncation.
    citations : tuple[str, ...]
        Bibcodes, DOIs or texts to cite for the tables used.
    rights : tuple[str, ...]
        Licences of the tables used.
    software : str
        Product and version of the service.
    request_date : str
        Time of the request, ISO 8601 in UTC.
    links : ResultLinks
        LINKs and service descriptors, which refer to fields by index.
    source_rows : SourceRows
        For each field the number of the table row from which it comes unchanged, None for a computed one; empty if all
        fields come from one row.
    standard_id : str
        Identifier of the protocol of the request.
    error_name : str
        Name of an INFO that repeats the message of an error, if the protocol requires one.
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
    source_rows: SourceRows = ()
    standard_id: str = "ivo://ivoa.net/std/TAP"
    error_name: str = ""


@dataclass(frozen=True, slots=True)
class Status:
    """The final status of a result.

    Parameters
    ----------
    value : Literal["OK", "OVERFLOW", "ERROR"]
        DALI's QUERY_STATUS.
    text : str
        A message for the user.
    seconds : float | None
        Working time of the engine in seconds, None if unknown.
    """

    value: Literal["OK", "OVERFLOW", "ERROR"]
    text: str = ""
    seconds: float | None = None


OK = Status("OK")


def overflow_status(limit: int, way_out: str) -> Status:
    """Return the status of a result that was cut at the row limit.

    Parameters
    ----------
    limit : int
        The row limit.
    way_out : str
        A sentence on how to get the remaining rows, or ''.

    Returns
    -------
    Status
        OVERFLOW with a message for the user.
    """
    rows = "1 row" if limit == 1 else f"{limit:,} rows"
    text = f"The result was cut at {rows}, the row limit of this request (MAXREC). {way_out}"
    return Status("OVERFLOW", text.rstrip())


class Serializer(ABC):
    """Writes one document: ``write_header``, then ``write_rows`` for each batch, then ``write_footer``.

    The bytes can be streamed. In formats with a status, the header reports QUERY_STATUS OK, and the footer any other
    final status.

    Parameters
    ----------
    fields : Sequence[Field]
        The columns of the result.
    info : ResultInfo
        The description of the result.
    scratch : ScratchSpace
        Disk space for rows. Formats that cannot be streamed spool all rows there and write nothing before the footer.

    Attributes
    ----------
    warning : str
        What the complete document lacks, in complete sentences; '' if nothing.
    """

    warning: str = ""

    def __init__(self, fields: Sequence[Field], info: ResultInfo, scratch: ScratchSpace = NO_SCRATCH) -> None:
        self.fields = tuple(fields)
        self.info = info
        self.scratch = scratch

    def write_header(self) -> bytes:
        """Return the bytes before the rows; none in formats that cannot be streamed."""
        return b""

    @abstractmethod
    def write_rows(self, batch: pa.RecordBatch) -> bytes:
        """Return the bytes of a batch.

        Parameters
        ----------
        batch : pa.RecordBatch
            Columns in the order of the fields, of the type ``field.type.arrow`` or one that casts to it safely.

        Returns
        -------
        bytes
            The bytes that are complete, possibly none.

        Raises
        ------
        SerializationError
            The format cannot represent a value, or a value does not fit the declared type.
        NoRoom
            The rows do not fit into the scratch space.
        """

    @abstractmethod
    def write_footer(self, status: Status) -> Iterable[bytes]:
        """Yield the remaining bytes; none for a failed query, unless the format can represent an error.

        Parameters
        ----------
        status : Status
            The final status of the result.

        Raises
        ------
        SerializationError, NoRoom
            As for ``write_rows``.
        """

    def close(self) -> None:  # noqa: B027 (most hold nothing)
        """Release what the serializer holds, such as temporary tables, whether the document is complete or not."""


class SerializerFactory(Protocol):
    """Creates the serializer of one result; parameters as for ``Serializer``."""

    def __call__(self, fields: Sequence[Field], info: ResultInfo, scratch: ScratchSpace = ...) -> Serializer: ...


def distinct_names(names: Sequence[str], fold: Callable[[str], str] = str) -> list[str]:
    """Make names distinct.

    Parameters
    ----------
    names : Sequence[str]
        The names, in order.
    fold : callable
        Names are duplicates if it returns the same for them, such as ``str.lower``.

    Returns
    -------
    list[str]
        The names in the same order; ``_2``, ``_3`` ... are appended to later duplicates.
    """
    taken = {fold(name) for name in names}
    seen: set[str] = set()
    distinct = []
    for name in names:
        new, number = name, 1
        while fold(new) in seen or (number > 1 and fold(new) in taken):
            number += 1
            new = f"{name}_{number}"
        seen.add(fold(new))
        distinct.append(new)
    return distinct
