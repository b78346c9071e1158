"""Chooses the job that runs next: slots of each work class, and turns between users.

The job store holds the queue. A job gets its turn number when it is queued: one more than the last job of the same
user, but no less than the running jobs. A hundred jobs of one user then delay another user's job by at most one job,
and each user's jobs keep their order (start-time fair queueing: Goyal, Vin & Cheng 1996).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from tap_service.config import Config
from tap_service.models.timestamps import now
from tap_service.models.uws_job import Job
from tap_service.models.work_class import Estimate, QueuedJob, WorkClass
from tap_service.service_errors import ServiceBusy, TooManyJobs
from tap_service.settings.client_limits import find_open_part
from tap_service.storage.jobs.job_store import IllegalTransition, JobStore, NoSuchJob


def count_slots(heavy: int) -> dict[WorkClass, int]:
    """Return the number of slots of each class for ``heavy`` engine cores; short jobs add little load."""
    return {
        WorkClass.SHORT: max(2, heavy),
        WorkClass.LONG: max(1, heavy - heavy // 2),
        WorkClass.VERY_LONG: max(1, heavy // 2),
    }


@dataclass(frozen=True, slots=True)
class QueueRules:
    """The limits of the queue.

    Attributes
    ----------
    slots : Mapping[WorkClass, int]
        The maximum number of running jobs of each class.
    user_running, user_waiting : int
        The maximum number of running and of waiting jobs of one user.
    waiting : int
        The maximum number of waiting jobs of all users.
    cores : int
        The engine's cores.
    reserve : int
        The part of ``waiting`` that is kept for users, in percent.
    """

    slots: Mapping[WorkClass, int]
    user_running: int
    user_waiting: int
    waiting: int
    cores: int = 1
    reserve: int = 0

    def count_executors(self, work_classes: Collection[WorkClass] = tuple(WorkClass)) -> int:
        """Return the number of processes or threads that jobs need.

        Parameters
        ----------
        work_classes : Collection[WorkClass]
            The classes of the jobs.

        Returns
        -------
        int
            The slots of these classes. Short slots count twice: a short job that becomes long frees its slot, but keeps
            its thread.
        """
        outgrown = self.slots[WorkClass.SHORT] if WorkClass.SHORT in work_classes else 0
        return sum(self.slots[work] for work in work_classes) + outgrown

    @classmethod
    def from_config(cls, config: Config) -> QueueRules:
        """Return the limits in the settings."""
        return cls(
            count_slots(config.concurrent_jobs),
            config.user_running_jobs,
            config.user_waiting_jobs,
            config.waiting_jobs,
            config.concurrent_jobs,
            config.user_reserve,
        )


class JobQueue:
    """The queue of jobs. Safe for threads and processes. Methods raise JobStoreUnavailable."""

    def __init__(self, jobs: JobStore, rules: QueueRules) -> None:
        self._jobs = jobs
        self._rules = rules

    def put_job(self, job: Job, estimate: Estimate | None, *, is_new: bool = False) -> Job:
        """Queue a job, with its turn and its quote.

        Parameters
        ----------
        job : Job
            A PENDING job, or a new job.
        estimate : Estimate | None
            The estimate of its query; None if it is unknown, which counts as SHORT.
        is_new : bool
            Whether the job is not yet in the store, and is created as QUEUED.

        Returns
        -------
        Job
            The QUEUED job.

        Raises
        ------
        TooManyJobs
            The maximum number of jobs of this user wait.
        ServiceBusy
            The maximum number of jobs of all users wait.
        IllegalTransition
            The job is not PENDING.
        """
        with self._jobs.lock_choice():
            (queued, executing), at = self._jobs.list_queued_jobs(), now()
            entry = replace(job, foreseen=estimate).queued_job
            self._check_limits(entry.user, job.owner is None, queued)
            work = entry.work_class(at)
            waiting = [each for each in queued if each.work_class(at) is work]
            running = [each for each in executing if each.work_class(at) is work]
            quote = None
            if estimate is not None:
                before = sum(each.seconds for each in waiting) + sum(each.seconds / 2 for each in running)
                quote = job.end_after(at, before / self._rules.slots[work] + estimate.seconds)
            turn = _next_turn(entry.user, waiting, running)
            if is_new:
                return self._jobs.create_queued_job(job, estimate, turn, quote)
            return self._jobs.queue_job(job.job_id, estimate, turn, quote)

    def take_job(self, worker: str, work_classes: Collection[WorkClass] = tuple(WorkClass)) -> Job | None:
        """Start the next job.

        Parameters
        ----------
        worker : str
            The name of the worker, for the record of the job.
        work_classes : Collection[WorkClass]
            The classes of jobs that the worker executes.

        Returns
        -------
        Job | None
            The EXECUTING job; None if no job may start now.
        """
        with self._jobs.lock_choice():
            at = now()
            for job in self._find_startable(at):
                if job.work_class(at) not in work_classes:
                    continue
                try:
                    return self._jobs.start_job(job.job_id, worker, now())
                except (NoSuchJob, IllegalTransition):
                    continue  # aborted or destroyed just now
        return None

    def count_waiting(self) -> int:
        queued, _ = self._jobs.list_queued_jobs()
        return len(queued)

    def startable_classes(self) -> list[WorkClass]:
        """Return the classes of the jobs that may start now, in starting order."""
        at = now()
        return [job.work_class(at) for job in self._find_startable(at)]

    def share_threads(self, job: Job) -> int:
        """Return the engine threads of a job that starts; 0 without limit. See ``share_threads``."""
        queued, executing = self._jobs.list_queued_jobs()
        others = [each for each in (*queued, *executing) if each.job_id != job.job_id]
        return share_threads(job.queued_job, others, self._rules, now())

    def _find_startable(self, at: datetime) -> list[QueuedJob]:
        return find_startable(*self._jobs.list_queued_jobs(), self._rules, at)

    def _check_limits(self, user: str, is_anonymous: bool, queued: Sequence[QueuedJob]) -> None:
        mine = sum(job.user == user for job in queued)
        if mine >= self._rules.user_waiting:
            raise TooManyJobs(f"{mine} of your jobs wait already, the maximum: run this one later")
        if len(queued) >= self._rules.waiting:
            raise ServiceBusy(f"{len(queued)} jobs wait already, the maximum of this service: run it later")
        if is_anonymous and len(queued) >= find_open_part(self._rules.waiting, self._rules.reserve):
            raise ServiceBusy(
                f"{len(queued)} jobs are already waiting, and the rest of the queue is reserved for users: log in, "
                "or run it later"
            )


def find_startable(
    queued: Iterable[QueuedJob], executing: Iterable[QueuedJob], rules: QueueRules, at: datetime
) -> list[QueuedJob]:
    """Return the jobs that may all start now, in starting order, without jobs that wait for their next attempt."""
    executing = list(executing)
    running = Counter(job.work_class(at) for job in executing)
    of_user = Counter(job.user for job in executing)
    found = []
    for job in sorted(queued, key=lambda each: each.turn):  # the sort is stable: of equal turns, the oldest first
        if job.wait is not None and job.wait.retry is not None and job.wait.retry > at:
            continue
        work = job.work_class(at)
        if running[work] < rules.slots[work] and of_user[job.user] < rules.user_running:
            running[work] += 1
            of_user[job.user] += 1
            found.append(job)
    return found


def share_threads(job: QueuedJob, others: Iterable[QueuedJob], rules: QueueRules, at: datetime) -> int:
    """Divide the engine's cores by the mean number of jobs that run during this job; return 0 for all cores.

    A job with a tenth of the duration counts as 0.1. More threads than cores make all jobs slower, and light
    queries wait for them.
    """
    others_at_work = dict.fromkeys(WorkClass, 0.0)
    for other in others:
        others_at_work[other.work_class(at)] += min(1.0, other.seconds / job.seconds) if job.seconds else 1.0
    own = job.work_class(at)
    running = 1 + sum(min(count, rules.slots[work] - (work is own)) for work, count in others_at_work.items())
    threads = max(1, round(rules.cores / running))
    return threads if threads < rules.cores else 0


def _next_turn(user: str, waiting: Iterable[QueuedJob], running: Sequence[QueuedJob]) -> int:
    """Return the turn of a new job of its class: after all jobs of its user, and not before running jobs."""
    after_running = max((job.turn for job in running), default=0)
    own_turns = [job.turn for job in (*waiting, *running) if job.user == user]
    return max(after_running, max(own_turns, default=-1) + 1)
