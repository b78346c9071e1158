"""Settings of asynchronous jobs: limits, retention, queues and stores."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import BaseModel, Field, field_validator


class JobSettings(BaseModel):
    async_hard_maxrec: int = Field(
        100_000_000,
        ge=1,
        title="Maximum row limit of a job",
        description="A higher MAXREC is reduced to this number. A job without MAXREC has the limit of a request.",
    )
    async_seconds: int = Field(
        3600,
        ge=1,
        title="Default execution duration of a job, in seconds",
        description="A job that runs longer is ABORTED with a message. Its owner may request another duration.",
    )
    async_hard_seconds: int = Field(
        86_400,
        ge=1,
        title="Maximum execution duration of a job, in seconds",
        description="A longer duration, and 0 (unlimited), is reduced to this number.",
    )
    retention_seconds: int = Field(
        7 * 86_400,
        ge=1,
        title="Default retention of a job and its result, in seconds",
        description="Counts from the creation of the job. Its owner may set another destruction time.",
    )
    hard_retention_seconds: int = Field(
        30 * 86_400,
        ge=1,
        title="Maximum retention of a job and its result, in seconds",
        description="A later destruction time is reduced to this duration from the time of the request.",
    )
    concurrent_jobs: int = Field(
        max(1, os.cpu_count() or 1),
        ge=1,
        title="Maximum number of long jobs that run at the same time",
        description=(
            "The best value is the number of cores of the engine, which is the default on a single machine. The same "
            "number of short jobs (up to ten seconds) can run in addition, and jobs of more than ten minutes use at "
            "most half of the slots for long jobs. Further jobs are QUEUED, and users take turns."
        ),
    )
    user_running_jobs: int = Field(
        max(1, os.cpu_count() or 1),
        ge=1,
        title="Maximum number of jobs of one user that run at the same time",
        description=(
            "Includes short jobs. Jobs of anonymous clients are counted by address. By default the number of "
            "processor cores."
        ),
    )
    user_jobs_per_minute: int = Field(
        0,
        ge=0,
        title="Maximum number of new jobs of one user per minute",
        description=(
            "A user may create all jobs of a minute at once; the next job is refused with 429 and Retry-After. Jobs "
            "of anonymous clients are counted by address. 0: no limit."
        ),
    )
    user_pending_jobs: int = Field(
        500,
        ge=1,
        title="Maximum number of PENDING jobs of one user",
        description=(
            "A request to create another job without PHASE=RUN gets 429 with Retry-After. Jobs of anonymous clients "
            "are counted by address."
        ),
    )
    pending_jobs: int = Field(
        20_000,
        ge=1,
        title="Maximum number of PENDING jobs of all users",
        description="A request to create another job without PHASE=RUN gets 503 with Retry-After.",
    )
    user_waiting_jobs: int = Field(
        500,
        ge=1,
        title="Maximum number of waiting jobs of one user",
        description="A request to run another job gets 429 with Retry-After; the job stays PENDING.",
    )
    waiting_jobs: int = Field(
        5000,
        ge=1,
        title="Maximum number of waiting jobs of all users",
        description="When this number of jobs wait, a request to run another job gets 503 with Retry-After.",
    )
    piece_seconds: float = Field(
        60.0,
        ge=0,
        title="Duration of a piece of a long job, in seconds",
        description=(
            "A job with a longer estimate runs in pieces of about this duration if its query allows this. If the "
            "process that executes a job ends, the finished pieces are kept. 0: no job is divided."
        ),
    )
    user_job_disk: int = Field(
        20 << 30,
        ge=0,
        title="Maximum disk space for the jobs of one user, in bytes",
        description=(
            "Counts results, finished pieces of jobs, and uploaded files that jobs still need. A job whose result "
            "needs more space ends in ERROR, and a request to create or run another job gets 507. 0: no limit."
        ),
    )
    anonymous_job_disk: int = Field(
        5 << 30,
        ge=0,
        title="Maximum disk space for the jobs of one anonymous address, in bytes",
        description="Counted in the same way as for a user; an IPv6 /64 network counts as one address.",
    )
    job_disk: int = Field(
        100 << 30,
        ge=0,
        title="Maximum disk space for the jobs of all clients, in bytes",
        description=(
            "When it is full, the results of anonymous clients are deleted, the oldest first, and their jobs are "
            "ARCHIVED. If there are no such results, requests and jobs fail as for one user. 0: no limit."
        ),
    )
    jobs_path: Path | None = Field(
        None,
        title="Directory for jobs and their results",
        description="Must be on permanent storage. By default jobs in the data directory.",
    )
    results_url: str = Field(
        "",
        title="Location of the results of jobs",
        description=(
            "A directory, or an address that fsspec supports, such as s3://bucket/results (with skyhouse[s3] "
            "installed). The service and its workers share it. Required with Redis. By default results in the "
            "directory for jobs."
        ),
    )
    redis_url: str = Field(
        "",
        title="Address of a Redis server",
        description=(
            "For example redis://host:6379/0. Redis then stores the jobs and skyhouse-worker processes execute them, "
            "which requires a ClickHouse server. If empty, the service itself stores and executes the jobs."
        ),
    )
    engine_patience: float = Field(
        60.0,
        ge=0,
        title="Maximum time for which jobs wait for the engine, in minutes",
        description=(
            "A job whose ClickHouse servers do not answer is QUEUED, with the reason in its jobInfo, and starts when "
            "the servers answer again. After this time, or at once if this is 0, it ends in ERROR of type transient."
        ),
    )
    worker_silence: float = Field(
        30.0,
        gt=0,
        title="Time without a report after which a worker counts as dead, in seconds",
        description=(
            "The job of a dead worker is given to another worker. Live workers report every half second. The clocks "
            "of all machines must agree to within this time."
        ),
    )

    @field_validator("redis_url")
    @classmethod
    def _check_redis_url(cls, value: str) -> str:
        if value and urlsplit(value).scheme not in ("redis", "rediss", "unix"):
            raise ValueError("give an address such as redis://host:6379/0")
        return value
