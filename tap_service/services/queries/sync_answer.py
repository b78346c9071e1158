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
from tap_service.models.engine_share import ENGINE_SHARES, Lane
from tap_service.models.query_report import QueryReport
from tap_service.models.timestamps import now
from tap_service.service_errors import ClientGone, QueryTimedOut, ServiceError
from tap_service.services.queries.query_execution import QueryExecution, log_status, name_engine_error
from tap_service.services.queries.query_lanes import LanePlace, QueryLanes
from tap_service.services.queries.result_spool import Spool
from tap_service.services.queries.tap_parameters import TapParameters
from tap_service.storage.engine.engine import EngineError

_log = logging.getLogger("skyhouse")

#: where a client of /sync sends queries that take longer than its time limit
LONGER_QUERIES = (
    "Longer queries belong in /async, with the same parameters; or let the service do so: with ON_TIMEOUT=job"
)

#: starts a job with the request's parameters and returns its URL; raises ServiceError
StartJob = Callable[[], Awaitable[str]]


@dataclass(frozen=True, slots=True)
class SyncRequest:
    """A request; ``client`` is its address, ``at`` an instant of time.monotonic.

    ``start_job`` is None if a query that takes too long does not become a job. ``release`` is called
    when its files are not read any more. ``longer`` says where longer queries belong.
    """

    parameters: TapParameters
    client: str
    owner: str | None
    at: float
    start_job: StartJob | None = None
    release: Callable[[], None] = lambda: None
    longer: str = LONGER_QUERIES
    query_id: str = field(default_factory=lambda: f"sync-{uuid.uuid4().hex}")
    since: datetime = field(default_factory=now)


class SyncAnswer:
    """A request at work: the engine fills the spool, the client reads it.

    Lanes call ``do_work`` and ``end_work``, all other methods belong to the event loop.

    Parameters
    ----------
    asked
        The request.
    spool
        Where the result goes.
    seconds
        How long the engine may work.
    lanes
        Where it works.
    prepare
        Prepares the query and chooses its lane, on a thread.
    record
        Records the end.
    """

    def __init__(
        self,
        asked: SyncRequest,
        spool: Spool,
        seconds: float,
        lanes: QueryLanes,
        prepare: Callable[[SyncRequest], tuple[QueryExecution, Lane]],
        record: Callable[[SyncAnswer], None],
    ) -> None:
        self.asked = asked
        self.format = asked.parameters.format
        #: None until the query is prepared
        self.execution: QueryExecution | None = None
        self.place: LanePlace | None = None
        self._spool = spool
        self._seconds = seconds
        self._lanes = lanes
        self._prepare = prepare
        self._record = record
        self._early_report = QueryReport()
        self._failure: Exception | None = None
        #: when the engine began, and the lane where the query is to begin again
        self._ran_at = 0.0
        self._next_lane: Lane | None = None
        self._stopped: ServiceError | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._stopping: asyncio.Task[None] | None = None
        self._restarting: asyncio.Task[None] | None = None
        self._closing: asyncio.Task[None] | None = None
        self._loop = asyncio.get_running_loop()
        self._is_closed = False

    # --- on any thread

    def stop_soon(self, reason: ServiceError) -> None:
        """Stop the query; its client gets the reason, after the rows that it has got if there are any."""
        self._loop.call_soon_threadsafe(self._begin_stop, reason)

    # --- on threads of the lanes

    def do_work(self, place: LanePlace) -> Lane | None:
        try:
            if self.execution is None:
                self.execution, lane = self._prepare(self.asked)
                if lane is not Lane.LIGHT or place.lane is Lane.FETCHING:
                    return lane
            if self._stopped is not None:
                raise self._stopped
            execution = self._run_query(self.execution)
            if isinstance(execution.failure, _Outgrown):
                return self._begin_again(execution)
        except Exception as error:
            self._note_failure(error)
        return None

    def _run_query(self, execution: QueryExecution) -> QueryExecution:
        """Run the query; if a server went away, once more from the start, unless the client has begun to read.

        Return the last execution.
        """
        self._ran_at = time.monotonic()
        execution.run(_OpenSink(self._spool))
        if not execution.has_lost_server or not self._spool.hold_back():
            return execution
        _log.warning("query %s begins again: %s", execution.query_id, execution.failure)
        self._spool.drop_held_bytes()
        self.execution = again = execution.make_again()
        self._next_lane = None
        again.run(_OpenSink(self._spool))
        return again

    def _begin_again(self, execution: QueryExecution) -> Lane:
        """Replace an execution that was stopped for another lane, before the client read anything; return the lane."""
        lane = self._next_lane or Lane.HEAVY
        self._spool.drop_held_bytes()
        self.execution = execution.make_again()
        self.execution.set_engine_share(ENGINE_SHARES[lane])
        self._next_lane = None
        return lane

    def end_work(self, refusal: ServiceError | None = None) -> None:
        if refusal is not None:
            self._note_failure(refusal)
        self._spool.end()

    def _note_failure(self, error: Exception) -> None:
        """Note why there is no run."""
        self._failure = error
        self.report.status = log_status(error)
        self.report.error = str(error)
        self.report.engine_errors += name_engine_error(error)

    # --- in the event loop

    @property
    def report(self) -> QueryReport:
        return self._early_report if self.execution is None else self.execution.report

    def start(self, client_key: str, lane: Lane) -> None:
        """Enter the lane. Raises TooManyQueries or ServiceBusy."""
        self.place = self._lanes.enter_lane(client_key, self.asked.owner, lane, self)
        self._watch_later(self._seconds)

    async def wait_briefly(self) -> bool:
        """Wait a moment for the end of a short query; return whether it has ended. Raises its error."""
        await self._spool.wait_for_bytes(math.inf, PATIENCE_SECONDS)
        if self._spool.has_ended:
            self.raise_failure()
        return self._spool.has_ended

    async def wait_for_first_bytes(self) -> None:
        """Wait for the first bytes. Raises the query's error if there are none.

        If the status is sent in an HTTP header (all formats but VOTable), wait a moment for the end of a short query.
        """
        await self._spool.wait_for_bytes(FIRST_BYTES if self.format.is_votable else math.inf, SETTLING_SECONDS)
        if not await self._spool.wait_readable() or self._spool.has_ended:
            self.raise_failure()

    def raise_failure(self) -> None:
        """Raise the query's error, unless the document is complete in spite of it."""
        if self.is_complete:
            return
        failure = self._failure or (self.execution and self.execution.failure) or self._stopped
        if failure is not None:
            raise failure

    @property
    def is_complete(self) -> bool:
        """Whether the document is complete, once all pieces have been read."""
        return self.execution is not None and self.execution.complete

    def take_whole(self) -> bytes | None:
        """Return the document of a query that has ended, if it is short; otherwise None."""
        return self._spool.take_whole(MAX_WHOLE_BYTES) if self.is_complete else None

    def read_pieces(self) -> AsyncIterator[bytes]:
        return self._spool.read_pieces()

    def close(self, reason: ServiceError | None = None) -> None:
        """Stop the query if it still runs, free the spool, and log the query. The client is done or has gone."""
        self._spool.close()
        if self._is_closed:
            return
        self._is_closed = True
        if self._timer is not None:
            self._timer.cancel()
        has_uploads = self.execution is not None and self.execution.uploads is not None
        if self._spool.has_ended and not has_uploads:
            self._record(self)
            self.asked.release()
        else:
            gone = ClientGone("the client closed the connection before the end")
            self._closing = asyncio.create_task(self._close_work(reason or gone))

    async def wait_closed(self) -> None:
        """Wait until ``close`` has finished, but not for a preparation: its readers of uploads may end later only."""
        if self._closing is None:
            return
        if self.execution is None and not self._spool.has_ended and self._stopped is not None:
            self._closing.cancel()
            self._note_failure(self._stopped)
            self._record(self)
            self.asked.release()
        else:
            await self._closing

    async def _close_work(self, reason: ServiceError) -> None:
        await self._stop(reason)
        if self.execution is not None:
            await asyncio.to_thread(self.execution.close)
        self._record(self)
        self.asked.release()

    def _watch_later(self, seconds: float) -> None:
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(min(WATCH_SECONDS, seconds), self._watch)

    def _watch(self) -> None:
        """Stop the query when the engine has worked on it for the limit of /sync; move a heavy one to its lane."""
        if self._spool.has_ended or self.place is None or self._stopping is not None:
            return
        execution = self.execution if self._next_lane is None else None  # that which begins again has the whole time
        rest = self._seconds - (execution.clock.seconds if execution is not None else 0.0)
        if rest <= 0:
            reached = f"the engine has worked for {self._seconds:g} seconds on this query, the limit of /sync"
            self._stopping = asyncio.create_task(self._stop_at_limit(reached))
            return
        self._watch_later(rest)
        if execution is not None and self.place.is_running and self.place.lane in (Lane.LIGHT, Lane.MEDIUM):
            if execution.report.bytes > MAX_LIGHT_BYTES:
                self._outgrow_lane(self.place, execution, Lane.BULK)
            elif self._ran_at and time.monotonic() - self._ran_at > LIGHT_SECONDS:
                self._outgrow_lane(self.place, execution, Lane.HEAVY)

    def _outgrow_lane(self, place: LanePlace, execution: QueryExecution, lane: Lane) -> None:
        """Let the query go on in another lane that has room for it; else let it wait there and begin again.

        One whose client reads already goes on beyond the places of that lane, but not any number of them. Nothing
        changes while nobody waits for the query's place.
        """
        _, waiting = self._lanes.count_requests(place.lane)
        if self._stopped is not None or self._lanes.move_place(place, lane) or not waiting:
            return
        if self._spool.hold_back():
            self._next_lane = lane
            self._restarting = asyncio.create_task(self._stop_to_begin_again(execution))
        elif not self._lanes.move_place(place, lane, beyond=True):
            crowded = "the query takes longer than estimated, and too many longer ones work already"
            self._stopping = asyncio.create_task(self._stop_at_limit(crowded))

    async def _stop_to_begin_again(self, execution: QueryExecution) -> None:
        outgrown = _Outgrown("the query takes longer than its lane allows")
        while self.execution is execution and not self._spool.has_ended:
            await self._stop_execution(execution, outgrown)

    def _begin_stop(self, reason: ServiceError) -> None:
        if self._stopping is None and not self._spool.has_ended:
            self._stopping = asyncio.create_task(self._stop(reason))

    async def _stop_at_limit(self, reached: str) -> None:
        await self._stop(await describe_limit(reached, self.asked))

    async def _stop(self, reason: ServiceError) -> None:
        """Stop the work until it has ended; a waiting request only leaves its lane."""
        self._stopped = self._stopped or reason
        while not self._spool.has_ended:
            if self.place is None or self._lanes.leave_lane(self.place):
                self.end_work(reason)
                return
            if self.execution is None:
                await self._spool.wait_for_end(CANCEL_RETRY_SECONDS)
            else:
                await self._stop_execution(self.execution, self._stopped)

    async def _stop_execution(self, execution: QueryExecution, reason: ServiceError) -> None:
        """Stop an execution, and wait a moment for its end."""
        try:
            await asyncio.get_running_loop().run_in_executor(None, execution.stop, reason)
        except EngineError as error:
            _log.warning("query %s cannot be stopped yet: %s", execution.query_id, error.detail)
        await self._spool.wait_for_end(CANCEL_RETRY_SECONDS)


class _OpenSink:
    """The spool for a run. It ends when the run's place is free, so that the client's next request finds it."""

    def __init__(self, spool: Spool) -> None:
        self.write = spool.write

    def end(self) -> None:
        pass


class _Outgrown(ServiceError):
    """The reason to stop a query that begins again in another lane; nobody reads it."""


async def describe_limit(reached: str, asked: SyncRequest) -> QueryTimedOut:
    """Return the error for a query that ``reached`` a limit, after its job was started, if it gets one."""
    way_out = f"{asked.longer}. Or ask for less at once, such as a smaller region, or fewer columns to sort or group by"
    start_job = asked.start_job
    if start_job is None:
        return QueryTimedOut(f"{reached}. {way_out}")
    try:
        url = await start_job()
    except ServiceError as error:
        return QueryTimedOut(f"{reached}. No job could be started for it: {error}. {way_out}")
    except Exception as error:
        _log.error("a query of /sync could not become a job", exc_info=error)
        return QueryTimedOut(f"{reached}. {way_out}")
    return QueryTimedOut(f"{reached}. It starts again as a job, which goes on without you: {url}", url)
