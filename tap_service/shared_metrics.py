"""The metrics of several processes in one answer: the scraped process reads the metrics of the others.

Each process answers on a Unix socket in a folder that only these processes can open. Samples have the label ``process``
and are not summed: a sum would decrease when a process is replaced, which Prometheus takes for a restart of all. (The
multiprocess mode of prometheus_client sums samples in files, and does not support gauges with functions.)
"""

from __future__ import annotations

import logging
import socket
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from prometheus_client import Metric
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.parser import text_string_to_metric_families

_log = logging.getLogger("skyhouse")

#: time limit of a process to answer, in seconds, so that a stopped process does not delay the others
_SECONDS = 2.0
_SUFFIX = ".socket"


class MetricsSocket:
    """Answers each connection with the metrics of this process, until ``close``.

    Parameters
    ----------
    folder : Path
        The folder of the sockets of all processes.
    process : str
        The name of this process. The socket of an earlier process with this name is removed.
    format_text : Callable[[], bytes]
        Returns the metrics in the text format of Prometheus.
    """

    def __init__(self, folder: Path, process: str, format_text: Callable[[], bytes]) -> None:
        self._path = folder / f"{process}{_SUFFIX}"
        self._format_text = format_text
        self._path.unlink(missing_ok=True)
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(str(self._path))
        self._socket.listen()
        threading.Thread(target=self._answer_all, name="metrics", daemon=True).start()

    def close(self) -> None:
        """Stop answering, and remove the socket."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)  # wakes the thread
        self._socket.close()
        self._path.unlink(missing_ok=True)

    def _answer_all(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            with connection, suppress(OSError):
                connection.settimeout(_SECONDS)
                connection.sendall(self._format_or_log())

    def _format_or_log(self) -> bytes:
        """Return the metrics, or nothing after an error, so that the process counts as down until the next scrape."""
        try:
            return self._format_text()
        except Exception as error:
            _log.error("the metrics of this process cannot be collected", exc_info=error)
            return b""


class SharedMetrics:
    """A collector of the metrics of all processes that share a folder, and of their availability."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def describe(self) -> Iterable[Metric]:
        return ()

    def collect(self) -> Iterable[Metric]:
        up = GaugeMetricFamily(
            "skyhouse_process_up", "Whether a process of the service answered this scrape", labels=["process"]
        )
        families: dict[str, Metric] = {up.name: up}
        for path in sorted(self._folder.glob(f"*{_SUFFIX}")):
            process, text = path.name.removesuffix(_SUFFIX), _read_metrics(path)
            up.add_metric([process], float(text is not None))
            for family in text_string_to_metric_families(text or ""):
                merged = families.setdefault(family.name, Metric(family.name, family.documentation, family.type))
                for sample in family.samples:
                    merged.add_sample(sample.name, {**sample.labels, "process": process}, sample.value)
        return families.values()


def _read_metrics(path: Path) -> str | None:
    """Return the metrics of a process, None if it does not answer."""
    received = b""
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(_SECONDS)
            connection.connect(str(path))
            while piece := connection.recv(65536):
                received += piece
    except OSError:
        return None
    return received.decode() if received.endswith(b"\n") else None
