"""Drops the rows of additions that no watch needs any more, and unmarks tables that are no longer watched."""

from __future__ import annotations

import time
from collections import defaultdict
from contextlib import suppress
from dataclasses import replace
from functools import partial

from clickhouse_schema.engine_tables import addition_record
from clickhouse_schema.engine_tables.addition_record import Addition
from tap_service.config import Config
from tap_service.models.timestamps import add_seconds, now
from tap_service.models.watch import RunState, Watch
from tap_service.storage.engine.engine import Engine
from tap_service.storage.watch_store import NoSuchWatch, WatchStore

#: interval of sweeps, in seconds
_SWEEP_SECONDS = 30.0
_DAY_SECONDS = 86_400


class AdditionSweep:
    """The sweep of a process that runs watches. Methods raise EngineError, WatchStoreUnavailable."""

    def __init__(self, config: Config, engine: Engine, watches: WatchStore) -> None:
        self._days = config.watch_days
        self._engine = engine
        self._watches = watches
        self._swept_at = -_SWEEP_SECONDS
        self._unwatched: set[tuple[str, str]] = set()

    def sweep_when_due(self) -> None:
        """Sweep if the last sweep was long enough ago."""
        if time.monotonic() - self._swept_at >= _SWEEP_SECONDS:
            self._swept_at = time.monotonic()
            self.sweep_additions()

    def sweep_additions(self) -> None:
        """Drop the rows of additions that are too old, or that no watch needs, and mark missed runs."""
        kept = addition_record.read_kept_additions(self._engine)  # before the watches, so that none is newer
        watches = self._watches.list_watches()
        self._unmark_tables(watches)
        by_table: dict[str, list[Watch]] = defaultdict(list)
        for watch in watches:
            by_table[watch.table].append(watch)
        over = []
        for addition in kept:
            needing = [watch for watch in by_table[addition.table_name] if _needs(watch, addition)]
            is_old = add_seconds(addition.finished, self._days * _DAY_SECONDS) <= now()
            for watch in needing if is_old else ():
                with suppress(NoSuchWatch):
                    self._watches.change_watch(watch.watch_id, partial(_miss_run, addition=addition))
            if is_old or not needing:
                over.append(addition.addition_id)
        # rows of killed loads: a load that is started again records its rows again
        over += addition_record.find_unrecorded(self._engine, self._days * _DAY_SECONDS)
        addition_record.drop_rows(self._engine, over)

    def _unmark_tables(self, watches: list[Watch]) -> None:
        """Unmark tables that were not watched in the previous sweep either; a watch may be about to be created."""
        unwatched = addition_record.read_watched(self._engine) - {watch.table_key for watch in watches}
        for key in unwatched & self._unwatched:
            addition_record.mark_watched(self._engine, *key, is_watched=False)
        self._unwatched = unwatched


def _needs(watch: Watch, addition: Addition) -> bool:
    run = watch.find_run(addition.addition_id)
    if run is None:
        return addition.number > watch.since
    return run.is_open or run.state is RunState.FAILED


def _miss_run(watch: Watch, addition: Addition) -> Watch:
    reason = "its rows are no longer stored: the service keeps rows for a limited time"
    run = watch.find_run(addition.addition_id)
    if run is None or run.state is not RunState.WAITING:
        return watch
    missed = replace(run, state=RunState.MISSED, since=now(), error=reason)
    return replace(watch.change_run(addition.addition_id, lambda _: missed), last_error=reason)
