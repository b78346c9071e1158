"""Synchronous queries: admits requests to the lanes, prepares their queries, and records their ends."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import Generic, TypeVar

from clickhouse_schema.catalogue import TableEntry
from tap_service.config import Config
from tap_service.constants import BULK_SECONDS, QUICK_SECONDS
from tap_service.models.client_key import find_client_key
from tap_service.models.engine_share import ENGINE_SHARES, Lane, choose_small_share
from tap_service.models.query_report import QueryReport
from tap_service.models.running_work import RunningWork, shorten_query
from tap_service.models.timestamps import format_instant
from tap_service.models.work_class import Estimate
from tap_service.prometheus_metrics import ServiceMetrics
from tap_service.service_errors import ParameterError, QueryStopped, ServiceError, ServiceUnavailable
from tap_service.services.announcements import Announcements
from tap_service.services.queries.lane_limits import LaneLimits
from tap_service.services.queries.query_estimate import QueryEstimate, estimate_query
from tap_service.services.queries.query_execution import QueryExecution
from tap_service.services.queries.query_lanes import LanePlace, QueryLanes
from tap_service.services.queries.query_log import QueryLog
from tap_service.services.queries.query_preparation import QueryPreparation, may_wait
from tap_service.services.queries.result_spool import SpoolStore
from tap_service.services.queries.sync_answer import LONGER_QUERIES, StartJob, SyncAnswer, SyncRequest
from tap_service.services.queries.tap_parameters import TapParameters
from tap_service.services.usage_counter import UsageCounter
from tap_service.services.user_classes import UserClasses

_T = TypeVar("_T")


class QueryService:
    def __init__(
        self,
        config: Config,
        preparation: QueryPreparation,
        spools: SpoolStore,
        metrics: ServiceMetrics,
        log: QueryLog,
        usage: UsageCounter,
        announcements: Announcements,
        user_classes: UserClasses,
    ) -> None:
        self._announcements = announcements
        self._config = config
        self._preparation = preparation
        self.spools = spools
        self._metrics = metrics
        self._log = log
        self._usage = usage
        self._lanes = QueryLanes(LaneLimits.from_config(config, user_classes.find_class))
        self.answers: set[SyncAnswer] = set()
        metrics.in_flight.set_function(lambda: len(self.answers))
        metrics.waiting.set_function(lambda: sum(self._lanes.count_requests(lane)[1] for lane in Lane))
        for lane in Lane:
            metrics.lane_ages.labels(lane).set_function(partial(self._lanes.find_longest_wait, lane))
            for index, state in enumerate(("running", "waiting")):
                metrics.lanes.labels(lane, state).set_function(partial(self._count_requests, lane, index))

    def start_query(
        self,
        parameters: TapParameters,
        client: str,
        owner: str | None = None,
        *,
        start_job: StartJob | None = None,
        release: Callable[[], None] = lambda: None,
        longer: str = LONGER_QUERIES,
    ) -> SyncAnswer:
        """Admit a query; its answer raises InvalidQueryError if it cannot be translated.

        Parameters
        ----------
        parameters
            The query.
        client, owner
            The address and the user, None for an anonymous client.
        start_job
            Called at the time limit, to go on with the query as a job.
        release
            Called at the end: the files of ``parameters`` are not read any more.
        longer
            Where longer queries belong: a sentence for the error at the time limit.

        Raises
        ------
        TooManyQueries, ServiceBusy
            No lane has room for it.
        ServiceDraining
            The service takes no new queries now.
        """
        try:
            self._announcements.check_open()
        except ServiceError:
            release()
            raise
        asked = SyncRequest(parameters, client, owner, time.monotonic(), start_job, release, longer)
        client_key = find_client_key(owner, client)
        spool, seconds = self.spools.open_spool(client_key), self._config.sync_seconds
        answer = SyncAnswer(asked, spool, seconds, self._lanes, self._prepare_query, self._record_answer)
        lane = Lane.FETCHING if may_wait(parameters) else Lane.LIGHT
        try:
            answer.start(client_key, lane)
        except ServiceError as error:
            answer.end_work(error)
            answer.close()
            raise
        self.answers.add(answer)
        return answer

    async def estimate_query(self, parameters: TapParameters, client: str, owner: str | None = None) -> QueryEstimate:
        """Estimate a query, in a lane of its own so that estimates do not delay queries. Raises InvalidQueryError."""
        lane = Lane.FETCHING if may_wait(parameters) else Lane.ESTIMATING
        call = partial(estimate_query, self._preparation, parameters, self._config.hard_maxrec, owner=owner)
        return await self._run_in_lane(lane, client, owner, call)

    async def run_in_lane(self, lane: Lane, client: str, owner: str | None, call: Callable[[], _T]) -> _T:
        """Return what a call returns that takes its turn in a lane.

        Raises
        ------
        TooManyQueries, ServiceBusy, ServiceDraining
            And the errors of the call.
        """
        self._announcements.check_open()
        return await self._run_in_lane(lane, client, owner, call)

    async def run_reading(
        self, call: Callable[[], _T], client: str, owner: str | None = None, lane: Lane = Lane.READING
    ) -> _T:
        """Run a short read, in a lane of its own so that it does not delay queries. Raises its error, and as above.

        Unlike a query it runs while the service drains. ``lane``: FETCHING for what may wait for another host.
        """
        return await self._run_in_lane(lane, client, owner, call)

    async def _run_in_lane(self, lane: Lane, client: str, owner: str | None, call: Callable[[], _T]) -> _T:
        work = _LaneCall(call)
        self._lanes.enter_lane(find_client_key(owner, client), owner, lane, work)
        return await asyncio.wrap_future(work.result)

    def record_refusal(self, error: ServiceError, client: str, owner: str | None = None) -> None:
        """Count and log a request with invalid parameters."""
        report = QueryReport("REFUSED", error=str(error))
        self._metrics.record_query(report)
        self._log.log_failure(report, client=client, user=owner)

    def list_running(self) -> list[RunningWork]:
        """Return the queries that work or wait, from any thread."""
        return [_describe_answer(answer) for answer in tuple(self.answers)]

    def stop_query(self, query_id: str) -> bool:
        """Stop a query, from any thread; return whether there is one of this id."""
        found = [answer for answer in tuple(self.answers) if answer.asked.query_id == query_id]
        for answer in found:
            answer.stop_soon(QueryStopped("the operator of this service has stopped this query"))
        return bool(found)

    async def close(self) -> None:
        """Stop running queries, log them, and accept no more."""
        answers = tuple(self.answers)
        for answer in answers:
            answer.close(ServiceUnavailable("the service is shutting down"))
        await asyncio.gather(*(answer.wait_closed() for answer in answers))
        self._lanes.close()

    def _prepare_query(self, asked: SyncRequest) -> tuple[QueryExecution, Lane]:
        limit = self._config.hard_maxrec
        return prepare_sync_query(self._preparation, asked.parameters, limit, asked.owner, asked.query_id)

    def _record_answer(self, answer: SyncAnswer) -> None:
        report, asked, place = answer.report, answer.asked, answer.place
        if place is not None:
            report.lane = place.lane
            report.seconds["wait"] = place.waited
        report.seconds["total"] = time.monotonic() - asked.at
        self._metrics.record_query(report)
        query_id, tables = "", tuple[TableEntry, ...]()
        if answer.execution is not None:
            query_id, tables = answer.execution.query_id, answer.execution.translation.tables
        self._log.log_query(asked.parameters, report, query_id=query_id, client=asked.client, user=asked.owner)
        extension = asked.parameters.format.extension
        self._usage.count_query(report, tables, extension, owner=asked.owner, client=asked.client)
        self.answers.discard(answer)

    def _count_requests(self, lane: Lane, index: int) -> float:
        return self._lanes.count_requests(lane)[index]


def prepare_sync_query(
    preparation: QueryPreparation,
    parameters: TapParameters,
    hard_maxrec: int,
    owner: str | None = None,
    query_id: str = "",
) -> tuple[QueryExecution, Lane]:
    """Prepare a query of /sync and choose the lane that runs it: quick queries do not wait behind others."""
    if parameters.format.is_collection:
        raise ParameterError("RESPONSEFORMAT=hats is a collection of files, which jobs write: send it to /async")
    query_id = query_id or f"sync-{uuid.uuid4().hex}"
    execution = preparation.prepare_query(parameters, query_id, hard_maxrec, owner=owner, is_hasty=True)
    if execution.small_reading is not None:
        execution.set_engine_share(choose_small_share(execution.small_reading))
        return execution, Lane.LIGHT
    lane = _choose_lane(preparation.estimate_cost(execution))
    execution.set_engine_share(ENGINE_SHARES[lane])
    return execution, lane


def _choose_lane(estimate: Estimate | None) -> Lane:
    """Return HEAVY for much work in the engine, and BULK for little work but many rows to write."""
    if estimate is None:
        return Lane.HEAVY
    writing = estimate.steps.write_seconds if estimate.steps else 0.0
    if estimate.seconds - writing >= QUICK_SECONDS:
        return Lane.HEAVY
    return Lane.MEDIUM if writing < BULK_SECONDS else Lane.BULK


def _describe_answer(answer: SyncAnswer) -> RunningWork:
    asked, place = answer.asked, answer.place
    return RunningWork(
        asked.query_id,
        "sync",
        asked.owner or asked.client,
        "" if place is None else str(place.lane),
        "running" if place is not None and place.is_running else "waiting",
        format_instant(asked.since),
        shorten_query(asked.parameters.query),
        sent_bytes=answer.report.bytes,
    )


class _LaneCall(Generic[_T]):
    """A function call in a lane, with its result as a future."""

    def __init__(self, call: Callable[[], _T]) -> None:
        self.result: Future[_T] = Future()
        self._call = call

    def do_work(self, place: LanePlace) -> None:  # noqa: ARG002 (LaneWork)
        if not self.result.set_running_or_notify_cancel():
            return  # the client has gone
        try:
            self.result.set_result(self._call())
        except BaseException as error:
            self.result.set_exception(error)

    def end_work(self, refusal: ServiceError | None = None) -> None:
        if refusal is not None and self.result.set_running_or_notify_cancel():
            self.result.set_exception(refusal)
