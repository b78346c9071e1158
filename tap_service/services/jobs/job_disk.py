"""The disk space of jobs (results, parts and uploaded files): limits of each client and of all clients together.

The job store keeps the sums with its records, so a check reads two numbers. A running job counts by the progress that
it reports every half second, and is checked whenever it has written _CHECK_BYTES.
"""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from tap_service.config import Config
from tap_service.models.timestamps import format_instant, now
from tap_service.models.uws_job import Job, JobError
from tap_service.service_errors import QuotaExceeded
from tap_service.storage.jobs.job_store import IllegalTransition, JobStoreUnavailable, NoSuchJob
from tap_service.storage.open_storage import JobStores
from tap_service.storage.results.result_store import ResultStore, ResultWriter

_log = logging.getLogger("skyhouse")

#: the bytes that a job writes between two checks
_CHECK_BYTES = 8 << 20
#: the number of results that are deleted before the sum is read again
_ARCHIVED_AT_ONCE = 20


class JobDisk:
    """The disk space of jobs. Thread-safe.

    Methods raise JobStoreUnavailable, and QuotaExceeded, whose message says how to free space.
    """

    def __init__(self, config: Config, stores: JobStores) -> None:
        self._config = config
        self._jobs = stores.jobs
        self._results = stores.results
        self._lock = threading.Lock()
        self._reserved: Counter[str] = Counter()

    @contextmanager
    def reserve(self, job: Job, n_bytes: int) -> Iterator[None]:
        """Reserve disk space during the context, in which the record of the job is changed to count it.

        Parameters
        ----------
        job : Job
            The job, whose user's limit counts.
        n_bytes : int
            The bytes to reserve. For 0, at least one byte must be free.

        Raises
        ------
        QuotaExceeded
            The jobs of the client, or all jobs, would take too much space. Before that, the oldest results of anonymous
            clients are deleted.
        """
        user = job.queued_job.user
        with self._lock:
            added = max(n_bytes, 1)
            self._check(job, self._jobs.count_stored(user) + self._reserved[user] + added, added)
            self._reserved[user] += n_bytes
        try:
            yield
        finally:
            with self._lock:
                self._reserved[user] -= n_bytes
                if not self._reserved[user]:
                    del self._reserved[user]

    def check_growth(self, job_id: str, written: int) -> None:
        """Check a running job that has ``written`` bytes of an incomplete result."""
        try:
            job = self._jobs.get_job(job_id)
            own = job.kept_bytes + written
            self._check(job, self._jobs.count_stored(job.queued_job.user) - job.stored + own, own - job.stored)
        except NoSuchJob:
            return  # the monitor stops it
        except JobStoreUnavailable as error:
            _log.warning("the disk that jobs take cannot be checked now: %s", error)

    def _check(self, job: Job, of_client: int, added: int) -> None:
        """Raise QuotaExceeded if ``of_client`` bytes are too many for the client, or ``added`` bytes for all clients.

        Delete the oldest results of anonymous clients if that makes room, and for a user also the files of anonymous
        jobs that have not started.
        """
        limit = self._config.user_job_disk if job.owner is not None else self._config.anonymous_job_disk
        limit = limit if job.disk_limit is None else job.disk_limit
        if limit and of_client > limit:
            whose = "your jobs" if job.owner is not None else "the jobs of your address"
            raise QuotaExceeded(
                f"the results and files of {whose} would take {_format_size(of_client)}, and may take "
                f"{_format_size(limit)}: delete jobs that you no longer need, or ask for fewer rows or columns, or for "
                "another format, such as Parquet"
            )
        limit = self._config.job_disk
        is_too_much = self._jobs.count_stored() + added > limit
        if limit and is_too_much and (added > limit or not self._make_room(limit - added, job.owner)):
            raise QuotaExceeded(
                f"the results and files of all jobs take the {_format_size(limit)} that the service has for them: ask "
                "for less, or again when others have deleted theirs. Results of /sync are not kept"
            )

    def _make_room(self, wanted: int, owner: str | None) -> bool:
        """Delete the results of anonymous clients, the oldest first, until all jobs take at most ``wanted`` bytes.

        For a user, also abort idle jobs of anonymous clients: otherwise anonymous clients could lock out all users
        permanently, with files of jobs that they never run.
        """
        ways = [(self._jobs.list_archivable, self._archive_job)]
        ways += [(self._jobs.list_idle, self._abort_job)] if owner is not None else []
        for list_some, free_bytes in ways:
            while found := list_some(_ARCHIVED_AT_ONCE):
                for job_id in found:
                    if self._jobs.count_stored() <= wanted:
                        return True
                    free_bytes(job_id)
        return self._jobs.count_stored() <= wanted

    def _abort_job(self, job_id: str) -> None:
        why = (
            "the job was aborted because the disk space of its files was needed: create it again later with PHASE=RUN, "
            "or log in"
        )
        try:
            job = self._jobs.abort_job(job_id, now(), JobError(why, transient=True))
        except (NoSuchJob, IllegalTransition):
            return  # it has ended meanwhile
        self._delete_results(job, [file.key for file in job.files])

    def _archive_job(self, job_id: str) -> None:
        at = format_instant(now())
        why = f"deleted at {at} to make room for newer results: create the job again, or log in to keep its result"
        try:
            job = self._jobs.archive_job(job_id, {"resultDeleted": why})
        except (NoSuchJob, IllegalTransition):
            return  # deleted meanwhile
        self._delete_results(job, (job.result_key, job.preview_key))

    def _delete_results(self, job: Job, keys: Iterable[str]) -> None:
        try:
            for key in keys:
                self._results.delete_result(key)
        except OSError as error:
            _log.warning("the files of job %s cannot be deleted yet: %s", job.job_id, error)  # the sweep does it


class MeteredResults:
    """A result store whose writers stop a job that takes too much disk. Keys begin with the id of the job."""

    def __init__(self, results: ResultStore, disk: JobDisk) -> None:
        self._results = results
        self._disk = disk
        self.read_result = results.read_result
        self.copy_result = results.copy_result
        self.delete_result = results.delete_result
        self.list_keys = results.list_keys
        self.check_writable = results.check_writable

    def create_result(self, key: str, *, is_durable: bool = True) -> ResultWriter:
        writer = self._results.create_result(key, is_durable=is_durable)
        return _MeteredWriter(writer, self._disk, key.rpartition("-")[0])


class _MeteredWriter:
    def __init__(self, writer: ResultWriter, disk: JobDisk, job_id: str) -> None:
        self._writer = writer
        self._disk = disk
        self._job_id = job_id
        self._written = 0
        self._checked = 0
        self.commit = writer.commit
        self.discard = writer.discard

    def write(self, data: bytes, *, anyway: bool = False) -> None:
        """Raise QuotaExceeded, unless ``anyway``."""
        self._written += len(data)
        if self._written - self._checked >= _CHECK_BYTES and not anyway:
            self._checked = self._written
            self._disk.check_growth(self._job_id, self._written)
        self._writer.write(data)


def _format_size(n_bytes: int) -> str:
    for unit, size in (("GiB", 1 << 30), ("MiB", 1 << 20)):
        if n_bytes >= size:
            return f"{n_bytes / size:.3g} {unit}"
    return f"{n_bytes} bytes"
