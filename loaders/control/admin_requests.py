"""The requests of operators about jobs, running queries and watches."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from loaders.command_request import CommandRequest
from tap_service.models.uws_job import ExecutionPhase


class JobListRequest(CommandRequest):
    """Which jobs to list.

    Attributes
    ----------
    phases
        Only jobs in these phases; all if empty.
    user
        Only jobs of this user; '' for all users.
    before
        Only jobs created before this instant.
    last
        Maximum number of jobs, newest first.
    """

    command: Literal["jobs list"] = "jobs list"
    phases: frozenset[ExecutionPhase]
    user: str
    before: datetime | None
    last: int


class JobRequest(CommandRequest):
    """``job``: the id of the job to show."""

    command: Literal["jobs show"] = "jobs show"
    job: str


class JobsRequest(CommandRequest):
    """``jobs``: the ids of the jobs to stop or delete."""

    command: Literal["jobs stop", "jobs delete"]
    jobs: tuple[str, ...]


class UserJobsRequest(CommandRequest):
    """``user``: whose jobs to delete."""

    command: Literal["user delete-jobs"] = "user delete-jobs"
    user: str


class QueryListRequest(CommandRequest):
    """All that runs now."""

    command: Literal["queries"] = "queries"


class StopQueriesRequest(CommandRequest):
    """``ids``: the queries, jobs and downloads to stop."""

    command: Literal["queries stop"] = "queries stop"
    ids: tuple[str, ...]


class AddWatchRequest(CommandRequest):
    """A watch for ``user``; the other attributes are described in ``NewWatch`` of tap_service."""

    command: Literal["watch add"] = "watch add"
    user: str
    name: str
    query: str
    table: str
    list_name: str
    radius: float
    webhook: str
    has_mail: bool


class WatchListRequest(CommandRequest):
    """``user``: whose watches to list; '' for all users."""

    command: Literal["watch list"] = "watch list"
    user: str


class WatchRequest(CommandRequest):
    """``watch``: an id or a name; ``user``: its owner, '' if only one user has a watch of that name."""

    command: Literal["watch show", "watch remove", "watch run"]
    watch: str
    user: str


class PauseWatchRequest(CommandRequest):
    """``watch``, ``user``: as in ``WatchRequest``; ``pause``: False to resume it."""

    command: Literal["watch pause"] = "watch pause"
    watch: str
    user: str
    pause: bool
