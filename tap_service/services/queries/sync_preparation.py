"""Prepares a query of /sync, and chooses the lane that runs it: quick queries do not wait behind long ones."""

from __future__ import annotations

from tap_service.constants import BULK_SECONDS, QUICK_SECONDS
from tap_service.models.engine_share import ENGINE_SHARES, EngineShare, Lane, choose_small_share
from tap_service.service_errors import ParameterError
from tap_service.services.queries.prepared_query import PreparedQuery
from tap_service.services.queries.query_preparation import Costing, QueryPreparation
from tap_service.services.queries.tap_parameters import TapParameters


def prepare_sync_query(
    preparation: QueryPreparation, parameters: TapParameters, query_id: str, hard_maxrec: int, owner: str | None
) -> PreparedQuery:
    """Prepare a query of /sync. Raises the errors of ``prepare_query``, and ParameterError for a HATS collection."""
    if parameters.format.is_collection:
        raise ParameterError("RESPONSEFORMAT=hats is a collection of files, which jobs write: send it to /async")
    return preparation.prepare_query(parameters, query_id, hard_maxrec, owner=owner, costing=Costing.UNLESS_SMALL)


def choose_lane(query: PreparedQuery) -> Lane:
    """Return LIGHT for a small query, HEAVY for much work in the engine, and BULK for little work but many rows."""
    if query.small_reading is not None:
        return Lane.LIGHT
    if query.estimate is None:
        return Lane.HEAVY
    writing = query.estimate.steps.write_seconds if query.estimate.steps else 0.0
    if query.estimate.seconds - writing >= QUICK_SECONDS:
        return Lane.HEAVY
    return Lane.MEDIUM if writing < BULK_SECONDS else Lane.BULK


def choose_share(query: PreparedQuery, lane: Lane) -> EngineShare:
    """Return the engine's resources for a query that runs in a lane."""
    if lane is Lane.LIGHT and query.small_reading is not None:
        return choose_small_share(query.small_reading)
    return ENGINE_SHARES[lane]
