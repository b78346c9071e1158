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
    """The estimated cost of a query, its plan and the description of its result.

    Attributes
    ----------
    estimate
        The cost; None if the engine does not answer.
    plan
        The steps in plain English, one per line.
    fields
        The columns of the result.
    tables
        The qualified names of the tables that the query reads.
    row_limit
        The row limit, and its effect on the result.
    warnings
        Notes of the translation.
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
    """Estimate a query; load and drop its uploaded tables.

    Parameters
    ----------
    preparation
        Prepares the query.
    parameters
        The parameters of the request.
    hard_maxrec
        The largest row limit of such a request.
    owner
        The user whose tables the query may read; None for an anonymous client.

    Raises
    ------
    UploadError, InvalidQueryError, ServiceUnavailable, InternalError
        As for ``QueryPreparation.prepare_query``.
    """
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
