"""The commands of operators on jobs and on what runs: in the service, or in the command's own process.

Each yields its rows as JSON, one a line; the command line makes a table, TSV or a JSON list of them.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loaders.control.data_commands import EXIT_FAILED, Arguments
from loaders.control.engine_opener import open_engine
from loaders.load_error import LoadCancelled, LoadError
from loaders.progress_reporter import Reporter
from tap_service.config import Config
from tap_service.factory.job_factory import build_job_lifetimes
from tap_service.models.timestamps import parse_instant
from tap_service.models.uws_job import ExecutionPhase
from tap_service.services.administration.job_administration import (
    AdministrationError,
    JobAdministration,
    JobSelection,
)
from tap_service.services.administration.work_list import WorkList
from tap_service.storage.jobs.job_store import JobStoreUnavailable
from tap_service.storage.open_storage import open_job_stores, open_remote_engine
from tap_service.storage.shares.share_store import ShareStoreUnavailable
from tap_service.storage.site_state import SiteStateUnavailable, open_site_state

#: how long a stopped query may take to end, and how often that is looked for
_STOP_SECONDS, _LOOK_SECONDS = 60.0, 0.2

Rows = Iterable[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Administration:
    jobs: JobAdministration
    work: WorkList


@contextmanager
def open_administration(config: Config, data_path: Path) -> Iterator[Administration]:
    """Open the stores of the settings, where no service answers or it shares them.

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
                yield Administration(jobs, WorkList(engine, state, jobs, is_shared=bool(config.redis_url)))
            finally:
                state.close()
        finally:
            stores.close()


def _list_jobs(administration: Administration, arguments: Arguments, _: Reporter) -> Rows:
    before = arguments["before"]
    return administration.jobs.list_jobs(
        JobSelection(
            frozenset(ExecutionPhase(phase) for phase in arguments["phases"]),
            arguments["user"],
            parse_instant(before) if before else None,
            arguments["last"],
        )
    )


def _show_job(administration: Administration, arguments: Arguments, _: Reporter) -> Rows:
    return [administration.jobs.show_job(arguments["job"])]


def _stop_jobs(administration: Administration, arguments: Arguments, reporter: Reporter) -> Rows:
    for job_id in arguments["jobs"]:
        administration.jobs.stop_job(job_id)
        reporter.message(f"stopped the job {job_id}: it is ABORTED")
    return ()


def _delete_jobs(administration: Administration, arguments: Arguments, reporter: Reporter) -> Rows:
    for job_id in arguments["jobs"]:
        administration.jobs.delete_job(job_id)
        reporter.message(f"deleted the job {job_id}")
    return ()


def _list_queries(administration: Administration, _arguments: Arguments, _: Reporter) -> Rows:
    return [work.to_document() for work in administration.work.list_running()]


def _stop_queries(administration: Administration, arguments: Arguments, reporter: Reporter) -> Rows:
    """Stop what runs, and wait for its end."""
    for work_id in arguments["ids"]:
        found = administration.work.stop(work_id)
        until = time.monotonic() + _STOP_SECONDS
        while any(work.work_id == work_id for work in administration.work.list_running()):
            reporter.check()
            if time.monotonic() > until:
                raise LoadError(f"{work_id} has been told to stop and has not ended yet: skyhouse queries shows it")
            time.sleep(_LOOK_SECONDS)
        reporter.message(f"stopped the {'query' if found.kind == 'sync' else found.kind} {work_id} of {found.client}")
    return ()


COMMANDS: dict[str, Callable[[Administration, Arguments, Reporter], Rows]] = {
    "jobs list": _list_jobs,
    "jobs show": _show_job,
    "jobs stop": _stop_jobs,
    "jobs delete": _delete_jobs,
    "queries": _list_queries,
    "queries stop": _stop_queries,
}


def run_command(administration: Administration, command: str, arguments: Arguments, reporter: Reporter) -> int:
    """Run a command and return its exit code; what an operator can cause is reported in one sentence."""
    try:
        for row in COMMANDS[command](administration, arguments, reporter):
            reporter.check()
            reporter.output(json.dumps(row, ensure_ascii=False))
    except LoadCancelled:
        return EXIT_FAILED
    except (AdministrationError, LoadError, JobStoreUnavailable, ShareStoreUnavailable, SiteStateUnavailable) as error:
        reporter.message(f"error: {error}")
        return EXIT_FAILED
    return 0
