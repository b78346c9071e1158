"""Checks the HATS catalogues of attached tables, so that the operator learns of a change before a query fails."""

from __future__ import annotations

import logging
import threading

from clickhouse_schema.hats.hats_error import HatsError
from tap_service.constants import ATTACHMENT_CHECK_SECONDS
from tap_service.hats.gateway.file_gateway import FileGateway
from tap_service.hats.reading.folder_backend import StorageUnavailable
from tap_service.services.periodic_thread import PeriodicThread

_log = logging.getLogger("skyhouse")


class AttachmentWatch:
    """Logs once that the catalogue of an attached table has changed, and in each round that it cannot be read."""

    def __init__(self, gateway: FileGateway) -> None:
        self._gateway = gateway
        self._reported: set[str] = set()
        self._closing = threading.Event()
        self._thread = PeriodicThread(
            "attachments", ATTACHMENT_CHECK_SECONDS, self.check_all, "the catalogues of attached tables"
        )

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def close(self) -> None:
        """End the thread."""
        self._closing.set()
        self._thread.close()

    def check_all(self) -> None:
        """Check the catalogues of all attached tables."""
        published = {files.attachment.key: files for files in self._gateway.list_published()}
        self._reported &= published.keys()
        for key in published.keys() - self._reported:
            if self._closing.is_set():
                return
            table = published[key].table
            try:
                published[key].check_properties()
            except StorageUnavailable as error:
                _log.warning("attached table %s: %s", table, error)
            except HatsError as error:
                self._reported.add(key)
                command = f"skyhouse attach --refresh --table {table}"
                _log.warning("attached table %s: %s. Read its files again with %s", table, error, command)
