"""Answers synchronous queries: blocking work runs on threads, waiting in the event loop."""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections.abc import AsyncIterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

from tap_service.config import Config
from tap_service.constants import CANCEL_RETRY_SECONDS, QUICK_SECONDS, SETTLING_SECONDS
from tap_service.models.engine_share import ENGINE_SHARES, Lane
from tap_service.models.query_report import QueryReport
from tap_service.prometheus_metrics import ServiceMetrics
from tap_service.service_errors import ClientGone, QueryTooHeavy, ServiceError, ServiceUnavailable
from tap_service.services.bounded_thread_pool import BoundedThreadPool
from tap_service.services.queries.query_estimate import QueryEstimate, estimate_query
from tap_service.services.queries.query_execution import QueryExecution, log_status
from tap_service.services.queries.query_log import QueryLog
from tap_service.services.queries.query_preparation import QueryPreparation, may_wait
from tap_service.services.queries.result_spool import Spool, SpoolStore
from tap_service.services.queries.tap_parameters import TapParameters
from tap_service.storage.engine.engine import EngineError

_log = logging.getLogger("skyhouse")

#: translation holds the interpreter lock: more threads would not make it faster
_PREPARER_THREADS = 2
#: for queries that wait for name services, fetched tables, or readers of uploads
_SLOW_PREPARER_THREADS = 8
#: ratio of quick to heavy queries that run at once
_QUICK_PER_HEAVY = 2


@dataclass(frozen=True, slots=True)
class SyncRequest:
    """A request, as the query log records it."""

    parameters: TapParameters
    client: str
    owner: str | None
    at: float  # monotonic


class QueryService:
    def __init__(
        self, config: Config, preparation: QueryPreparation, spools: SpoolStore, metrics: ServiceMetrics, log: QueryLog
    ) -> None:
        self._config = config
        self._preparation = preparation
        self._spools = spools
        self._metrics = metrics
        self._log = log
        self._preparers = ThreadPoolExecutor(_PREPARER_THREADS, "preparer")
        self._slow_preparers = ThreadPoolExecutor(_SLOW_PREPARER_THREADS, "slow-preparer")
        self._estimator_threads = ThreadPoolExecutor(_PREPARER_THREADS, "estimator")
        self._heavy = BoundedThreadPool("heavy-query", config.concurrent_queries, config.waiting_queries)
        self._quick = BoundedThreadPool(
            "quick-query", _QUICK_PER_HEAVY * config.concurrent_queries, config.waiting_queries
        )
        self.answers: set[SyncAnswer] = set()
        metrics.in_flight.set_function(lambda: len(self.answers))
        metrics.waiting.set_function(lambda: self._quick.n_waiting + self._heavy.n_waiting)

    async def start_query(self, parameters: TapParameters, client: str, owner: str | None = None) -> SyncAnswer:
        """Start a query. Raises QueryFault if it cannot be translated, ServiceBusy when too many queries wait."""
        asked = SyncRequest(parameters, client, owner, time.monotonic())
        try:
            answer = await self._start_answer(asked)
        except ServiceError as error:
            self.record_query(asked, QueryReport("ERROR", error=str(error)))
            raise
        self.answers.add(answer)
        return answer

    async def estimate_query(self, parameters: TapParameters, owner: str | None = None) -> QueryEstimate:
        """Estimate a query, on threads of their own so that estimates do not delay queries. Raises QueryFault."""
        pool = self._slow_preparers if may_wait(parameters) else self._estimator_threads
        work = partial(estimate_query, self._preparation, parameters, self._config.hard_maxrec, owner=owner)
        return await asyncio.get_running_loop().run_in_executor(pool, work)

    def record_refusal(self, error: ServiceError, client: str) -> None:
        """Count and log a request with invalid parameters."""
        report = QueryReport("REFUSED", error=str(error))
        self._metrics.record_query(report)
        self._log.log_record(client=client, status=report.status, error=report.error)

    def forget_answer(self, answer: SyncAnswer) -> None:
        self.answers.discard(answer)

    def record_query(self, asked: SyncRequest, report: QueryReport, query_id: str = "") -> None:
        report.seconds["total"] = time.monotonic() - asked.at
        self._metrics.record_query(report)
        self._log.log_query(asked.parameters, report, query_id=query_id, client=asked.client)

    async def close(self) -> None:
        """Stop running queries, log them, and accept no more."""
        answers = tuple(self.answers)
        for answer in answers:
            answer.close(ServiceUnavailable("the service is shutting down"))
        await asyncio.gather(*(answer.wait_closed() for answer in answers))
        for queue in (self._quick, self._heavy):
            queue.close()
        for pool in (self._preparers, self._slow_preparers, self._estimator_threads):
            pool.shutdown(wait=False, cancel_futures=True)

    def _prepare_in_pool(self, asked: SyncRequest, query_id: str) -> tuple[QueryExecution, BoundedThreadPool]:
        """Prepare the query and choose the pool that runs it: quick queries do not wait behind heavy ones."""
        execution = self._preparation.prepare_query(
            asked.parameters, query_id, self._config.hard_maxrec, owner=asked.owner
        )
        estimate = self._preparation.estimate_cost(execution)
        if estimate is not None and estimate.seconds < QUICK_SECONDS:
            return execution, self._quick
        execution.set_engine_share(ENGINE_SHARES[Lane.HEAVY])
        return execution, self._heavy

    async def _start_answer(self, asked: SyncRequest) -> SyncAnswer:
        query_id = f"sync-{uuid.uuid4().hex}"
        execution, pool = await asyncio.get_running_loop().run_in_executor(
            self._slow_preparers if may_wait(asked.parameters) else self._preparers,
            partial(self._prepare_in_pool, asked, query_id),
        )
        spool = self._spools.open_spool()
        try:
            running = pool.submit(partial(execution.run, spool))
        except ServiceError:
            await asyncio.to_thread(execution.close)
            raise
        return SyncAnswer(self, asked, execution, spool, running, self._config.sync_seconds)


class SyncAnswer:
    """A running query: the engine fills the spool, the client reads it."""

    def __init__(
        self,
        service: QueryService,
        asked: SyncRequest,
        execution: QueryExecution,
        spool: Spool,
        place: Future[None],
        seconds: float,
    ) -> None:
        self.format = asked.parameters.format
        self.execution = execution
        self._service = service
        self._asked = asked
        self._spool = spool
        self._place = place  # in the pool
        self._running = asyncio.wrap_future(place)
        self._seconds = seconds
        self._watch = asyncio.create_task(self._limit_time())
        self._closing: asyncio.Task[None] | None = None

    async def wait_first_bytes(self) -> None:
        """Wait for the first bytes. Raises the query's error if there are none.

        If the status is sent in an HTTP header (all formats but VOTable), wait a moment for the end of a short query.
        """
        if not self.format.is_votable:
            await asyncio.wait({self._running}, timeout=SETTLING_SECONDS)
        if not await self._spool.wait_readable() and self.execution.failure is not None:
            raise self.execution.failure

    @property
    def status(self) -> str:
        """The final status, '' while the query runs."""
        return self.execution.report.status

    def read_pieces(self) -> AsyncIterator[bytes]:
        return self._spool.read_pieces()

    @property
    def is_complete(self) -> bool:
        """Whether the document is complete, once all pieces have been read."""
        return self.execution.complete

    def close(self, reason: ServiceError | None = None) -> None:
        """Stop the query if it still runs, free the spool, and log the query. The client is done or has gone."""
        self._spool.close()
        if self._closing is None:
            gone = ClientGone("the client closed the connection before the end")
            self._closing = asyncio.create_task(self._close_execution(reason or gone))

    async def wait_closed(self) -> None:
        """Wait until ``close`` has finished."""
        if self._closing is not None:
            await self._closing

    async def _close_execution(self, reason: ServiceError) -> None:
        await self._stop_execution(reason)
        await asyncio.to_thread(self.execution.close)
        self._watch.cancel()
        self._service.record_query(self._asked, self.execution.report, self.execution.query_id)
        self._service.forget_answer(self)

    async def _limit_time(self) -> None:
        """Stop the query when the engine has worked on it for the limit of /sync."""
        while not self._running.done():
            rest = self._seconds - self.execution.clock.seconds
            if rest <= 0:
                await self._stop_execution(self._time_limit_fault())
            else:
                await asyncio.wait({self._running}, timeout=rest)

    def _time_limit_fault(self) -> QueryTooHeavy:
        return QueryTooHeavy(
            f"the engine has worked for {self._seconds:g} seconds on this query, the limit of /sync. "
            "Longer queries belong in /async, with the same parameters; "
            "or ask for less at once, such as a smaller region, or fewer columns to sort or group by"
        )

    async def _stop_execution(self, reason: ServiceError) -> None:
        """Cancel the query until it has stopped; a waiting query only leaves the queue."""
        if self._place.cancel():
            self.execution.report.status = log_status(reason)
            self.execution.report.error = str(reason)
        while not self._running.done():
            try:
                await asyncio.get_running_loop().run_in_executor(None, self.execution.stop, reason)
            except EngineError as error:
                _log.warning("query %s cannot be stopped yet: %s", self.execution.query_id, error)
            await asyncio.wait({self._running}, timeout=CANCEL_RETRY_SECONDS)
