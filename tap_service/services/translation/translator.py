"""Translates queries: short queries at once in this process, long queries in processes that end at the time limit."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from adql import AdqlError, PositionLookup, Translation, translate
from clickhouse_schema.catalogue import Catalogue
from tap_service.service_errors import InternalError, InvalidQueryError, ServiceUnavailable
from tap_service.services.translation.translation_messages import TranslationFailure
from tap_service.services.translation.translator_process import (
    TranslationTooLong,
    TranslatorLost,
    TranslatorProcess,
    TranslatorStarved,
)

_log = logging.getLogger("skyhouse")

#: maximum number of characters of a query that is translated in this process, which takes 1 ms, at worst (nested
#: shapes) about 150 ms; the exchange with another process takes 1 to 2 ms
_MAX_SHORT = 1000

_PROCESSES = 2

_WAY_OUT = (
    "Upload long lists of values or shapes as a table and join with it, give a region as a MOC or with fewer vertices, "
    "or send several queries"
)


def is_long(text: str) -> bool:
    """Return whether another process translates a query, while the calling thread waits.

    Parameters
    ----------
    text : str
        The ADQL, which is long from 1,001 characters on.
    """
    return len(text) > _MAX_SHORT


class Translator:
    """Translates queries within a time limit. Thread-safe.

    Parameters
    ----------
    seconds : float
        Limit of processor time for the translation of one query.
    is_kept_ready : bool
        Whether ``start`` starts a process; otherwise the first long query waits half a second for it.
    """

    def __init__(self, seconds: float, *, is_kept_ready: bool) -> None:
        self._seconds = seconds
        self._is_kept_ready = is_kept_ready
        self._slots = threading.BoundedSemaphore(_PROCESSES)
        self._lock = threading.Lock()
        self._idle: list[TranslatorProcess] = []
        self._processes: set[TranslatorProcess] = set()
        self._is_closed = False

    def start(self) -> None:
        """Start a process if it is to be kept ready."""
        if self._is_kept_ready:
            with self._lend_process():
                pass

    def close(self) -> None:
        """End the processes; queries that wait for them fail with ServiceUnavailable."""
        with self._lock:
            self._is_closed = True
            processes = tuple(self._processes)
        for process in processes:
            process.end()

    def translate(
        self, text: str, catalogue: Catalogue, limit: int | None, positions: PositionLookup | None
    ) -> Translation:
        """Translate a query.

        Parameters
        ----------
        text : str
            The query in ADQL.
        catalogue : Catalogue
            The tables that the client sees.
        limit : int or None
            The row limit of the request.
        positions : PositionLookup or None
            Looks up the positions of objects by their names, if possible.

        Raises
        ------
        InvalidQueryError
            The query is invalid, or takes too long or too much memory to translate.
        ServiceUnavailable
            The machine is too busy, or the service is shutting down.
        InternalError
            A translator process has failed.
        """
        if not is_long(text):
            try:
                return translate(text, catalogue, limit=limit, positions=positions)
            except AdqlError as error:
                raise InvalidQueryError(error.describe(text), text) from error
        answer = self._ask_process(text, catalogue, limit, positions)
        if not isinstance(answer, TranslationFailure):
            return answer
        if answer.error is not None:
            raise InvalidQueryError(answer.error.describe(text), text) from answer.error
        if answer.reason == "memory":
            raise InvalidQueryError(f"translating the query takes too much memory. {_WAY_OUT}")
        raise InternalError("the service failed to translate the query because of a bug")

    def _ask_process(
        self, text: str, catalogue: Catalogue, limit: int | None, positions: PositionLookup | None
    ) -> Translation | TranslationFailure:
        """Send a query to a process, and if that process is lost, to another."""
        for _ in range(2):
            try:
                with self._lend_process() as process:
                    return process.translate(text, catalogue, limit, positions, self._seconds)
            except TranslationTooLong:
                raise InvalidQueryError(
                    f"translating the query takes more than {self._seconds:g} s. {_WAY_OUT}"
                ) from None
            except TranslatorStarved:
                raise ServiceUnavailable("this machine is too busy to translate the query. Try again later") from None
            except TranslatorLost:
                _log.info("a translator process has exited")
        raise InternalError("the service failed to translate the query because of a bug")

    @contextmanager
    def _lend_process(self) -> Iterator[TranslatorProcess]:
        """Lend an idle or a new process, which is not used again after an error."""
        with self._slots:
            with self._lock:
                if self._is_closed:
                    raise ServiceUnavailable("the service is shutting down. Try again later")
                process = self._idle.pop() if self._idle else TranslatorProcess()
                self._processes.add(process)
            try:
                yield process
            except BaseException:
                with self._lock:
                    self._processes.discard(process)
                process.close()
                raise
            with self._lock:
                self._idle.append(process)
