"""The share of the engine that a query gets, by the lane of a request or the work class of a job."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from tap_service.constants import BULK_SECONDS, QUICK_SECONDS
from tap_service.models.work_class import Estimate, SmallReading, WorkClass


class Lane(StrEnum):
    """Where a request waits for its turn.

    ``READING`` is for requests other than queries, which read the engine, the catalogue or a store for a short time.
    ``FETCHING`` prepares queries that wait for uploads or a name service; ``ESTIMATING`` answers /estimate.
    ``LIGHT`` prepares all other queries, and runs queries that certainly read little. ``MEDIUM`` runs queries with a
    short estimate, which may be wrong, ``HEAVY`` queries with a long estimate, and ``BULK`` queries that mostly write
    rows.
    """

    READING = "reading"
    ESTIMATING = "estimating"
    FETCHING = "fetching"
    LIGHT = "light"
    MEDIUM = "medium"
    HEAVY = "heavy"
    BULK = "bulk"


@dataclass(frozen=True, slots=True)
class EngineShare:
    """Settings of ClickHouse for a query; 0 keeps the default of ClickHouse.

    Attributes
    ----------
    niceness : int
        Linux niceness of the query's threads, without effect if the engine lacks the permission to change it.
    max_threads : int
        The maximum number of threads of the query.
    left_out : tuple of str
        Settings of the optimizations that the planner skips.
    """

    niceness: int = 0
    max_threads: int = 0
    left_out: tuple[str, ...] = ()

    def list_settings(self) -> Iterator[tuple[str, int]]:
        """Yield the settings that differ from the engine's defaults."""
        for name, value in (
            ("os_threads_nice_value_query", self.niceness),
            ("max_threads", self.max_threads),
        ):
            if value:
                yield name, value
        for name in self.left_out:
            yield name, 0


ENGINE_SHARES: Mapping[Lane | WorkClass, EngineShare] = {
    Lane.LIGHT: EngineShare(),
    Lane.MEDIUM: EngineShare(niceness=5),
    Lane.HEAVY: EngineShare(niceness=10),
    Lane.BULK: EngineShare(niceness=10),
    WorkClass.SHORT: EngineShare(niceness=10),
    WorkClass.LONG: EngineShare(niceness=15),
    WorkClass.VERY_LONG: EngineShare(niceness=15),
}

#: a query that reads at most this number of rows is as fast with one thread, which costs less: a look-up by id takes
#: 4.1 instead of 5.8 ms of processor time
_MAX_TINY_ROWS = 65_536
#: some optimizations of its plan cost more than they save: of the 8.3 ms of a cone, the removal of unused columns takes
#: 0.2 ms, the choice of a projection 0.3 ms; only look-ups by id need a projection among so few rows
_TINY_SHARE = EngineShare(max_threads=1, left_out=("query_plan_remove_unused_columns",))
_TINY_CONFINED_SHARE = replace(_TINY_SHARE, left_out=(*_TINY_SHARE.left_out, "optimize_use_projections"))


def choose_lane(small_reading: SmallReading | None, estimate: Estimate | None) -> Lane:
    """Return the lane that runs a query: quick queries do not wait behind long ones.

    Parameters
    ----------
    small_reading : SmallReading or None
        What a query that reads little reads; its lane is LIGHT.
    estimate : Estimate or None
        The estimated cost of another query. Much work in the engine is HEAVY, as is unknown work; little work but many
        rows to write is BULK.
    """
    if small_reading is not None:
        return Lane.LIGHT
    if estimate is None:
        return Lane.HEAVY
    writing = estimate.steps.write_seconds if estimate.steps else 0.0
    if estimate.seconds - writing >= QUICK_SECONDS:
        return Lane.HEAVY
    return Lane.MEDIUM if writing < BULK_SECONDS else Lane.BULK


def choose_share(lane: Lane, small_reading: SmallReading | None) -> EngineShare:
    """Return the share of the engine that a query gets.

    Parameters
    ----------
    lane : Lane
        The lane in which the query runs.
    small_reading : SmallReading or None
        An upper bound of what the query reads; None if it may read much.

    Returns
    -------
    EngineShare
        The share of the lane. A LIGHT query that reads at most 65,536 rows gets a single thread, and its plan takes
        less time.
    """
    if small_reading is None or lane is not Lane.LIGHT or small_reading.rows > _MAX_TINY_ROWS:
        return ENGINE_SHARES[lane]
    return _TINY_SHARE if small_reading.is_by_id else _TINY_CONFINED_SHARE
