"""The estimate of a query, its plan and its fields, from the same preparation as for a run."""

from __future__ import annotations

import uuid
from dataclasses import dataclass

from clickhouse_schema.datatypes import Field
from tap_service.models.work_class import Estimate
from tap_service.services.queries.query_preparation import QueryPreparation
from tap_service.services.queries.row_limit import RowLimit
from tap_service.services.queries.tap_parameters import TapParameters


@dataclass(frozen=True, slots=True)
class QueryEstimate:
    """``estimate`` is None if the engine does not answer; ``fields`` are the result's, ``tables`` those it reads."""

    estimate: Estimate | None
    plan: tuple[str, ...]
    fields: tuple[Field, ...]
    tables: tuple[str, ...]
    row_limit: RowLimit
    warnings: tuple[str, ...]


def estimate_query(
    preparation: QueryPreparation, parameters: TapParameters, hard_maxrec: int, *, owner: str | None = None
) -> QueryEstimate:
    """Estimate the query; load and drop its uploaded tables. Raises as ``QueryPreparation.prepare_query``."""
    execution = preparation.prepare_query(parameters, f"sync-{uuid.uuid4().hex}", hard_maxrec, owner=owner)
    try:
        translation = execution.translation
        tables = tuple(dict.fromkeys(entry.qualified_name for entry in translation.tables))
        return QueryEstimate(
            preparation.estimate_cost(execution),
            (*preparation.describe_memory(translation), *translation.plan),
            translation.fields,
            tables,
            execution.row_limit,
            translation.warnings,
        )
    finally:
        execution.close()
