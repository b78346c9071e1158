"""Jobs that are runs of watches: their query reads the rows of one addition, and their result goes into a user table.

The rows are added with the token of the run in the same step (``UserTableStorage.append_rows``), so a job that is
executed again after its worker died adds them once.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence

from clickhouse_schema.datatypes import LONG, Field
from clickhouse_schema.engine_tables.addition_record import Addition, find_addition, read_kept_ids
from tap_service.config import Config
from tap_service.models.uws_job import Job
from tap_service.models.watch import read_addition_id
from tap_service.service_errors import InvalidQueryError, ParameterError
from tap_service.services.queries.query_run import QueryRun
from tap_service.services.uploads.table_file_reader import descriptor_path
from tap_service.services.user_tables.user_table_service import UserTableService
from tap_service.storage.engine.engine import Engine
from tap_service.storage.results.result_store import ResultStore

#: the column of a table of results with the number of the addition
ADDITION_COLUMN = "addition"


def result_table_fields(fields: Sequence[Field]) -> tuple[Field, ...]:
    """Return the columns of the user table for the results of a watch.

    Parameters
    ----------
    fields : Sequence[Field]
        The columns of the query's result.

    Returns
    -------
    tuple[Field, ...]
        These columns, and ADDITION_COLUMN with the number of the addition.

    Raises
    ------
    ParameterError
        The query has a column of that name.
    """
    if any(field.name.lower() == ADDITION_COLUMN for field in fields):
        raise ParameterError(
            f"the query has a column {ADDITION_COLUMN}, and the results get one of this name with the number of the "
            "addition: give it another name by AS"
        )
    described = "Number of the addition to the watched table with which the row came."
    return (*fields, Field(ADDITION_COLUMN, LONG, description=described, nullable=False))


class WatchJobs:
    """Prepares and stores the runs of watches; one object for each process that executes jobs."""

    def __init__(self, config: Config, engine: Engine, results: ResultStore, tables: UserTableService) -> None:
        self._config = config
        self._engine = engine
        self._results = results
        self._tables = tables

    def find_addition(self, job: Job) -> Addition | None:
        """Return the addition whose rows a job reads; None if no watch made it. Raises InvalidQueryError."""
        if job.watch is None:
            return None
        found = find_addition(self._engine, job.watch.addition_id)
        if found is None:
            raise InvalidQueryError("the rows of this addition are kept no more, so the watch cannot run on them")
        return found

    def add_result(self, job: Job, run: QueryRun, size: int) -> None:
        """Add the result of a run, a file of ``size`` bytes, to its table. Raises UserError, ServiceUnavailable."""
        if job.watch is None or job.owner is None:
            return
        if run.report.status == "OVERFLOW":
            raise InvalidQueryError(
                f"the addition gives more than {run.query.row_limit.limit:,} rows, and none was added to "
                f"mydb.{job.watch.result_table}: choose fewer by the query of the watch"
            )
        if not run.report.rows:
            return
        with tempfile.TemporaryFile(dir=self._config.spool_path) as file:
            for piece in self._results.read_result(job.result_key, 0, size):
                run.check_stopped()
                file.write(piece)
            file.flush()
            self._tables.append_result(
                job.owner,
                job.watch.result_table,
                descriptor_path(file),
                result_table_fields(run.query.translation.fields),
                token=job.watch.token,
                can_recur=self._find_recurrable(),
                constant={ADDITION_COLUMN: job.watch.number},
            )

    def _find_recurrable(self) -> Callable[[str], bool]:
        """Return a predicate of tokens: can the run be executed again? It can while the rows of its addition exist."""
        kept = read_kept_ids(self._engine)
        return lambda token: read_addition_id(token) in kept
