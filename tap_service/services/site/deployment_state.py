"""Metrics of the state that the processes of a deployment share: the queue of jobs, and disks; read at each scrape."""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from prometheus_client import Metric
from prometheus_client.core import GaugeMetricFamily

from tap_service.config import Config
from tap_service.models.timestamps import now
from tap_service.models.work_class import WorkClass
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tap_service.storage.engine.engine import Engine
from tap_service.storage.jobs.job_store import JobStore, JobStoreUnavailable, NoSuchJob
from tap_service.storage.open_storage import find_results_address, find_results_folder

#: seconds for which the size of all results is cached: measuring many files takes a second
_RESULTS_SECONDS = 60.0


class DeploymentState:
    """A collector of Prometheus.

    Parameters
    ----------
    config : Config
        The folders.
    engine : Engine or None
        The engine; an embedded engine has a folder of data.
    jobs : JobStore
        The job store.
    """

    def __init__(self, config: Config, engine: Engine | None, jobs: JobStore) -> None:
        self._jobs = jobs
        self._results = find_results_folder(find_results_address(config))
        folders = {"jobs": config.jobs_path, "results": self._results, "spool": config.spool_path}
        if isinstance(engine, EmbeddedEngine):
            folders["data"] = engine.data_path
        self._folders = {name: path for name, path in folders.items() if path is not None}
        self._lock = threading.Lock()
        self._results_size: tuple[int, int] = (0, 0)
        self._results_at = -_RESULTS_SECONDS

    def describe(self) -> Iterable[Metric]:
        """Return nothing, so that the registry does not read the stores when the collector is registered."""
        return ()

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics of jobs and disks."""
        yield from self._collect_jobs()
        yield from self._collect_disks()

    def _collect_jobs(self) -> Iterator[Metric]:
        counts = GaugeMetricFamily(
            "skyhouse_jobs", "Waiting and running jobs of the entire deployment", labels=["phase", "work"]
        )
        ages = GaugeMetricFamily(
            "skyhouse_job_oldest_seconds", "Age of the oldest waiting job since its creation", labels=["work"]
        )
        up = GaugeMetricFamily("skyhouse_job_store_up", "Whether the job store answers")
        try:
            at = now()
            queued, executing = self._jobs.list_queued_jobs()
            for work in WorkClass:
                waiting = [job for job in queued if job.work_class(at) is work]
                running = [job for job in executing if job.work_class(at) is work]
                counts.add_metric(["queued", work], len(waiting))
                counts.add_metric(["executing", work], len(running))
                age = 0.0
                if waiting:
                    with suppress(NoSuchJob):  # destroyed meanwhile
                        age = (at - self._jobs.get_job(waiting[0].job_id).creation_time).total_seconds()
                ages.add_metric([work], max(0.0, age))
        except JobStoreUnavailable:
            up.add_metric([], 0)
            yield up
            return
        up.add_metric([], 1)
        yield from (counts, ages, up)

    def _collect_disks(self) -> Iterator[Metric]:
        size = GaugeMetricFamily("skyhouse_disk_size_bytes", "Size of the file system of a folder", labels=["place"])
        free = GaugeMetricFamily("skyhouse_disk_free_bytes", "Free bytes in the file system", labels=["place"])
        for name, path in self._folders.items():
            with suppress(OSError):
                usage = shutil.disk_usage(path)
                size.add_metric([name], usage.total)
                free.add_metric([name], usage.free)
        yield from (size, free)
        if self._results is not None:
            files, in_bytes = self._measure_results(self._results)
            yield GaugeMetricFamily("skyhouse_results_files", "Files in the folder of results", value=files)
            yield GaugeMetricFamily("skyhouse_results_bytes", "Bytes in the folder of results", value=in_bytes)

    def _measure_results(self, folder: Path) -> tuple[int, int]:
        with self._lock:
            if time.monotonic() - self._results_at >= _RESULTS_SECONDS:
                sizes = list(_list_sizes(folder))
                self._results_size = len(sizes), sum(sizes)
                self._results_at = time.monotonic()
            return self._results_size


def _list_sizes(folder: Path) -> Iterator[int]:
    """Yield the sizes of all files, except files that are deleted meanwhile."""
    for directory, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                yield os.stat(os.path.join(directory, name)).st_size
