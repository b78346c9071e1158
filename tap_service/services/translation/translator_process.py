"""The service's side of a translator process (``translator_host``): start it, send it queries, end it."""

from __future__ import annotations

import signal
import socket
import time
from multiprocessing.connection import Connection

from adql import NameLookupError, PositionLookup, Translation
from clickhouse_schema.catalogue import Catalogue
from tap_service.child_processes import start_child
from tap_service.services.translation.translation_messages import (
    PositionAnswer,
    PositionRequest,
    TableNumbers,
    TranslationFailure,
    TranslationRequest,
    receive_message,
    send_numbered,
    send_plain,
)

_MODULE = "tap_service.services.translation.translator_host"

#: wall-clock limit as a multiple of the limit of processor time: on a busy machine, a translation gets a part of a core
_WALL_CLOCK_FACTOR = 60

#: maximum number of tables that the process keeps in addition to the tables of the current catalogue
_MAX_OLD_TABLES = 1000


class TranslatorLost(Exception):
    """The process has ended, and the query is not the reason."""


class TranslatorStarved(Exception):
    """The process was ended because the machine is too busy to give it its processor time."""


class TranslationTooLong(Exception):
    """The process was ended because the translation exceeded its time limit."""


class TranslatorProcess:
    """A translator process, started by the constructor. Used by one thread at a time; any thread may call ``end``."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = start_child(_MODULE, theirs)
        self._connection = Connection(ours.detach())
        self._numbers = TableNumbers()

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    def translate(
        self, text: str, catalogue: Catalogue, limit: int | None, positions: PositionLookup | None, seconds: float
    ) -> Translation | TranslationFailure:
        """Translate a query; parameters as in ``Translator.translate``.

        Parameters
        ----------
        seconds : float
            Limit of processor time.

        Returns
        -------
        Translation or TranslationFailure
            The translation, or the error in the query.

        Raises
        ------
        TranslationTooLong, TranslatorStarved, TranslatorLost
            The process has ended.
        """
        try:
            send_plain(self._connection, self._make_request(text, catalogue, limit, positions is not None, seconds))
            until = time.monotonic() + _WALL_CLOCK_FACTOR * seconds
            while True:
                if not self._connection.poll(max(0.0, until - time.monotonic())):
                    raise TranslatorStarved
                message = receive_message(self._connection, self._numbers)
                if not isinstance(message, PositionRequest):
                    answer: Translation | TranslationFailure = message
                    return answer
                asked = time.monotonic()
                send_numbered(self._connection, _look_up_position(message.name, positions), self._numbers)
                until += time.monotonic() - asked
        except (EOFError, OSError) as error:
            raise TranslationTooLong if self._is_out_of_time() else TranslatorLost from error

    def _make_request(
        self, text: str, catalogue: Catalogue, limit: int | None, has_positions: bool, seconds: float
    ) -> TranslationRequest:
        forget = len(self._numbers.tables) > len(catalogue.entries) + _MAX_OLD_TABLES
        if forget:
            self._numbers.clear()
        new = [table for table in catalogue.entries if self._numbers.find_number(table) is None]
        added = {self._numbers.add_table(table): table for table in new}
        tables = tuple(number for table in catalogue.entries if (number := self._numbers.find_number(table)))
        return TranslationRequest(text, limit, forget, added, tables, catalogue.sharding, has_positions, seconds)

    def _is_out_of_time(self) -> bool:
        return self._process.wait() == -signal.SIGPROF

    def end(self) -> None:
        """End the process; a waiting thread gets TranslatorLost. A second call has no effect."""
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        """End the process and close its socket; no thread may be waiting for it."""
        self.end()
        self._connection.close()


def _look_up_position(name: str, positions: PositionLookup | None) -> PositionAnswer:
    assert positions is not None  # noqa: S101  the request states whether positions can be looked up
    try:
        return PositionAnswer(positions(name))
    except NameLookupError as error:
        return PositionAnswer(error=str(error))
