"""A request to /sync from admission to end: a thread of the lanes works on it, the event loop reads the result."""

from __future__ import annotations

import asyncio
import logging
import math
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial

from tap_service.config import Config
from tap_service.constants import (
    CANCEL_RETRY_SECONDS,
    FIRST_BYTES,
    LIGHT_SECONDS,
    MAX_LIGHT_BYTES,
    MAX_WHOLE_BYTES,
    PATIENCE_SECONDS,
    SETTLING_SECONDS,
    WATCH_SECONDS,
)
from tap_service.models.client import Client
from tap_service.models.engine_share import Lane, choose_lane, choose_share
from tap_service.models.query_report import QueryReport
from tap_service.models.timestamps import now
from tap_service.service_errors import ClientGone, ParameterError, QueryTimedOut, ServiceError
from tap_service.services.queries.query_lanes import LaneSlot, QueryLanes
from tap_service.services.queries.query_preparation import Costing, QueryPreparation, may_wait
from tap_service.services.queries.query_recorder import QueryRecorder
from tap_service.services.queries.query_run import QueryRun, QueryState
from tap_service.services.queries.run_errors import log_status, name_engine_error
from tap_service.services.queries.spool import Spool
from tap_service.services.queries.tap_parameters import TapParameters
from tap_service.storage.engine.engine import EngineError

_log = logging.getLogger("skyhouse")

#: where a client of /sync sends queries that take longer than its time limit
LONGER_QUERIES = (
    "Longer queries belong in /async, with the same parameters; or add ON_TIMEOUT=job, and the service starts a job"
)

#: starts a job with the request's parameters and returns its URL; raises ServiceError
StartJob = Callable[[], Awaitable[str]]


@dataclass(frozen=True, slots=True)
class SyncRequest:
    """A request.

    Attributes
    ----------
    parameters, client
        The query, and its sender.
    start_job
        Starts a job at the time limit that continues the query; None: the query fails.
    release
        Is called at the end: the files of ``parameters`` are not read any more.
    longer
        Where longer queries belong: a sentence for the error at the time limit.
    query_id
        The engine's name for the query.
    since, at
        The time of arrival: in UTC, and by time.monotonic.
    """

    parameters: TapParameters
    client: Client
    start_job: StartJob | None = None
    release: Callable[[], None] = lambda: None
    longer: str = LONGER_QUERIES
    query_id: str = field(default_factory=lambda: f"sync-{uuid.uuid4().hex}")
    since: datetime = field(default_factory=now)
    at: float = field(default_factory=time.monotonic)


class SyncAnswer:
    """A request that is being processed: the engine fills the spool, the client reads it.

    Lanes call ``do_work`` and ``end_work``; all other methods belong to the event loop.

    Parameters
    ----------
    request : SyncRequest
    spool : Spool
        Receives the result.
    config : Config
        The limits of time and rows.
    lanes : QueryLanes
        Run the work.
    preparation : QueryPreparation
    recorder : QueryRecorder
        Records the end.
    answers : set of SyncAnswer
        The active answers; this answer is one of them until it is closed.
    """

    def __init__(
        self,
        request: SyncRequest,
        spool: Spool,
        config: Config,
        lanes: QueryLanes,
        preparation: QueryPreparation,
        recorder: QueryRecorder,
        answers: set[SyncAnswer],
    ) -> None:
        self.request = request
        self.report = QueryReport()
        #: None until the request has entered a lane
        self.slot: LaneSlot | None = None
        #: None until the query is prepared
        self.run: QueryRun | None = None
        self._spool = spool
        self._seconds: float = config.sync_seconds
        self._hard_maxrec = config.hard_maxrec
        self._lanes = lanes
        self._preparation = preparation
        self._recorder = recorder
        self._answers = answers
        self._failure: Exception | None = None
        #: the reason of a stop, while the work has not ended
        self._stop_reason: ServiceError | None = None
        #: when the engine began to work, and the lane where an interrupted run starts again
        self._ran_at = 0.0
        self._next_lane: Lane | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._stopping: asyncio.Task[None] | None = None
        self._interrupting: asyncio.Task[None] | None = None
        self._closing: asyncio.Task[None] | None = None
        self._loop = asyncio.get_running_loop()
        self._is_closed = False

    # --- on any thread

    def stop_soon(self, reason: ServiceError) -> None:
        """Stop the query, from any thread, if it has not ended.

        Parameters
        ----------
        reason : ServiceError
            What the client gets, after the rows that it has received if there are any. The first reason counts.
        """
        self._loop.call_soon_threadsafe(self._begin_stop, reason)

    # --- on threads of the lanes

    def do_work(self, slot: LaneSlot) -> Lane | None:
        """Implement ``LaneWork``: prepare the query, or run it."""
        try:
            if self.run is None:
                lane = self._prepare()
                if lane is not Lane.LIGHT or slot.lane is Lane.FETCHING:
                    return lane
            if self._stop_reason is not None:
                raise self._stop_reason
            return self._run_query(slot.lane)
        except Exception as error:
            self._note_failure(error)
        return None

    def _prepare(self) -> Lane:
        """Prepare the query; return the lane that is to run it."""
        parameters, owner = self.request.parameters, self.request.client.name
        if parameters.format.is_collection:
            raise ParameterError("RESPONSEFORMAT=hats is a collection of files, which jobs write: send it to /async")
        query = self._preparation.prepare_query(
            parameters, self.request.query_id, self._hard_maxrec, owner=owner, costing=Costing.UNLESS_SMALL
        )
        self.run = QueryRun(query, self.report)
        return choose_lane(query.small_reading, query.estimate)

    def _run_query(self, lane: Lane) -> Lane | None:
        """Run the query; again from its start if a server is lost, unless the client has begun to read.

        Return the lane where the run starts again, if it was interrupted for another lane.
        """
        assert self.run is not None  # noqa: S101 (it is prepared)
        self._ran_at = time.monotonic()
        share = choose_share(lane, self.run.query.small_reading)
        try:
            self.run.run(self._spool, share)
        except ServiceError as error:
            if not self.run.has_lost_server(error) or not self._spool.hold_back():
                raise
            _log.warning("query %s starts again: %s", self.run.query_id, error)
            self._spool.drop_held_bytes()
            self._next_lane = None
            self.run.run(self._spool, share)
        if self.run.state is not QueryState.INTERRUPTED:
            return None
        self._spool.drop_held_bytes()
        next_lane, self._next_lane = self._next_lane, None
        return next_lane or Lane.HEAVY

    def end_work(self, refusal: ServiceError | None = None) -> None:
        """Implement ``LaneWork``: end the spool."""
        if refusal is not None:
            self._note_failure(refusal)
        self._spool.end()

    def _note_failure(self, error: Exception) -> None:
        self._failure = error
        if self.run is None or self.run.state is not QueryState.FAILED:  # the run has reported its own error
            self.report.end_with_error(log_status(error), error, name_engine_error(error))

    # --- in the event loop

    def start(self) -> None:
        """Enter a lane.

        Raises
        ------
        TooManyQueries, ServiceBusy
            No lane has room; the answer is closed.
        """
        lane = Lane.FETCHING if may_wait(self.request.parameters) else Lane.LIGHT
        try:
            self.slot = self._lanes.enter_lane(self.request.client, lane, self)
        except ServiceError as error:
            self.end_work(error)
            self.close()
            raise
        self._answers.add(self)
        self._watch_later(self._seconds)

    async def wait_briefly(self) -> bool:
        """Wait a moment for the end of a short query; return whether it has ended.

        Raises
        ------
        ServiceError
            The query has ended without a complete document.
        """
        await self._spool.wait_for_bytes(math.inf, PATIENCE_SECONDS)
        if self._spool.has_ended:
            self.raise_failure()
        return self._spool.has_ended

    async def wait_for_first_bytes(self) -> None:
        """Wait for the first bytes of the document.

        If the status is sent in an HTTP header (all formats but VOTable), wait a moment for the end of a short query.

        Raises
        ------
        ServiceError
            The query has ended without a complete document.
        """
        is_votable = self.request.parameters.format.is_votable
        await self._spool.wait_for_bytes(FIRST_BYTES if is_votable else math.inf, SETTLING_SECONDS)
        if not await self._spool.wait_readable() or self._spool.has_ended:
            self.raise_failure()

    def raise_failure(self) -> None:
        """Raise the query's error, unless the document contains it."""
        failure = self._failure or self._stop_reason
        if failure is not None and not self.is_complete:
            raise failure

    @property
    def is_complete(self) -> bool:
        """Whether the document is complete, once all pieces have been read."""
        return self.run is not None and self.run.is_whole

    def take_whole(self) -> bytes | None:
        """Return the document of a query that has ended, if it is short; otherwise None."""
        return self._spool.take_whole(MAX_WHOLE_BYTES) if self.is_complete else None

    def read_pieces(self) -> AsyncIterator[bytes]:
        """Return the pieces of the document as they are written. The caller closes the answer at their end."""
        return self._spool.read_pieces()

    def close(self, reason: ServiceError | None = None) -> None:
        """Stop the query if it still runs, free the spool, and record the query. The client is done or has gone.

        It returns at once; ``wait_closed`` waits for the end. Further calls do nothing.

        Parameters
        ----------
        reason : ServiceError | None
            Why a running query is stopped; None if the client has gone.
        """
        self._spool.close()
        if self._is_closed:
            return
        self._is_closed = True
        if self._timer is not None:
            self._timer.cancel()
        has_uploads = self.run is not None and self.run.query.uploads is not None
        if self._spool.has_ended and not has_uploads:
            self._record_end()
        else:
            gone = ClientGone("the client closed the connection before the end")
            self._closing = asyncio.create_task(self._close_work(reason or gone))

    async def wait_closed(self) -> None:
        """Wait until ``close`` has finished, but not for a preparation: its readers of uploads may end much later."""
        if self._closing is None:
            return
        if self.run is None and not self._spool.has_ended and self._stop_reason is not None:
            self._closing.cancel()
            self._note_failure(self._stop_reason)
            self._record_end()
        else:
            await self._closing

    async def _close_work(self, reason: ServiceError) -> None:
        await self._stop(reason)
        if self.run is not None:
            await asyncio.to_thread(self.run.query.close)
        self._record_end()

    def _record_end(self) -> None:
        request, report = self.request, self.report
        if self.slot is not None:
            report.lane = self.slot.lane
            report.seconds["wait"] = self.slot.waited
        report.seconds["total"] = time.monotonic() - request.at
        query_id = "" if self.run is None else self.run.query_id
        self._recorder.record_query(report, request.parameters, request.client, query_id=query_id)
        self._answers.discard(self)
        request.release()

    def _watch_later(self, seconds: float) -> None:
        self._timer = self._loop.call_later(min(WATCH_SECONDS, seconds), self._watch)

    def _watch(self) -> None:
        """Stop the query when the engine has worked on it for the limit of /sync; move a heavy one to its lane."""
        if self._spool.has_ended or self.slot is None or self._stopping is not None:
            return
        run = self.run if self._next_lane is None else None  # an interrupted run gets the whole time again
        rest = self._seconds - (run.clock.seconds if run is not None else 0.0)
        if rest <= 0:
            reached = f"the engine has worked for {self._seconds:g} seconds on this query, the time limit of /sync"
            self._stopping = asyncio.create_task(self._stop_at_limit(reached))
            return
        self._watch_later(rest)
        if run is not None and self.slot.is_running and self.slot.lane in (Lane.LIGHT, Lane.MEDIUM):
            if self.report.bytes > MAX_LIGHT_BYTES:
                self._outgrow_lane(self.slot, run, Lane.BULK)
            elif self._ran_at and time.monotonic() - self._ran_at > LIGHT_SECONDS:
                self._outgrow_lane(self.slot, run, Lane.HEAVY)

    def _outgrow_lane(self, slot: LaneSlot, run: QueryRun, lane: Lane) -> None:
        """Move the query to another lane that has room for it; else interrupt it, to start again there in its turn.

        A query whose client reads already goes on beyond the slots of that lane, up to a maximum number of such
        queries. Nothing changes while no request waits for the query's slot.
        """
        _, waiting = self._lanes.count_requests(slot.lane)
        if self._stop_reason is not None or self._lanes.move_slot(slot, lane) or not waiting:
            return
        if self._spool.hold_back():
            self._next_lane = lane
            self._interrupting = asyncio.create_task(self._interrupt(run))
        elif not self._lanes.move_slot(slot, lane, beyond=True):
            crowded = "the query takes longer than estimated, and too many long queries are running already"
            self._stopping = asyncio.create_task(self._stop_at_limit(crowded))

    async def _interrupt(self, run: QueryRun) -> None:
        query_id = run.query_id
        while run.query_id == query_id and not self._spool.has_ended:
            await self._call_engine(partial(run.interrupt, query_id))

    def _begin_stop(self, reason: ServiceError) -> None:
        if self._stopping is None and not self._spool.has_ended:
            self._stopping = asyncio.create_task(self._stop(reason))

    async def _stop_at_limit(self, reached: str) -> None:
        await self._stop(await describe_limit(reached, self.request))

    async def _stop(self, reason: ServiceError) -> None:
        """Stop the work until it has ended; a waiting request only leaves its lane."""
        self._stop_reason = reason = self._stop_reason or reason
        while not self._spool.has_ended:
            if self.slot is None or self._lanes.leave_lane(self.slot):
                self.end_work(reason)
            elif self.run is None:
                await self._spool.wait_for_end(CANCEL_RETRY_SECONDS)
            else:
                await self._call_engine(partial(self.run.stop, reason))

    async def _call_engine(self, cancel: Callable[[], None]) -> None:
        """Let the engine cancel the query, and wait a moment for the end."""
        try:
            await self._loop.run_in_executor(None, cancel)
        except EngineError as error:
            _log.warning("query %s cannot be stopped yet: %s", self.request.query_id, error.detail)
        await self._spool.wait_for_end(CANCEL_RETRY_SECONDS)


async def describe_limit(reached: str, request: SyncRequest) -> QueryTimedOut:
    """Return the error for a query that ``reached`` a limit, after its job was started, if it gets one."""
    way_out = (
        f"{request.longer}. Or ask for less at once, such as a smaller region, or fewer columns to sort or group by"
    )
    if request.start_job is None:
        return QueryTimedOut(f"{reached}. {way_out}")
    try:
        url = await request.start_job()
    except ServiceError as error:
        return QueryTimedOut(f"{reached}. No job could be started for it: {error}. {way_out}")
    except Exception as error:
        _log.error("a query of /sync could not become a job", exc_info=error)
        return QueryTimedOut(f"{reached}. {way_out}")
    return QueryTimedOut(f"{reached}. It was restarted as a job, which continues after you disconnect: {url}", url)
