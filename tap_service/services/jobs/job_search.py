"""Search in a user's jobs by words: in name, note, query and other parameters, id and day of creation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from tap_service.models.uws_job import Job, JobFilter, JobReference
from tap_service.storage.jobs.job_store import JobStore

#: maximum number of jobs that a search reads, the newest first, and of characters of their texts
MAX_SEARCHED, _MAX_CHARACTERS = 5000, 50_000_000
_AT_ONCE = 200


def search_jobs(store: JobStore, wanted: JobFilter) -> Iterator[JobReference]:
    """Yield the jobs that have all words in any case, the newest first; AFTER and BEFORE reach older ones."""
    references = islice(store.list_references(replace(wanted, last=None)), MAX_SEARCHED)
    words = [word.casefold() for word in wanted.words]
    return islice(_match_references(store, references, words), wanted.last)


def _match_references(store: JobStore, references: Iterator[JobReference], words: list[str]) -> Iterator[JobReference]:
    searched = 0
    while searched < _MAX_CHARACTERS and (some := list(islice(references, _AT_ONCE))):
        texts = {job.job_id: _join_texts(job) for job in store.get_jobs([each.job_id for each in some])}
        searched += sum(map(len, texts.values()))
        for each in some:
            if all(word in texts.get(each.job_id, "") for word in words):
                yield each


def _join_texts(job: Job) -> str:
    values = (value for _, value in job.parameters)
    return "\n".join((job.job_id, job.run_id, job.note, f"{job.creation_time:%Y-%m-%d %H:%M}", *values)).casefold()
