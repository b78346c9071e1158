"""The numbers of additions, which watches compare, and which messages and results state: none comes twice."""

from __future__ import annotations

from collections.abc import Iterable

from clickhouse_schema.engine_tables.addition_record import raise_last_number, read_last_numbers
from tap_service.models.watch import Watch
from tap_service.storage.engine.engine import Engine


def continue_numbers(engine: Engine, watches: Iterable[Watch]) -> None:
    """Let the numbers of additions go on where watches are ahead: the record of tables that were not restored is new.

    Raises EngineError.
    """
    recorded = read_last_numbers(engine)
    known: dict[tuple[str, str], int] = {}
    for watch in watches:
        known[watch.table_key] = max(watch.last_number, known.get(watch.table_key, 0))
    for key, number in known.items():
        if recorded.get(key, 0) < number:
            raise_last_number(engine, *key, number)
