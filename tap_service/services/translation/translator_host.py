"""The process that translates long queries: ``python -m tap_service.services.translation.translator_host FD``.

FD is a socket to the service; when the service ends, this process ends. The kernel also ends it if a translation takes
more processor time than its request allows; waiting for the position of an object takes none. This process has no
engine, opens no files, and does not know the settings of the service.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
import traceback
from multiprocessing.connection import Connection

from adql import AdqlError, NameLookupError, Translation, translate
from clickhouse_schema.catalogue import Catalogue
from tap_service.services.translation.translation_messages import (
    PositionAnswer,
    PositionRequest,
    TableNumbers,
    TranslationFailure,
    TranslationRequest,
    receive_message,
    send_numbered,
)

#: limit of the address space: the largest queries within the limits take about 600 MB
_MEMORY = 3 << 30

#: light queries, which run in the service itself, have priority
_NICENESS = 5

#: seconds after which this process notices that the service was killed, if another process holds the socket
_LOOK_ROUND_SECONDS = 5.0


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the service handles it and ends this process
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.nice(_NICENESS)
    service = os.getppid()
    connection = Connection(int(sys.argv[1]))
    numbers = TableNumbers()
    while True:
        while not connection.poll(_LOOK_ROUND_SECONDS):
            if os.getppid() != service:
                return
        try:
            request = receive_message(connection, numbers)
        except EOFError:
            return
        answer = _answer_request(connection, request, numbers)
        signal.setitimer(signal.ITIMER_PROF, 0)
        send_numbered(connection, answer, numbers)


def _answer_request(
    connection: Connection, request: TranslationRequest, numbers: TableNumbers
) -> Translation | TranslationFailure:
    if request.forget:
        numbers.clear()
    for number, table in request.new_tables.items():
        numbers.set_number(table, number)
    catalogue = Catalogue((), sharding=request.sharding)
    catalogue = catalogue.add_entries(tuple(numbers.tables[number] for number in request.tables))

    def look_up(name: str) -> tuple[float, float]:
        send_numbered(connection, PositionRequest(name), numbers)
        answer: PositionAnswer = receive_message(connection, numbers)
        if answer.error:
            raise NameLookupError(answer.error)
        return answer.position

    positions = look_up if request.has_positions else None
    signal.setitimer(signal.ITIMER_PROF, request.seconds)  # its signal ends the process
    try:
        return translate(request.text, catalogue, limit=request.limit, positions=positions)
    except AdqlError as error:
        return TranslationFailure(error.with_traceback(None))
    except MemoryError:
        return TranslationFailure(reason="memory")
    except Exception:
        traceback.print_exc()
        return TranslationFailure(reason="bug")


if __name__ == "__main__":
    main()
