"""The numbers of additions, which watches compare, and which messages and results contain. Numbers are never reused."""

from __future__ import annotations

from collections.abc import Iterable

from clickhouse_schema.engine_tables.addition_record import raise_last_number, read_last_numbers
from tap_service.models.watch import Watch
from tap_service.storage.engine.engine import Engine


def continue_numbers(engine: Engine, watches: Iterable[Watch]) -> None:
    """Continue the numbers of additions of tables whose record is behind the watches.

    The record of a table is new if the table was loaded again instead of being restored from a backup.

    Parameters
    ----------
    engine : Engine
        The engine with the record.
    watches : Iterable[Watch]
        All watches.

    Raises
    ------
    EngineError
        The engine does not answer.
    """
    recorded = read_last_numbers(engine)
    known: dict[tuple[str, str], int] = {}
    for watch in watches:
        known[watch.table_key] = max(watch.last_number, known.get(watch.table_key, 0))
    for key, number in known.items():
        if recorded.get(key, 0) < number:
            raise_last_number(engine, *key, number)
