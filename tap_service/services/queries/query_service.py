"""The queries of /sync and the short reads of other resources: admits them to the lanes, lists and stops them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from tap_service.config import Config
from tap_service.models.client import Client
from tap_service.models.engine_share import Lane
from tap_service.models.query_report import QueryReport
from tap_service.models.running_work import RunningWork, shorten_query
from tap_service.models.timestamps import format_instant
from tap_service.service_errors import QueryStopped, ServiceError, ServiceUnavailable
from tap_service.service_metrics import ServiceMetrics
from tap_service.services.announcements import Announcements
from tap_service.services.queries.query_estimate import QueryEstimate, estimate_query
from tap_service.services.queries.query_lanes import LaneCall, LaneLimits, QueryLanes
from tap_service.services.queries.query_preparation import QueryPreparation, may_wait
from tap_service.services.queries.query_recorder import QueryRecorder
from tap_service.services.queries.spool import SpoolStore
from tap_service.services.queries.sync_answer import SyncAnswer, SyncRequest
from tap_service.services.queries.tap_parameters import TapParameters

_T = TypeVar("_T")


class QueryService:
    """The queries of /sync and the short reads of a process.

    Methods belong to the event loop, unless their descriptions say otherwise.

    Parameters
    ----------
    config : Config
        The limits of time, rows and lanes.
    preparation : QueryPreparation
        Prepares the queries.
    spools : SpoolStore
        Has the results until clients have read them.
    metrics : ServiceMetrics
        Gets the numbers of queries and waiting requests.
    recorder : QueryRecorder
        Records ended and refused queries.
    announcements : Announcements
        Tell whether the service drains.

    Attributes
    ----------
    answers : set of SyncAnswer
        The queries that work or wait.
    """

    def __init__(
        self,
        config: Config,
        preparation: QueryPreparation,
        spools: SpoolStore,
        metrics: ServiceMetrics,
        recorder: QueryRecorder,
        announcements: Announcements,
    ) -> None:
        self._announcements = announcements
        self._config = config
        self._preparation = preparation
        self.spools = spools
        self._recorder = recorder
        self._lanes = QueryLanes(LaneLimits.from_config(config))
        self.answers: set[SyncAnswer] = set()
        metrics.in_flight.set_function(lambda: len(self.answers))
        metrics.waiting.set_function(lambda: sum(self._lanes.count_requests(lane)[1] for lane in Lane))
        for lane in Lane:
            metrics.lane_ages.labels(lane).set_function(partial(self._lanes.find_longest_wait, lane))
            for index, state in enumerate(("running", "waiting")):
                metrics.lanes.labels(lane, state).set_function(partial(self._count_requests, lane, index))

    def start_query(self, request: SyncRequest) -> SyncAnswer:
        """Admit a query, and start to work on it when it is its turn.

        Parameters
        ----------
        request : SyncRequest
            The request. Its ``release`` is called at the end, or before an error is raised.

        Returns
        -------
        SyncAnswer
            The answer, which raises the errors of the query, such as InvalidQueryError. The caller closes it.

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
            request.release()
            raise
        spool = self.spools.open_spool(request.client.key)
        answer = SyncAnswer(request, spool, self._config, self._lanes, self._preparation, self._recorder, self.answers)
        answer.start()
        return answer

    async def estimate_query(self, parameters: TapParameters, client: Client) -> QueryEstimate:
        """Estimate a query, in a separate lane so that estimates do not delay queries.

        Unlike a query it runs while the service drains.

        Parameters
        ----------
        parameters : TapParameters
            The parameters of the query.
        client : Client
            The client, in whose turn the estimate is made.

        Raises
        ------
        TooManyQueries, ServiceBusy
            The lane has no room for it.
        UploadError, InvalidQueryError, ServiceUnavailable, InternalError
            The query cannot be prepared.
        """
        lane = Lane.FETCHING if may_wait(parameters) else Lane.ESTIMATING
        call = partial(estimate_query, self._preparation, parameters, self._config.hard_maxrec, owner=client.name)
        return await self._run_in_lane(lane, client, call)

    async def run_in_lane(self, lane: Lane, client: Client, call: Callable[[], _T]) -> _T:
        """Run a call on a thread when it is the client's turn in a lane.

        Parameters
        ----------
        lane : Lane
            The lane.
        client : Client
            The client.
        call : callable
            The call, which may block.

        Returns
        -------
        object
            The result of the call.

        Raises
        ------
        TooManyQueries, ServiceBusy
            The lane has no room for it.
        ServiceDraining
            The service takes no new queries now.
        Exception
            The error of the call.
        """
        self._announcements.check_open()
        return await self._run_in_lane(lane, client, call)

    async def run_reading(self, call: Callable[[], _T], client: Client, lane: Lane = Lane.READING) -> _T:
        """Run a short read on a thread, in a separate lane so that it does not delay queries.

        Unlike a query it runs while the service drains. If the caller is cancelled while the read waits, it does not
        run.

        Parameters
        ----------
        call : callable
            The read, which may block.
        client : Client
            The client, in whose turn it runs.
        lane : Lane
            FETCHING for a read that may wait for another host.

        Returns
        -------
        object
            The result of the call.

        Raises
        ------
        TooManyQueries, ServiceBusy
            The lane has no room for it.
        Exception
            The error of the call.
        """
        return await self._run_in_lane(lane, client, call)

    async def _run_in_lane(self, lane: Lane, client: Client, call: Callable[[], _T]) -> _T:
        work = LaneCall(call)
        self._lanes.enter_lane(client, lane, work)
        return await asyncio.wrap_future(work.result)

    def record_refusal(self, error: ServiceError, client: Client) -> None:
        """Record a request with invalid parameters, which never became a query.

        Parameters
        ----------
        error : ServiceError
            The error that the client gets.
        client : Client
            The client.
        """
        self._recorder.record_query(QueryReport("REFUSED", error=str(error)), None, client)

    def list_running(self) -> list[RunningWork]:
        """Return the queries that work or wait, from any thread."""
        return [_describe_answer(answer) for answer in tuple(self.answers)]

    def stop_query(self, query_id: str) -> bool:
        """Stop a query, from any thread; its client gets QueryStopped.

        Parameters
        ----------
        query_id : str
            The ``SyncRequest.query_id``.

        Returns
        -------
        bool
            Whether there is such a query in this process. It may end before it is stopped.
        """
        found = [answer for answer in tuple(self.answers) if answer.request.query_id == query_id]
        for answer in found:
            answer.stop_soon(QueryStopped("the operator of this service has stopped this query"))
        return bool(found)

    async def close(self) -> None:
        """Stop running queries, record them, and accept no more."""
        answers = tuple(self.answers)
        for answer in answers:
            answer.close(ServiceUnavailable("the service is shutting down"))
        await asyncio.gather(*(answer.wait_closed() for answer in answers))
        self._lanes.close()

    def _count_requests(self, lane: Lane, index: int) -> float:
        return self._lanes.count_requests(lane)[index]


def _describe_answer(answer: SyncAnswer) -> RunningWork:
    request, slot = answer.request, answer.slot
    return RunningWork(
        request.query_id,
        "sync",
        request.client.label,
        "" if slot is None else str(slot.lane),
        "running" if slot is not None and slot.is_running else "waiting",
        format_instant(request.since),
        shorten_query(request.parameters.query),
        sent_bytes=answer.report.bytes,
    )
