"""Combines simultaneous look-ups of complete rows into one statement for each table.

No look-up waits for others to arrive: it starts at once if no statement of its kind runs. Look-ups that arrive
meanwhile start together when that statement ends. If a statement fails or is cancelled, its other look-ups run
separately.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from adql import StoredRowStatement, emit_look_ups
from adql.ir import Literal
from clickhouse_schema.row_decoder import RowStoreError, decode_rows
from tap_service.storage.engine.engine import Engine, EngineError, QueryCancelled, Settings

#: Look-ups with more ids run separately, so that no other look-up waits for them.
_MAX_IDS = 16

_MAX_JOINED = 64

#: Ids may repeat: a combined result with as many rows is not used.
_MAX_ROWS = 8192


@dataclass(eq=False, slots=True)
class _LookUp:
    """A look-up. ``turn`` is set when it leads ``members``, when it has ``rows``, or when it must run separately."""

    statement: StoredRowStatement
    query_id: str
    #: equal for look-ups that can be combined
    kind: Hashable
    turn: threading.Event = field(default_factory=threading.Event)
    members: Sequence[_LookUp] = ()
    rows: pa.RecordBatch | None = None
    is_cancelled: bool = False

    @property
    def ids(self) -> dict[object, Literal]:
        """The ids by value."""
        look_up = self.statement.look_up
        return {} if look_up is None else {literal.value: literal for literal in look_up.ids}


class RowLookUps:
    """Combines the look-ups of a process. Thread-safe.

    Parameters
    ----------
    engine
        Runs the combined statements.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._lock = threading.Lock()
        #: for each kind that runs, the look-ups that wait for its end
        self._waiting: dict[Hashable, list[_LookUp]] = {}
        #: waiting look-ups by query id, including look-ups whose statement runs
        self._asked: dict[str, _LookUp] = {}

    def fetch_rows(self, statement: StoredRowStatement, query_id: str, settings: Settings) -> pa.RecordBatch | None:
        """Return the result of a look-up.

        Parameters
        ----------
        statement
            The look-up.
        query_id
            The engine's name for the query.
        settings
            The engine's settings for it.

        Returns
        -------
        pyarrow.RecordBatch or None
            The rows; None if the look-up must run separately, because it cannot be combined or the statement failed.

        Raises
        ------
        QueryCancelled
            The look-up or the statement was cancelled.
        """
        look_up = statement.look_up
        if look_up is None or len(look_up.ids) > _MAX_IDS:
            return None
        kind = (look_up.storage_sql, statement.columns, statement.layout.column, frozenset(settings.items()))
        asked = _LookUp(statement, query_id, kind)
        self._wait_for_turn(asked)
        if asked.is_cancelled:
            raise QueryCancelled("the query was cancelled")
        if asked.members:
            try:
                self._ask_engine(asked.members, settings)
            finally:
                self._start_next(kind)
                for member in asked.members[1:]:
                    member.turn.set()
        return asked.rows

    def cancel_query(self, query_id: str) -> None:
        """Cancel a waiting look-up. The engine knows a statement by the query id of its first look-up."""
        with self._lock:
            asked = self._asked.get(query_id)
            if asked is None or asked.members:
                return
            asked.is_cancelled = True
            waiting = self._waiting.get(asked.kind, [])
            if asked in waiting:
                waiting.remove(asked)
        asked.turn.set()

    def _wait_for_turn(self, asked: _LookUp) -> None:
        with self._lock:
            if asked.kind not in self._waiting:
                self._waiting[asked.kind] = []
                asked.members = (asked,)
                return
            self._waiting[asked.kind].append(asked)
            self._asked[asked.query_id] = asked
        asked.turn.wait()
        with self._lock:
            del self._asked[asked.query_id]

    def _start_next(self, kind: Hashable) -> None:
        """After the end of a statement, let the first waiting look-up ask for all waiting look-ups."""
        with self._lock:
            waiting = self._waiting.pop(kind)
            if waiting:
                self._waiting[kind] = waiting[_MAX_JOINED:]
                waiting[0].members = waiting[:_MAX_JOINED]
                waiting[0].turn.set()

    def _ask_engine(self, members: Sequence[_LookUp], settings: Settings) -> None:
        """Give each look-up its rows; none if the statement fails."""
        first = members[0]
        ids = {value: literal for member in members for value, literal in member.ids.items()}
        sql = emit_look_ups(first.statement, tuple(ids.values()), _MAX_ROWS)
        try:
            with self._engine.stream_batches(sql, query_id=first.query_id, settings=settings) as batches:
                stored = pa.chunked_array([batch.column(0) for batch in batches], pa.string()).combine_chunks()
            if len(stored) < _MAX_ROWS:
                _share_rows(members, stored)
        except QueryCancelled:
            raise
        except (EngineError, RowStoreError):
            return


def take_columns(batch: pa.RecordBatch, statement: StoredRowStatement) -> pa.RecordBatch:
    """Return the result's columns of a batch whose first column is a stored row."""
    names = [name for name in statement.columns if isinstance(name, str)]
    decoded = iter(decode_rows(batch.column(0), statement.layout, names))
    arrays = [batch.column(each) if isinstance(each, int) else next(decoded) for each in statement.columns]
    return pa.RecordBatch.from_arrays(arrays, [f"c{number}" for number in range(len(arrays))])


def _share_rows(members: Sequence[_LookUp], stored: pa.Array) -> None:
    """Give each look-up the rows of its ids, up to its own limit."""
    statement = members[0].statement
    assert statement.look_up is not None  # noqa: S101  only look-ups are combined
    [found] = decode_rows(stored, statement.layout, [statement.look_up.column])
    indexes: dict[object, list[int]] = {}
    for index, value in enumerate(found.to_pylist()):
        indexes.setdefault(value, []).append(index)
    order: list[int] = []
    spans: list[tuple[int, int]] = []
    for member in members:
        own = [index for value in member.ids for index in indexes.get(value, ())][: member.statement.query.limit]
        spans.append((len(order), len(own)))
        order += own
    rows = take_columns(pa.RecordBatch.from_arrays([stored.take(pa.array(order, pa.int64()))], ["row"]), statement)
    for member, (start, count) in zip(members, spans, strict=True):
        member.rows = rows.slice(start, count)
