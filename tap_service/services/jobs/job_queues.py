"""Chooses the job that runs next: places for each work class, and turns between users.

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
from tap_service.models.work_class import Estimate, Place, WorkClass
from tap_service.service_errors import ServiceBusy, TooManyJobs
from tap_service.settings.client_limits import find_open_part
from tap_service.storage.jobs.job_store import IllegalTransition, JobStore, NoSuchJob


def count_places(heavy: int) -> dict[WorkClass, int]:
    """Return the places of each class for ``heavy`` engine cores; short jobs add little load."""
    return {
        WorkClass.SHORT: max(2, heavy),
        WorkClass.LONG: max(1, heavy - heavy // 2),
        WorkClass.VERY_LONG: max(1, heavy // 2),
    }


@dataclass(frozen=True, slots=True)
class QueueRules:
    """``places`` of each class; the most running jobs of one user, and the most waiting jobs of one user and of all.

    ``cores`` are those of the engine; ``reserve`` is the part of the waiting jobs that is kept for users, in percent.
    """

    places: Mapping[WorkClass, int]
    user_running: int
    user_waiting: int
    waiting: int
    cores: int = 1
    reserve: int = 0

    def count_executors(self, work_classes: Collection[WorkClass] = tuple(WorkClass)) -> int:
        """Return the processes or threads that jobs of these classes need.

        A short job that turns out long frees its place but keeps its thread: count the short places twice.
        """
        outgrown = self.places[WorkClass.SHORT] if WorkClass.SHORT in work_classes else 0
        return sum(self.places[work] for work in work_classes) + outgrown

    @classmethod
    def from_config(cls, config: Config) -> QueueRules:
        return cls(
            count_places(config.concurrent_jobs),
            config.user_running_jobs,
            config.user_waiting_jobs,
            config.waiting_jobs,
            config.concurrent_jobs,
            config.user_reserve,
        )


class JobQueue:
    """Safe for threads and processes."""

    def __init__(self, jobs: JobStore, rules: QueueRules) -> None:
        self._jobs = jobs
        self._rules = rules

    def put_job(self, job: Job, estimate: Estimate | None, *, is_new: bool = False) -> Job:
        """Queue a PENDING job, or create a new one as QUEUED, with its turn and quote.

        Raises TooManyJobs or ServiceBusy if too many jobs wait.
        """
        with self._jobs.lock_choice():
            (queued, executing), at = self._jobs.list_places(), now()
            place = replace(job, foreseen=estimate).place
            self._check_limits(place.user, job.owner is None, queued)
            work = place.work_class(at)
            waiting = [each for each in queued if each.work_class(at) is work]
            running = [each for each in executing if each.work_class(at) is work]
            quote = None
            if estimate is not None:
                before = sum(each.seconds for each in waiting) + sum(each.seconds / 2 for each in running)
                quote = job.end_after(at, before / self._rules.places[work] + estimate.seconds)
            turn = _next_turn(place.user, waiting, running)
            if is_new:
                return self._jobs.create_queued_job(job, estimate, turn, quote)
            return self._jobs.queue_job(job.job_id, estimate, turn, quote)

    def take_job(self, worker: str, work_classes: Collection[WorkClass] = tuple(WorkClass)) -> Job | None:
        """Start the next job of these classes and return it; None if none may start now."""
        with self._jobs.lock_choice():
            at = now()
            for place in self._find_startable(at):
                if place.work_class(at) not in work_classes:
                    continue
                try:
                    return self._jobs.start_job(place.job_id, worker, now())
                except (NoSuchJob, IllegalTransition):
                    continue  # aborted or destroyed just now
        return None

    def count_waiting(self) -> int:
        queued, _ = self._jobs.list_places()
        return len(queued)

    def startable_classes(self) -> list[WorkClass]:
        """Return the classes of the jobs that may start now, in starting order."""
        at = now()
        return [place.work_class(at) for place in self._find_startable(at)]

    def share_threads(self, job: Job) -> int:
        """Return the engine threads of a job that starts; 0 without limit. See ``share_threads``."""
        queued, executing = self._jobs.list_places()
        others = [each for each in (*queued, *executing) if each.job_id != job.job_id]
        return share_threads(job.place, others, self._rules, now())

    def _find_startable(self, at: datetime) -> list[Place]:
        return find_startable(*self._jobs.list_places(), self._rules, at)

    def _check_limits(self, user: str, is_anonymous: bool, queued: Sequence[Place]) -> None:
        mine = sum(place.user == user for place in queued)
        if mine >= self._rules.user_waiting:
            raise TooManyJobs(f"{mine} of your jobs wait already, the maximum: run this one later")
        if len(queued) >= self._rules.waiting:
            raise ServiceBusy(f"{len(queued)} jobs wait already, the maximum of this service: run it later")
        if is_anonymous and len(queued) >= find_open_part(self._rules.waiting, self._rules.reserve):
            raise ServiceBusy(
                f"{len(queued)} jobs are already waiting, and the remaining places are reserved for users: log in, "
                "or run it later"
            )


def find_startable(queued: Iterable[Place], executing: Iterable[Place], rules: QueueRules, at: datetime) -> list[Place]:
    """Return the jobs that may all start now, in starting order; those that are tried again later are left out."""
    executing = list(executing)
    running = Counter(place.work_class(at) for place in executing)
    of_user = Counter(place.user for place in executing)
    found = []
    for place in sorted(queued, key=lambda place: place.turn):  # the sort is stable: of equal turns, the oldest first
        if place.wait is not None and place.wait.retry is not None and place.wait.retry > at:
            continue
        work = place.work_class(at)
        if running[work] < rules.places[work] and of_user[place.user] < rules.user_running:
            running[work] += 1
            of_user[place.user] += 1
            found.append(place)
    return found


def share_threads(job: Place, others: Iterable[Place], rules: QueueRules, at: datetime) -> int:
    """Divide the engine's cores by the jobs that run during this one in the mean; 0 if it may have all of them.

    Another job of a tenth of its duration counts a tenth. More threads than cores make all jobs slower, and light
    queries wait for them.
    """
    beside = dict.fromkeys(WorkClass, 0.0)
    for other in others:
        beside[other.work_class(at)] += min(1.0, other.seconds / job.seconds) if job.seconds else 1.0
    own = job.work_class(at)
    running = 1 + sum(min(count, rules.places[work] - (work is own)) for work, count in beside.items())
    threads = max(1, round(rules.cores / running))
    return threads if threads < rules.cores else 0


def _next_turn(user: str, waiting: Iterable[Place], running: Sequence[Place]) -> int:
    """Return the turn of a new job of its class: after all jobs of its user, and not before running jobs."""
    after_running = max((place.turn for place in running), default=0)
    own_turns = [place.turn for place in (*waiting, *running) if place.user == user]
    return max(after_running, max(own_turns, default=-1) + 1)
