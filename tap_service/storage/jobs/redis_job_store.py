"""The job store of a cluster: records and indexes in Redis, which writes each change to its append-only file.

Keys with the prefix ``skyhouse:``

    job:<id>                  the record: its creation number, a random token of this version, and JSON
    list:<phase>              the jobs of a phase, and ``list:<phase>:<owner>`` the jobs of one owner, as sorted sets
                              whose members start with the creation time: a page of a list is one range, without records
    places:<phase>            the input of the choice of the next job, for QUEUED and EXECUTING; sorted like the lists
    rates                     measured rates of the engine, by kind of work
    pending:<user>            ids of PENDING jobs
    stored                    bytes on disk of the jobs of each user, and of all jobs under the name ''
    archivable                ids of COMPLETED jobs of anonymous clients, by creation time
    idle                      ids of PENDING and QUEUED jobs of anonymous clients that have files, by creation time
    alike:<fingerprint>       ids of COMPLETED jobs
    destruction, heartbeat    ids by instant; heartbeat only of EXECUTING jobs
    sequence                  the creation number of the last job
    phases                    a channel: the ids of jobs whose phase has changed

A change is a compare-and-set: a script replaces the record and its index entries if the record is still the one from
which the change started. The script touches several keys, so Redis Cluster is not supported; replicas are. The stores
on a ``RecordStore`` watch an entire table instead. For jobs that is too slow: with eight workers that report at once,
each change takes five attempts (950 instead of 2,100 changes a second).
"""

from __future__ import annotations

import heapq
import json
import logging
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from typing import cast

import redis
from pydantic import TypeAdapter

from tap_service.models.timestamps import instant_to_milliseconds, milliseconds_to_instant
from tap_service.models.uws_job import ExecutionPhase, Job, JobFilter, JobReference
from tap_service.models.work_class import QueuedJob
from tap_service.storage.jobs.job_store import EXECUTING, PENDING, QUEUED, JobStore, JobStoreUnavailable, NoSuchJob
from tap_service.storage.jobs.redis_subscription import ChannelWatch
from tap_service.storage.redis_connection import open_redis

_log = logging.getLogger("skyhouse")

_PREFIX = "skyhouse:"
CHANNEL = _PREFIX + "phases"
_STORED = _PREFIX + "stored"

#: how long the lock of a dead process lasts
_CHOOSING_SECONDS = 5
_PAGE = 1000
#: digits of a creation number
_DIGITS = 12

#: KEYS: the record. ARGV: its expected and its new text ('' = absent), then the index changes, four arguments each.
#: Returns the previous text. After a lost reply the driver sends the script again; the token in the text shows that
#: the change was made.
_CHANGE = """
local now = redis.call('GET', KEYS[1]) or ''
if now ~= ARGV[1] then return now end
if ARGV[2] == '' then redis.call('DEL', KEYS[1]) else redis.call('SET', KEYS[1], ARGV[2]) end
for i = 3, #ARGV, 4 do
    if ARGV[i] == 'ZREM' or ARGV[i] == 'PUBLISH' then redis.call(ARGV[i], ARGV[i + 1], ARGV[i + 3])
    else redis.call(ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3]) end
end
return now
"""

_RECORD: TypeAdapter[Job] = TypeAdapter(Job)
_QUEUED_JOB: TypeAdapter[QueuedJob] = TypeAdapter(QueuedJob)


class RedisJobStore(JobStore):
    """Jobs in the Redis at ``url``, such as ``redis://host:6379/0``, which need not answer yet."""

    def __init__(self, url: str) -> None:
        self._redis = open_redis(url)
        self._script = self._redis.register_script(_CHANGE)
        self._watch = ChannelWatch(self._redis, CHANNEL)
        self._closed = False

    def create_job(self, job: Job) -> None:
        with self._translate_errors():
            number = self._redis.incr(_PREFIX + "sequence")
        self._replace_record(job.job_id, None, _Record.from_job(f"{number:0{_DIGITS}d}", job))

    def get_job(self, job_id: str) -> Job:
        return self._get_record(job_id).job

    def get_jobs(self, job_ids: Sequence[str]) -> list[Job]:
        with self._translate_errors():
            texts = self._redis.mget([_record_key(job_id) for job_id in job_ids]) if job_ids else []
        return [_Record.from_text(text).job for text in cast(list[str | None], texts) if text is not None]

    def delete_job(self, job_id: str) -> Job:
        record = self._get_record(job_id)
        while (found := self._replace_record(job_id, record, None)) != record.text:
            record = _require_record(job_id, found)
        return record.job

    def _change_job(self, job_id: str, change: Callable[[Job], Job]) -> Job:
        record = self._get_record(job_id)
        while True:
            changed = _Record.from_job(record.number, change(record.job))
            found = self._replace_record(job_id, record, changed)
            if found in (record.text, changed.text):
                return changed.job
            record = _require_record(job_id, found)

    def list_references(self, wanted: JobFilter) -> Iterator[JobReference]:
        phases = wanted.phases or frozenset(ExecutionPhase) - {ExecutionPhase.ARCHIVED}
        page = _PAGE if wanted.last is None else max(1, min(_PAGE, wanted.last))
        keys = {phase: _list_key(phase, wanted.owner) for phase in sorted(phases)}
        lists = [self._iterate_members(key, phase, wanted, page) for phase, key in keys.items()]
        newest_first = heapq.merge(*lists, key=lambda each: each[0], reverse=True)
        for member, phase in islice(newest_first, wanted.last):
            job_id, owner, run_id = json.loads(member[15 + _DIGITS :])
            yield JobReference(job_id, phase, run_id, owner, milliseconds_to_instant(int(member[:15])))

    def list_queued_jobs(self) -> tuple[list[QueuedJob], list[QueuedJob]]:
        with self._translate_errors(), self._redis.pipeline(transaction=True) as pipeline:
            for phase in (QUEUED, EXECUTING):
                pipeline.zrange(f"{_PREFIX}places:{phase}", 0, -1)
            found = cast(list[list[str]], pipeline.execute())
        queued, executing = ([_QUEUED_JOB.validate_json(each[15 + _DIGITS :]) for each in members] for members in found)
        return queued, executing

    def count_pending(self, user: str = "") -> int:
        with self._translate_errors():
            return self._redis.zcard(_pending_key(user) if user else _list_key(PENDING, None))

    def count_stored(self, user: str = "") -> int:
        with self._translate_errors():
            return int(self._redis.zscore(_STORED, user) or 0)

    def list_archivable(self, limit: int) -> list[str]:
        with self._translate_errors():
            return cast(list[str], self._redis.zrange(_PREFIX + "archivable", 0, limit - 1))

    def list_idle(self, limit: int) -> list[str]:
        with self._translate_errors():
            return cast(list[str], self._redis.zrange(_PREFIX + "idle", 0, limit - 1))

    def find_alike(self, fingerprint: str) -> list[str]:
        with self._translate_errors():
            return cast(list[str], self._redis.zrange(_alike_key(fingerprint), 0, -1))

    @contextmanager
    def lock_choice(self) -> Iterator[None]:
        with self._translate_errors():
            lock = self._redis.lock(
                _PREFIX + "choosing", timeout=_CHOOSING_SECONDS, sleep=0.005, blocking_timeout=_CHOOSING_SECONDS
            )
            if not lock.acquire():
                raise JobStoreUnavailable("another process holds the lock on the choice of jobs for too long")
        try:
            yield
        finally:
            with suppress(redis.RedisError):  # the lock expires; jobs are started by compare-and-set anyway
                lock.release()

    def read_rates(self) -> dict[str, float]:
        with self._translate_errors():
            found = cast(dict[str, str], self._redis.hgetall(_PREFIX + "rates"))
        return {kind: float(rate) for kind, rate in found.items()}

    def set_rate(self, kind: str, seconds_per_gigabyte: float) -> None:
        with self._translate_errors():
            self._redis.hset(_PREFIX + "rates", kind, repr(seconds_per_gigabyte))

    def list_expired(self, at: datetime, limit: int) -> list[str]:
        with self._translate_errors():
            found = self._redis.zrange(
                _PREFIX + "destruction", "-inf", instant_to_milliseconds(at), byscore=True, offset=0, num=limit
            )
        return cast(list[str], found)

    def list_silent(self, since: datetime) -> list[Job]:
        with self._translate_errors():
            ids = cast(
                list[str],
                self._redis.zrange(_PREFIX + "heartbeat", "-inf", f"({instant_to_milliseconds(since)}", byscore=True),
            )
        return self.get_jobs(ids)

    def watch_job(self, job_id: str, notify: Callable[[], None]) -> AbstractContextManager[None]:
        self._check_open()
        return self._watch.watch_name(job_id, notify)

    def check_writable(self) -> None:
        with self._translate_errors():
            self._redis.set(_PREFIX + "check", 1)

    def close(self) -> None:
        self._closed = True
        self._watch.close()
        self._redis.close()

    def _get_record(self, job_id: str) -> _Record:
        with self._translate_errors():
            return _require_record(job_id, cast(str | None, self._redis.get(_record_key(job_id))))

    def _replace_record(self, job_id: str, old: _Record | None, new: _Record | None) -> str:
        """Replace the record if it is still ``old``; return its previous text, '' if there was none."""
        expected, wanted = ("" if record is None else record.text for record in (old, new))
        with self._translate_errors():
            return cast(
                str, self._script(keys=[_record_key(job_id)], args=[expected, wanted, *_index_changes(old, new)])
            )

    def _iterate_members(
        self, key: str, phase: ExecutionPhase, wanted: JobFilter, page_size: int
    ) -> Iterator[tuple[str, ExecutionPhase]]:
        """Yield the members of a list, the newest first, one page at a time."""
        below = "+" if wanted.before is None else f"({instant_to_milliseconds(wanted.before):015d}"
        above = "-" if wanted.after is None else f"[{instant_to_milliseconds(wanted.after) + 1:015d}"
        while True:
            with self._translate_errors():
                found = self._redis.zrange(key, below, above, desc=True, bylex=True, offset=0, num=page_size)
            page = cast(list[str], found)
            for member in page:
                yield member, phase
            if len(page) < page_size:
                return
            below = f"({page[-1]}"

    def _check_open(self) -> None:
        if self._closed:
            raise JobStoreUnavailable("the job store is closed: the service is shutting down")

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        self._check_open()
        try:
            yield
        except redis.RedisError as error:
            _log.warning("the job store does not answer: %s", error)  # for the operator; users read no details
            raise JobStoreUnavailable("the job store does not answer") from error


@dataclass(frozen=True, slots=True)
class _Record:
    """A stored job, with its creation ``number`` and its ``text``."""

    number: str
    job: Job
    text: str

    @classmethod
    def from_job(cls, number: str, job: Job) -> _Record:
        job = replace(job, stored=job.stored_bytes)
        return cls(number, job, f"{number} {secrets.token_hex(8)} {_RECORD.dump_json(job).decode()}")

    @classmethod
    def from_text(cls, text: str) -> _Record:
        number, _, record = text.split(" ", 2)
        return cls(number, _RECORD.validate_json(record), text)

    def index_entries(self) -> dict[tuple[str, str], str]:
        """Return the entries of the job in the indexes: (key, member) to score."""
        job = self.job
        named = json.dumps([job.job_id, job.owner, job.run_id])
        order = f"{instant_to_milliseconds(job.creation_time):015d}{self.number}"
        member = order + named
        entries = {
            (_list_key(job.phase, None), member): "0",
            (_PREFIX + "destruction", job.job_id): str(instant_to_milliseconds(job.destruction_time)),
        }
        if job.owner is not None:
            entries[_list_key(job.phase, job.owner), member] = "0"
        if job.phase is PENDING:
            entries[_pending_key(job.queued_job.user), job.job_id] = "0"
        if job.phase is ExecutionPhase.COMPLETED and job.owner is None:
            entries[_PREFIX + "archivable", job.job_id] = str(instant_to_milliseconds(job.creation_time))
        if job.phase in (PENDING, QUEUED) and job.owner is None and job.files:
            entries[_PREFIX + "idle", job.job_id] = str(instant_to_milliseconds(job.creation_time))
        if job.phase is ExecutionPhase.COMPLETED and job.fingerprint:
            entries[_alike_key(job.fingerprint), job.job_id] = "0"
        if job.phase in (QUEUED, EXECUTING):
            entries[f"{_PREFIX}places:{job.phase}", order + _QUEUED_JOB.dump_json(job.queued_job).decode()] = "0"
        if job.phase is EXECUTING and job.heartbeat is not None:
            entries[_PREFIX + "heartbeat", job.job_id] = str(instant_to_milliseconds(job.heartbeat))
        return entries


def _require_record(job_id: str, text: str | None) -> _Record:
    if not text:
        raise NoSuchJob(job_id)
    return _Record.from_text(text)


def _index_changes(old: _Record | None, new: _Record | None) -> list[str]:
    """Return the changes of the index entries, as arguments of the script."""
    before = {} if old is None else old.index_entries()
    after = {} if new is None else new.index_entries()
    changes = []
    for key, member in before.keys() - after.keys():
        changes += ["ZREM", key, "", member]
    for (key, member), score in after.items() - before.items():
        changes += ["ZADD", key, score, member]
    if added := (new.job.stored if new else 0) - (old.job.stored if old else 0):
        user = (new or old).job.queued_job.user  # type: ignore[union-attr]  # one of them is a record
        changes += ["ZINCRBY", _STORED, str(added), user, "ZINCRBY", _STORED, str(added), ""]
        changes += ["ZREMRANGEBYSCORE", _STORED, "-inf", "0"]
    if old is not None and (new is None or new.job.phase is not old.job.phase):
        changes += ["PUBLISH", CHANNEL, "", old.job.job_id]
    return changes


def _record_key(job_id: str) -> str:
    return f"{_PREFIX}job:{job_id}"


def _pending_key(user: str) -> str:
    return f"{_PREFIX}pending:{user}"


def _list_key(phase: ExecutionPhase, owner: str | None) -> str:
    return f"{_PREFIX}list:{phase}" + ("" if owner is None else f":{owner}")


def _alike_key(fingerprint: str) -> str:
    return f"{_PREFIX}alike:{fingerprint}"
