"""The outcome of one query, for the log, the metrics and a job's info."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from clickhouse_schema.catalogue import TableEntry


@dataclass(slots=True)
class QueryReport:
    """The outcome of a query so far.

    Attributes
    ----------
    status : str
        OK, OVERFLOW, ERROR, or another word of the query log; '' while the query waits or runs.
    rows, bytes : int
        The rows and bytes of the result.
    error : str
        The message of the error; '' without one.
    warning : str
        Notes on the query, and on rows that the row limit or the format left out.
    lane : str
        The lane of a query sent to /sync; '' for a job.
    tables : tuple of TableEntry
        The tables that the query reads; empty until it is prepared.
    engine_errors : list of str
        The classes of the engine's errors on the way.
    seconds : dict
        The duration of each step, in seconds.
    """

    status: str = ""
    rows: int = 0
    bytes: int = 0
    error: str = ""
    warning: str = ""
    lane: str = ""
    tables: tuple[TableEntry, ...] = ()
    engine_errors: list[str] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)

    def start_run(self, warnings: Sequence[str], tables: tuple[TableEntry, ...], seconds: Mapping[str, float]) -> None:
        """Reset the report for a new run of the query, but keep the engine errors of earlier runs.

        Parameters
        ----------
        warnings : Sequence[str]
            Notes on the query.
        tables : tuple of TableEntry
            The tables that the query reads.
        seconds : Mapping[str, float]
            The durations of the steps before the run, in seconds.
        """
        self.status = self.error = ""
        self.rows = self.bytes = 0
        self.warning = " ".join(warnings)
        self.tables = tables
        self.seconds = dict(seconds)

    def add_warning(self, warning: str) -> None:
        """Append to the warning.

        Parameters
        ----------
        warning : str
            A complete sentence for the user.
        """
        self.warning = f"{self.warning} {warning}".strip()

    def end_with_error(self, status: str, error: Exception, engine_error: str = "") -> None:
        """Record the error that ended the query.

        Parameters
        ----------
        status : str
            The word of the query log.
        error : Exception
            The error.
        engine_error : str
            The class of the engine's error that caused it, '' if none did.
        """
        self.status, self.error = status, str(error)
        if engine_error:
            self.engine_errors.append(engine_error)
