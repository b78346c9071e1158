"""The estimate of a query, its plan and its fields, from the same preparation as for a run."""

from __future__ import annotations

import uuid
from contextlib import closing
from dataclasses import dataclass

from clickhouse_schema.datatypes import Field
from tap_service.models.work_class import Estimate
from tap_service.services.queries.query_preparation import Costing, QueryPreparation
from tap_service.services.queries.row_limit import RowLimit
from tap_service.services.queries.tap_parameters import TapParameters


@dataclass(frozen=True, slots=True)
class QueryEstimate:
    """The estimated cost of a query, None if the engine does not answer; its plan and its result.

    ``tables``: the qualified names of the tables that the query reads.
    """

    estimate: Estimate | None
    plan: tuple[str, ...]
    fields: tuple[Field, ...]
    tables: tuple[str, ...]
    row_limit: RowLimit
    warnings: tuple[str, ...]


def estimate_query(
    preparation: QueryPreparation, parameters: TapParameters, hard_maxrec: int, *, owner: str | None = None
) -> QueryEstimate:
    """Estimate the query; load and drop its uploaded tables. Raises the errors of ``prepare_query``."""
    query_id = f"sync-{uuid.uuid4().hex}"
    with closing(
        preparation.prepare_query(parameters, query_id, hard_maxrec, owner=owner, costing=Costing.ALWAYS)
    ) as query:
        translation = query.translation
        return QueryEstimate(
            query.estimate,
            (*preparation.describe_memory(translation), *translation.plan),
            translation.fields,
            tuple(dict.fromkeys(entry.qualified_name for entry in translation.tables)),
            query.row_limit,
            translation.warnings,
        )
