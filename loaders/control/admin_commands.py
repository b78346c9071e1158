"""The commands of operators on jobs, running queries and watches: in the service, or in the command's own process.

Each command reports its rows as lines of JSON, from which the command line makes a table, TSV or a JSON list.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loaders.command_request import CommandRequest
from loaders.control.admin_requests import (
    AddWatchRequest,
    JobListRequest,
    JobRequest,
    JobsRequest,
    PauseWatchRequest,
    QueryListRequest,
    StopQueriesRequest,
    UserJobsRequest,
    WatchListRequest,
    WatchRequest,
)
from loaders.control.command_outcome import EXIT_FAILED
from loaders.control.engine_opener import open_engine
from loaders.load_error import LoadCancelled, LoadError
from loaders.progress_reporter import Reporter
from tap_service.config import Config
from tap_service.documents.watch_documents import describe_watch
from tap_service.factory.lifetime_factory import build_job_lifetimes
from tap_service.models.watch import Watch
from tap_service.service_errors import ServiceError
from tap_service.services.administration.job_administration import (
    AdministrationError,
    JobAdministration,
    JobSelection,
)
from tap_service.services.administration.work_list import WorkList
from tap_service.storage.engine.engine import Engine
from tap_service.storage.jobs.job_store import JobStore, JobStoreUnavailable
from tap_service.storage.open_storage import open_job_stores, open_remote_engine, open_watch_store
from tap_service.storage.share_store import ShareStoreUnavailable
from tap_service.storage.site_state import SiteStateUnavailable, open_site_state
from tap_service.storage.watch_store import WatchStoreUnavailable

if TYPE_CHECKING:  # most commands need no watches
    from tap_service.services.watches.watch_service import WatchService

#: The time that a stopped query may take to end, and the interval at which it is looked for
_STOP_SECONDS, _LOOK_SECONDS = 60.0, 0.2

#: Errors that an operator can cause, with a message in one sentence
_ERRORS = (
    AdministrationError,
    LoadError,
    JobStoreUnavailable,
    ShareStoreUnavailable,
    WatchStoreUnavailable,
    SiteStateUnavailable,
    ServiceError,
)

Rows = Iterable[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Administration:
    """The services that commands of operators use."""

    jobs: JobAdministration
    work: WorkList
    #: Opens the watches for one command
    open_watches: Callable[[], AbstractContextManager[WatchService]]


@contextmanager
def open_administration(config: Config, data_path: Path) -> Iterator[Administration]:
    """Open the stores of the settings, if no service answers or if the services share them.

    Parameters
    ----------
    config : Config
        The settings.
    data_path : Path
        Data directory.

    Yields
    ------
    Administration
        Until the end of the context, which closes the stores.

    Raises
    ------
    LoadError, DataPathHeldError, EngineError
        The engine cannot be used.
    JobStoreUnavailable, ShareStoreUnavailable, SiteStateUnavailable, OSError
        A store cannot be used.
    """
    opened = closing(open_remote_engine(config)) if config.clickhouse_url else open_engine(data_path, is_read_only=True)
    with opened as engine:
        stores = open_job_stores(config)
        try:
            state = open_site_state(config.redis_url, config.jobs_path)
            try:
                jobs = JobAdministration(stores.jobs, build_job_lifetimes(config, engine, stores))
                work = WorkList(engine, state, jobs, is_shared=bool(config.redis_url))
                yield Administration(jobs, work, partial(_open_watches, config, engine, stores.jobs))
            finally:
                state.close()
        finally:
            stores.close()


@contextmanager
def _open_watches(config: Config, engine: Engine, jobs: JobStore) -> Iterator[WatchService]:
    """Open the watches and the components of queries, which only watches need. Raises WatchStoreUnavailable."""
    from tap_service.factory.query_services import build_query_services
    from tap_service.factory.watch_factory import build_watch_service

    with closing(open_watch_store(config)) as store:
        components = build_query_services(config, engine, jobs, are_helpers_kept_ready=False)
        try:
            yield build_watch_service(components, store)
        finally:
            components.close()


def _list_jobs(administration: Administration, request: JobListRequest, _: Reporter) -> Rows:
    return administration.jobs.list_jobs(JobSelection(request.phases, request.user, request.before, request.last))


def _show_job(administration: Administration, request: JobRequest, _: Reporter) -> Rows:
    return [administration.jobs.show_job(request.job)]


def _stop_jobs(administration: Administration, request: JobsRequest, reporter: Reporter) -> Rows:
    for job_id in request.jobs:
        administration.jobs.stop_job(job_id)
        reporter.message(f"stopped the job {job_id}: it is ABORTED")
    return ()


def _delete_jobs(administration: Administration, request: JobsRequest, reporter: Reporter) -> Rows:
    for job_id in request.jobs:
        administration.jobs.delete_job(job_id)
        reporter.message(f"deleted the job {job_id}")
    return ()


def _delete_jobs_of_user(administration: Administration, request: UserJobsRequest, reporter: Reporter) -> Rows:
    if number := administration.jobs.delete_jobs_of(request.user):
        reporter.message(f"deleted {number} {'job' if number == 1 else 'jobs'} of {request.user}")
    return ()


def _list_queries(administration: Administration, _request: QueryListRequest, _: Reporter) -> Rows:
    return [work.to_document() for work in administration.work.list_running()]


def _stop_queries(administration: Administration, request: StopQueriesRequest, reporter: Reporter) -> Rows:
    """Stop queries, jobs or downloads, and wait for their end."""
    for work_id in request.ids:
        found = administration.work.stop(work_id)
        until = time.monotonic() + _STOP_SECONDS
        while any(work.work_id == work_id for work in administration.work.list_running()):
            reporter.check()
            if time.monotonic() > until:
                raise LoadError(f"{work_id} was told to stop and has not ended yet: skyhouse queries shows it")
            time.sleep(_LOOK_SECONDS)
        reporter.message(f"stopped the {'query' if found.kind == 'sync' else found.kind} {work_id} of {found.client}")
    return ()


def _add_watch(administration: Administration, request: AddWatchRequest, _: Reporter) -> Rows:
    from tap_service.services.watches.watch_service import NewWatch

    new_watch = NewWatch(**request.model_dump(exclude={"command", "user"}))
    with administration.open_watches() as watches:
        watch = watches.add_watch(request.user, new_watch)
    return [{**_describe_watch(watch), "secret": watch.secret or None}]


def _list_watches(administration: Administration, request: WatchListRequest, _: Reporter) -> Rows:
    with administration.open_watches() as watches:
        return [_describe_watch(watch) for watch in watches.list_watches(request.user or None)]


def _show_watch(administration: Administration, request: WatchRequest, _: Reporter) -> Rows:
    with administration.open_watches() as watches:
        return [_describe_watch(watches.find_watch(request.watch, request.user))]


def _remove_watch(administration: Administration, request: WatchRequest, reporter: Reporter) -> Rows:
    with administration.open_watches() as watches:
        watch = watches.find_watch(request.watch, request.user)
        watches.remove_watch(watch)
    reporter.message(f"removed the watch {watch.name} of {watch.owner}; mydb.{watch.result_table} stays")
    return ()


def _pause_watch(administration: Administration, request: PauseWatchRequest, reporter: Reporter) -> Rows:
    with administration.open_watches() as watches:
        watch = watches.find_watch(request.watch, request.user)
        watches.pause_watch(watch, is_paused=request.pause)
    reporter.message(f"the watch {watch.name} of {watch.owner} {'is paused' if request.pause else 'is resumed'}")
    return ()


def _run_watch(administration: Administration, request: WatchRequest, reporter: Reporter) -> Rows:
    with administration.open_watches() as watches:
        watch = watches.run_again(watches.find_watch(request.watch, request.user))
    waiting = sum(run.is_open for run in watch.runs)
    reporter.message(f"{waiting} runs of the watch {watch.name} of {watch.owner} are waiting or running")
    return ()


def _describe_watch(watch: Watch) -> dict[str, Any]:
    described = describe_watch(watch)
    return {"watch": described.pop("id"), "user": watch.owner, **described}


COMMANDS: dict[str, Callable[[Administration, Any, Reporter], Rows]] = {
    "jobs list": _list_jobs,
    "jobs show": _show_job,
    "jobs stop": _stop_jobs,
    "jobs delete": _delete_jobs,
    "user delete-jobs": _delete_jobs_of_user,
    "queries": _list_queries,
    "queries stop": _stop_queries,
    "watch add": _add_watch,
    "watch list": _list_watches,
    "watch show": _show_watch,
    "watch remove": _remove_watch,
    "watch pause": _pause_watch,
    "watch run": _run_watch,
}


def run_command(administration: Administration, request: CommandRequest, reporter: Reporter) -> int:
    """Run a command of an operator, and report errors that the operator can cause in one sentence.

    Parameters
    ----------
    administration : Administration
        The services that the commands use.
    request : CommandRequest
        A request of one of ``COMMANDS``.
    reporter : Reporter
        Receives the rows as lines of JSON, messages and errors.

    Returns
    -------
    int
        The exit code.
    """
    try:
        for row in COMMANDS[request.command](administration, request, reporter):
            reporter.check()
            reporter.output(json.dumps(row, ensure_ascii=False))
    except LoadCancelled:
        return EXIT_FAILED
    except _ERRORS as error:
        reporter.message(f"error: {error}")
        return EXIT_FAILED
    return 0
