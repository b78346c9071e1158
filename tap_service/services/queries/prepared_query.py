"""A query that is ready to run, and the sources of its rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Protocol

import pyarrow as pa

from adql import Translation
from clickhouse_schema.shard_map import ShardStatement
from tap_service.models.query_report import QueryReport
from tap_service.models.work_class import Estimate, SmallReading
from tap_service.serializers import Serializer
from tap_service.services.queries.row_limit import RowLimit
from tap_service.services.uploads.upload_loader import LoadedUploads
from tap_service.storage.engine.engine import Settings


class RowSource(Protocol):
    """The rows of a query: from the engine, or from the pieces of a job. The methods are as in ``Engine``."""

    def stream_batches(
        self,
        sql: str,
        *,
        query_id: str = "",
        settings: Settings | None = None,
        batch_rows: int = 16384,
        on_shard: ShardStatement | None = None,
    ) -> AbstractContextManager[Iterator[pa.RecordBatch]]:
        """Stream the result of a query; errors as in ``Engine.stream_batches``.

        Parameters
        ----------
        sql : str
            The query. A source that reads the same rows elsewhere may ignore it.
        query_id : str
            The engine's name for the query.
        settings : Settings | None
            The settings of the query.
        batch_rows : int
            Maximum number of rows of a batch.
        on_shard : ShardStatement | None
            The same query for the servers of one shard.

        Returns
        -------
        AbstractContextManager[Iterator[pyarrow.RecordBatch]]
            The batches, with the columns of the translation in their order.
        """

    def cancel_query(self, query_id: str) -> None:
        """Cancel the query, from any thread; its reader gets ``QueryCancelled``.

        Parameters
        ----------
        query_id : str
            The id that ``stream_batches`` was given.
        """


@dataclass(frozen=True, slots=True)
class PreparedQuery:
    """A translated query whose uploads are in the engine. ``QueryRun`` runs it; its owner closes it.

    Attributes
    ----------
    query_id : str
        The engine's name for the query.
    translation : Translation
        Returns one row more than ``row_limit`` permits; that row reveals an overflow.
    row_limit : RowLimit
    source : RowSource
    make_serializer : callable
        Makes the serializer of a run.
    memory : int
        The bytes that the query may use in the engine; 0 leaves them to the engine.
    uploads : LoadedUploads or None
        The uploaded tables, which ``close`` drops.
    small_reading : SmallReading or None
        What a small query reads, which needs no estimate to be light.
    estimate : Estimate or None
        The estimated cost, if it was asked for and the engine answers.
    seconds : mapping
        The duration of each step of the preparation.
    """

    query_id: str
    translation: Translation
    row_limit: RowLimit
    source: RowSource
    make_serializer: Callable[[], Serializer]
    memory: int = 0
    uploads: LoadedUploads | None = None
    small_reading: SmallReading | None = None
    estimate: Estimate | None = None
    seconds: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))

    def start_report(self, report: QueryReport) -> None:
        """Reset a report at the start of a run, with the warnings, tables and preparation of the query.

        Parameters
        ----------
        report : QueryReport
            The report. It keeps the engine errors of earlier runs.
        """
        report.start_run(self.translation.warnings, self.translation.tables, self.seconds)

    def close(self) -> None:
        """Drop the uploaded tables. Call this when the query has ended or will not run."""
        if self.uploads is not None:
            self.uploads.drop_tables()
