"""The results of jobs that clients download now."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import dataclass

from tap_service.models.running_work import RunningWork, shorten_query
from tap_service.models.timestamps import format_instant, now
from tap_service.models.uws_job import Job


@dataclass(slots=True)
class _Download:
    job: Job
    client: str
    since: str
    sent: int = 0
    is_stopped: bool = False


class ResultDownloads:
    """The downloads of a process, which operators can list and stop. Thread-safe."""

    def __init__(self) -> None:
        self._running: dict[str, _Download] = {}

    def follow(self, pieces: Iterator[bytes], job: Job, client: str) -> Iterator[bytes]:
        """Yield the pieces of a result to a client. A stopped download ends early, which the client notices."""
        key = f"download-{secrets.token_hex(8)}"
        self._running[key] = download = _Download(job, client, format_instant(now()))
        try:
            for piece in pieces:
                if download.is_stopped:
                    raise DownloadStopped
                yield piece
                download.sent += len(piece)
        finally:
            del self._running[key]

    def stop(self, key: str) -> bool:
        """Stop a download before its next piece.

        Parameters
        ----------
        key : str
            The id of the download in a list of running work.

        Returns
        -------
        bool
            Whether this process has a download of this id.
        """
        download = self._running.get(key)
        if download is not None:
            download.is_stopped = True
        return download is not None

    def list_running(self) -> list[RunningWork]:
        return [
            RunningWork(
                key,
                "download",
                download.client,
                "",
                "running",
                download.since,
                shorten_query(find_query(download.job)),
                sent_bytes=download.sent,
            )
            for key, download in tuple(self._running.items())
        ]


class DownloadStopped(Exception):
    """The operator has stopped a download."""


def find_query(job: Job) -> str:
    """Return the ADQL of a job; '' if it has none."""
    return next((value for name, value in job.parameters if name.upper() == "QUERY"), "")
