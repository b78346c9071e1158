"""Writes the document of a result: from batches of rows to bytes in a sink."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

import pyarrow as pa

from tap_service.models.query_report import QueryReport
from tap_service.serializers import Serializer, Status
from tap_service.services.queries.spool import SpoolClosed


class ByteSink(Protocol):
    """Receives the bytes of a document."""

    def write(self, data: bytes, *, anyway: bool = False) -> None:
        """Append bytes.

        Parameters
        ----------
        data : bytes
            The bytes, possibly none.
        anyway : bool
            Ignore the limit of a full sink, for the end of a document after an error.

        Raises
        ------
        NoRoom
            The sink is full.
        SpoolClosed
            The reader has closed the sink.
        OSError
            The disk fails.
        """


class DocumentWriter:
    """Writes one document. The header waits for the first rows, so a query that fails before them writes nothing.

    Parameters
    ----------
    serializer : Serializer
        Makes the bytes. The caller closes it.
    sink : ByteSink
        Receives the bytes; its errors end the writing.
    report : QueryReport
        Gets the number of bytes, the status and the warning of the serializer.
    """

    def __init__(self, serializer: Serializer, sink: ByteSink, report: QueryReport) -> None:
        self._serializer = serializer
        self._sink = sink
        self._report = report
        self._header = serializer.write_header()
        self._has_begun = False

    def write_rows(self, batch: pa.RecordBatch) -> None:
        """Write a batch of rows.

        Parameters
        ----------
        batch : pyarrow.RecordBatch
            The rows, as ``Serializer.write_rows`` takes them.

        Raises
        ------
        SerializationError
            The format cannot represent a value.
        NoRoom, SpoolClosed, OSError
            The sink or the scratch space of the serializer cannot take the rows.
        """
        self._write(self._serializer.write_rows(batch))

    def finish(self, status: Status, seconds: float, check_stopped: Callable[[], None] = lambda: None) -> None:
        """Write the end of a complete document.

        Parameters
        ----------
        status : Status
            The status of the query.
        seconds : float
            How long the engine has worked.
        check_stopped : callable
            Is called before each piece: some formats sort their rows here. Its error ends the writing.
        """
        self._report.status = status.value
        self._write(b"")  # the header, if there were no rows
        for piece in self._serializer.write_footer(replace(status, seconds=seconds)):
            check_stopped()
            self._write(piece)
        self._report.add_warning(self._serializer.warning)

    def finish_with_error(self, message: str) -> bool:
        """Append an error to rows that have been written.

        Parameters
        ----------
        message : str
            The error for the user.

        Returns
        -------
        bool
            Whether the document is whole: False if no rows were written, if the format cannot represent an error, or if
            the sink cannot take it.
        """
        if not self._has_begun:
            return False
        footer = b"".join(self._serializer.write_footer(Status("ERROR", message)))
        try:
            self._sink.write(footer, anyway=True)
        except (SpoolClosed, OSError):
            return False
        self._report.bytes += len(footer)
        return bool(footer)

    def _write(self, data: bytes) -> None:
        data, self._header = self._header + data, b""
        self._sink.write(data)
        self._has_begun = self._has_begun or bool(data)
        self._report.bytes += len(data)
