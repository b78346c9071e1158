"""Runs the watches: finds new additions, starts a job for each, follows the job, and sends messages about its rows.

Each service process does a round every WATCH_ROUND_SECONDS. The entire state is in the stores. A step is recorded
before it is done, so after a process was killed, another process or the next start continues.

    addition recorded -> WAITING -> RUNNING with the id of a job -> job created -> job COMPLETED: rows are in the table,
      once -> DONE, messages PENDING -> attempt recorded -> message sent -> DELIVERED

A round that finds a RUNNING run without a job creates the job with the recorded id. The token of the run prevents its
rows from being added twice, even if its job is executed several times.
"""

from __future__ import annotations

import logging
import secrets
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import partial
from operator import itemgetter

from clickhouse_schema.engine_tables import addition_record
from clickhouse_schema.engine_tables.addition_record import Addition
from tap_service.config import Config
from tap_service.constants import WATCH_ROUND_SECONDS
from tap_service.models.timestamps import add_seconds, now
from tap_service.models.uws_job import ExecutionPhase, Job
from tap_service.models.watch import (
    KEPT_RUNS,
    Delivery,
    DeliveryState,
    JobWatch,
    RunState,
    Watch,
    WatchRun,
    end_attempt,
    note_attempt,
)
from tap_service.service_errors import ServiceBusy, ServiceError
from tap_service.services.bounded_thread_pool import BoundedThreadPool
from tap_service.services.jobs.job_service import JobService
from tap_service.services.periodic_thread import PeriodicThread, call_and_log
from tap_service.services.watches.addition_numbers import continue_numbers
from tap_service.services.watches.addition_sweep import AdditionSweep
from tap_service.services.watches.result_samples import read_sample
from tap_service.services.watches.watch_messages import ATTEMPT_SECONDS, NotDelivered, WatchMessages
from tap_service.storage.accounts import Accounts
from tap_service.storage.engine.engine import Engine
from tap_service.storage.jobs.job_store import NoSuchJob
from tap_service.storage.open_storage import JobStores
from tap_service.storage.watch_store import NoSuchWatch, WatchStore

_log = logging.getLogger("skyhouse")

_FAILURE = "watches cannot run now"

#: seconds after which a missing job is created whose id was recorded
_CREATION_SECONDS = 30.0
#: seconds after which a job that could not be created, or had a transient error, is tried again
_RETRY_SECONDS = 30.0
#: maximum number of jobs of a run with transient errors
_MAX_ATTEMPTS = 5
#: maximum number of messages that are being sent, and that wait; time limit of an attempt with its wait, in seconds
_SENDERS, _MAX_WAITING, _ATTEMPT_PERIOD = 4, 4, 3 * ATTEMPT_SECONDS


class _Superseded(Exception):
    """Another process has done this step."""


class WatchRounds:
    """The thread of a service process that runs watches.

    Parameters
    ----------
    config : Config
        The settings.
    engine : Engine
        The engine with the record of additions.
    stores : JobStores
        The jobs.
    watches : WatchStore
        The watches.
    jobs : JobService
        Creates jobs.
    messages : WatchMessages
        Sends messages.
    accounts : Accounts or None
        The users, if there are any.
    """

    def __init__(
        self,
        config: Config,
        engine: Engine,
        stores: JobStores,
        watches: WatchStore,
        jobs: JobService,
        messages: WatchMessages,
        accounts: Accounts | None,
    ) -> None:
        self._engine = engine
        self._stores = stores
        self._watches = watches
        self._jobs = jobs
        self._messages = messages
        self._accounts = accounts
        self._sending: set[str] = set()  # owners of messages in the pool
        self._pool = BoundedThreadPool("watch-messages", _SENDERS, _MAX_WAITING)
        self._thread = PeriodicThread("watches", WATCH_ROUND_SECONDS, self.run_round, _FAILURE)
        self.sweep = AdditionSweep(config, engine, watches)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def close(self) -> None:
        """End the thread after a running round."""
        self._thread.close()
        self._pool.close()

    def run_round(self) -> None:
        """Do all steps of all watches that are possible now. Raises EngineError, WatchStoreUnavailable."""
        watches = self._list_watches()
        additions: dict[str, list[Addition]] = defaultdict(list)
        if watches:
            continue_numbers(self._engine, watches)
            self._mark_tables(watches)
            for addition in addition_record.read_kept_additions(self._engine):
                additions[addition.table_name].append(addition)
        for watch in watches:
            advance = partial(self._advance_watch, watch, additions[watch.table])
            call_and_log(advance, f"the watch {watch.name} of {watch.owner!r} cannot run now")
        self._send_due_messages()
        self.sweep.sweep_when_due()

    def _list_watches(self) -> list[Watch]:
        """Return the watches of known users. Other watches wait, because the file of accounts may be restored later."""
        accounts = self._accounts
        return [watch for watch in self._watches.list_watches() if accounts is None or accounts.is_known(watch.owner)]

    def _mark_tables(self, watches: Sequence[Watch]) -> None:
        """Mark watched tables that are not marked, because a process was killed while it created a watch."""
        for key in {watch.table_key for watch in watches} - addition_record.read_watched(self._engine):
            addition_record.mark_watched(self._engine, *key, is_watched=True)

    # --- the steps of a watch

    def _advance_watch(self, watch: Watch, additions: Sequence[Addition]) -> None:
        with suppress(NoSuchWatch, _Superseded):
            kept = [each for each in additions if each.number > watch.since]
            if any(watch.find_run(each.addition_id) is None for each in kept):
                watch = self._watches.change_watch(watch.watch_id, partial(_add_runs, kept=kept))
            for run in watch.runs:
                if run.state is RunState.RUNNING:
                    watch = self._follow_run(watch, run)
            if not watch.is_paused and not any(run.state is RunState.RUNNING for run in watch.runs):
                self._start_next(watch)

    def _start_next(self, watch: Watch) -> None:
        """Start the oldest waiting run; additions are processed in their order."""
        at = now()
        run = next((run for run in watch.runs if run.state is RunState.WAITING), None)
        if run is None or run.due > at:
            return
        job_id = secrets.token_hex(16)

        def start(run: WatchRun) -> WatchRun:
            if run.state is not RunState.WAITING:
                raise _Superseded
            return replace(run, state=RunState.RUNNING, job_id=job_id, since=at, attempts=run.attempts + 1)

        watch = self._change_run(watch, run, start)
        self._create_job(watch, run, job_id)

    def _create_job(self, watch: Watch, run: WatchRun, job_id: str) -> Watch:
        try:
            token = JobWatch(watch.watch_id, run.addition_id, run.number, watch.result_table)
            self._jobs.create_watch_job(job_id, watch.owner, watch.name, watch.query, token)
        except ServiceError as error:
            at, reason = now(), str(error)

            def wait(run: WatchRun) -> WatchRun:
                waiting = _wait_again(run, at, reason)
                return replace(waiting, attempts=waiting.attempts - 1)  # there was no job

            return self._change_run(watch, run, wait)
        return watch

    def _follow_run(self, watch: Watch, run: WatchRun) -> Watch:
        try:
            job = self._stores.jobs.get_job(run.job_id)
        except NoSuchJob:  # the process was killed before it created the job, or the user has destroyed the job
            if add_seconds(run.since, _CREATION_SECONDS) <= now():
                return self._create_job(watch, run, run.job_id)
            return watch
        if job.phase is ExecutionPhase.COMPLETED:
            return self._complete_run(watch, run, job)
        if job.phase in (ExecutionPhase.ERROR, ExecutionPhase.ABORTED):
            return self._fail_run(watch, run, job)
        return watch

    def _complete_run(self, watch: Watch, run: WatchRun, job: Job) -> Watch:
        at, rows = now(), int(job.info.get("rowsWritten", 0))
        targets = self._messages.list_targets(watch) if rows else ()
        sample = read_sample(self._jobs, job) if "webhook" in targets else ""
        deliveries = tuple(Delivery(target, at) for target in targets)

        def complete(watch: Watch) -> Watch:
            _require_job(watch, run)
            done = watch.change_run(
                run.addition_id,
                lambda run: replace(
                    run, state=RunState.DONE, since=at, rows=rows, error="", sample=sample, deliveries=deliveries
                ),
            )
            return replace(done, rows=done.rows + rows, runs_done=done.runs_done + 1, last_run=at, last_error="")

        return self._watches.change_watch(watch.watch_id, complete)

    def _fail_run(self, watch: Watch, run: WatchRun, job: Job) -> Watch:
        at = now()
        reason = job.error.message if job.error else f"its job was {job.phase}"
        if job.error and job.error.transient and run.attempts < _MAX_ATTEMPTS:
            return self._change_run(watch, run, partial(_wait_again, at=at, reason=reason))

        def fail(watch: Watch) -> Watch:
            _require_job(watch, run)
            failed = watch.change_run(
                run.addition_id, lambda run: replace(run, state=RunState.FAILED, since=at, error=reason)
            )
            return replace(failed, last_run=at, last_error=reason)

        return self._watches.change_watch(watch.watch_id, fail)

    def _change_run(self, watch: Watch, run: WatchRun, change: Callable[[WatchRun], WatchRun]) -> Watch:
        return self._watches.change_watch(watch.watch_id, lambda watch: watch.change_run(run.addition_id, change))

    # --- messages

    def _send_due_messages(self) -> None:
        """Send the messages that have waited longest, one per owner, so that slow receivers delay no other owner."""
        due = [
            (delivery.due, watch, run, delivery.target)
            for watch in self._list_watches()
            for run in watch.runs
            for delivery in run.deliveries
            if delivery.state is DeliveryState.PENDING and delivery.due <= now()
        ]
        for _, watch, run, target in sorted(due, key=itemgetter(0)):
            if self._pool.n_waiting:  # other messages wait for the next round
                return
            if watch.owner not in self._sending:
                start = partial(self._start_attempt, watch, run, target)
                call_and_log(start, f"a message about the watch {watch.name} of {watch.owner!r} cannot be sent now")

    def _start_attempt(self, watch: Watch, run: WatchRun, target: str) -> None:
        at = now()

        def note(delivery: Delivery) -> Delivery:
            if delivery.state is not DeliveryState.PENDING or delivery.due > at:
                raise _Superseded
            return note_attempt(delivery, at, _ATTEMPT_PERIOD)

        with suppress(NoSuchWatch, _Superseded, ServiceBusy):
            watch = self._change_run(watch, run, partial(_change_delivery, target=target, change=note))
            sending = self._pool.submit(lambda: call_and_log(partial(self._send, watch, run, target), _FAILURE))
            self._sending.add(watch.owner)
            sending.add_done_callback(lambda _: self._sending.discard(watch.owner))

    def _send(self, watch: Watch, run: WatchRun, target: str) -> None:
        error, is_final = "", False
        try:
            self._messages.send(watch, run, target)
        except NotDelivered as failure:
            error, is_final = str(failure), failure.is_final
        except Exception:
            _log.exception("the message about the watch %s of %r cannot be written", watch.name, watch.owner)
            error = "the message cannot be written; the log has the reason for the operator"
        end = partial(end_attempt, at=now(), error=error, is_final=is_final)
        with suppress(NoSuchWatch):
            self._change_run(watch, run, partial(_change_delivery, target=target, change=end))


def _add_runs(watch: Watch, kept: Sequence[Addition]) -> Watch:
    """Return the watch with a run for each addition, without old runs whose additions are no longer kept.

    ``kept`` contains all kept additions since the watch was created. A kept addition without a run would be considered
    new.
    """
    at = now()
    new = (
        WatchRun(each.addition_id, each.number, each.finished, each.rows, due=at, since=at)
        for each in kept
        if not watch.find_run(each.addition_id)
    )
    kept_ids = {each.addition_id for each in kept}
    runs = sorted((*watch.runs, *new), key=lambda run: run.number)
    settled = [run for run in runs if run.is_settled and run.addition_id not in kept_ids]
    forgotten = {run.addition_id for run in settled[:-KEPT_RUNS]}
    return replace(watch, runs=tuple(run for run in runs if run.addition_id not in forgotten))


def _wait_again(run: WatchRun, at: datetime, reason: str) -> WatchRun:
    if run.state is not RunState.RUNNING:
        raise _Superseded
    return replace(run, state=RunState.WAITING, since=at, due=add_seconds(at, _RETRY_SECONDS), error=reason)


def _require_job(watch: Watch, run: WatchRun) -> None:
    """Raise _Superseded unless the run still has the same job."""
    present = watch.find_run(run.addition_id)
    if present is None or (present.state, present.job_id) != (RunState.RUNNING, run.job_id):
        raise _Superseded


def _change_delivery(run: WatchRun, target: str, change: Callable[[Delivery], Delivery]) -> WatchRun:
    """Return the run with one of its deliveries changed, and without a sample that no delivery needs any more."""
    deliveries = tuple(change(each) if each.target == target else each for each in run.deliveries)
    changed = replace(run, deliveries=deliveries)
    needs_sample = any(each.target == "webhook" and each.state is not DeliveryState.DELIVERED for each in deliveries)
    return changed if needs_sample else replace(changed, sample="")
