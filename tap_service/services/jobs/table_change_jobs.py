"""Jobs that change user tables: one creates indexes, one saves another job's result as a table.

The first has REQUEST=createIndex with TABLE, INDEX and UNIQUE, the second REQUEST=saveTable with TABLE, JOB and
REPLACE. Their result is one row that describes the change.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from contextlib import closing

import pyarrow as pa

from clickhouse_schema.datatypes import CHAR, LONG, Field
from clickhouse_schema.engine_tables.user_table_record import UserTable
from clickhouse_schema.schema_model import Table
from tap_service.config import Config
from tap_service.models.query_report import QueryReport
from tap_service.models.request_parameters import Pair
from tap_service.models.uws_job import Job, JobResult
from tap_service.serializers import OK, ResultInfo
from tap_service.service_errors import (
    Conflict,
    Forbidden,
    InvalidQueryError,
    NotFound,
    ParameterError,
    ServiceError,
    UserError,
)
from tap_service.services.jobs.job_execution import JobCompletion, RunningJob
from tap_service.services.jobs.job_monitor import JobMonitor
from tap_service.services.jobs.job_progress import JobProgress
from tap_service.services.jobs.preview_writer import store_preview
from tap_service.services.queries.document_writer import DocumentWriter
from tap_service.services.queries.query_preparation import QueryPreparation
from tap_service.services.queries.query_run import EngineClock
from tap_service.services.queries.tap_parameters import TapParameters, read_tap_parameters
from tap_service.services.uploads.table_file_reader import descriptor_path
from tap_service.services.user_tables.user_table_indexes import add_indexes
from tap_service.services.user_tables.user_table_service import UserTableService, translate_table_errors
from tap_service.services.user_tables.user_table_storage import TableChanged
from tap_service.storage.engine.engine import Engine
from tap_service.storage.jobs.job_store import NoSuchJob
from tap_service.storage.open_storage import JobStores
from tap_service.storage.results.result_store import ResultMissing

CREATE_INDEX, SAVE_TABLE = "createIndex", "saveTable"

#: extensions of formats that preserve all values; FITS has only ASCII text
_SAVABLE_EXTENSIONS = ("vot", "xml", "parquet", "arrow", "arrows", "ecsv")
_MAX_ATTEMPTS = 3

_FIELDS = (
    Field("table_name", CHAR, description="The table.", nullable=False),
    Field("n_rows", LONG, description="Rows that it has now.", nullable=False),
    Field("n_bytes", LONG, unit="byte", description="Disk that it takes now.", nullable=False),
    Field("done", CHAR, description="What was done.", nullable=False),
)


def find_table_request(pairs: Sequence[Pair]) -> str:
    """Return which of these requests a job's parameters make; '' for a query."""
    given = [value.strip().lower() for name, value in pairs if name.upper() == "REQUEST"]
    return next((name for name in (CREATE_INDEX, SAVE_TABLE) if given == [name.lower()]), "")


class TableChange:
    """A change of a user table at work; implements ``StoppableWork``."""

    def __init__(self, engine: Engine, query_id: str) -> None:
        self._engine = engine
        self._query_id = query_id
        self._reason: ServiceError | None = None

    def stop(self, reason: ServiceError) -> None:
        self._reason = self._reason or reason
        self._engine.cancel_query(self._query_id)

    def check_stopped(self) -> None:
        """Raise the reason for which the change was stopped."""
        if self._reason is not None:
            raise self._reason


class TableChangeJobs:
    """Implements ``JobExecutor``."""

    def __init__(
        self,
        config: Config,
        engine: Engine,
        stores: JobStores,
        tables: UserTableService,
        preparation: QueryPreparation,
        monitor: JobMonitor,
    ) -> None:
        self._config = config
        self._engine = engine
        self._stores = stores
        self._tables = tables
        self._preparation = preparation
        self._monitor = monitor

    def read_parameters(self, job: Job) -> TapParameters:
        """Read the parameters as parameters of a query whose text is the request."""
        own = [pair for pair in job.parameters if pair[0].upper() not in ("REQUEST", "QUERY", "UPLOAD", "LANG")]
        text = " ".join([find_table_request(job.parameters), *(f"{name}={value}" for name, value in own)])
        return read_tap_parameters([*own, ("QUERY", text)], len(text))

    def execute_job(self, job: Job, parameters: TapParameters, report: QueryReport) -> JobCompletion:
        """Make the change, and write the row that describes it. Raises UserError."""
        make_change = {CREATE_INDEX: self._create_index, SAVE_TABLE: self._save_result}[
            find_table_request(job.parameters)
        ]
        if job.owner is None:
            raise Forbidden("only users have their own tables: create the job with a name and password, or a token")
        change, clock = TableChange(self._engine, job.query_id), EngineClock()
        progress = JobProgress(report, 1, None)
        with self._monitor.watch(RunningJob(job, change, progress)):
            try:
                with translate_table_errors(job.query_id), clock.running():
                    table, done = make_change(job, job.owner, change)
            except ServiceError:
                change.check_stopped()  # a cancelled query fails in several ways
                raise
            finally:
                report.seconds["engine"] = clock.seconds
            size = self._write_row(job, parameters, report, (table.qualified_name, table.rows, table.size, done))
        key, output_format = job.result_key, parameters.format
        result = JobResult(key, size, output_format.content_type, output_format.extension, key)
        return JobCompletion(result, progress.info_at_end())

    def _write_row(
        self, job: Job, parameters: TapParameters, report: QueryReport, values: tuple[str | int, ...]
    ) -> int:
        """Write the result of a job, and its preview; return the bytes of the result."""
        row = pa.record_batch(
            [pa.array([value], field.type.arrow) for value, field in zip(values, _FIELDS, strict=True)],
            names=[field.name for field in _FIELDS],
        )
        results, title = self._stores.results, self._config.title
        store_preview(results, job, _FIELDS, parameters.query, title, row)
        writer = results.create_result(job.result_key)
        try:
            serializer = parameters.format.serializer(_FIELDS, ResultInfo(parameters.query, title, 1))
            with closing(serializer):
                document = DocumentWriter(serializer, writer, report)
                document.write_rows(row)
                report.rows = 1
                document.finish(OK, report.seconds["engine"])
            return writer.commit()
        finally:
            writer.discard()

    def _create_index(self, job: Job, owner: str, change: TableChange) -> tuple[UserTable, str]:
        given = _group_parameters(job.parameters)
        name, wanted = (_require_parameter(given, key) for key in ("TABLE", "INDEX"))
        unique = _parse_flag(given, "UNIQUE")
        storage = self._tables.storage
        base = storage.get_table(owner, self._tables.parse_table_name(name))
        for _ in range(_MAX_ATTEMPTS):
            table, done = add_indexes(base.table, wanted, unique=unique)
            if table == base.table:
                return base, done
            self._check_positions(base, table)
            try:
                with storage.staging_table(table, base.storage) as filled:
                    storage.copy_rows(base, table, filled, job.query_id)
                    change.check_stopped()
                    return storage.exchange_rows(base, table, filled), done
            except TableChanged as error:
                base = error.now
        raise Conflict(f"{base.qualified_name} keeps changing: create the index when it does not")

    def _check_positions(self, base: UserTable, table: Table) -> None:
        if table.layout.position and table.layout.position != base.table.layout.position:
            outside = self._tables.storage.count_invalid_positions(base, table.layout.position)
            if outside:
                raise InvalidQueryError(
                    f"{' and '.join(table.layout.position)} are no positions: {outside} rows are outside longitudes of "
                    "0 to 360 and latitudes of -90 to 90 degrees. For an index of both write "
                    f"INDEX=values({','.join(table.layout.position)})"
                )

    def _save_result(self, job: Job, owner: str, change: TableChange) -> tuple[UserTable, str]:
        given = _group_parameters(job.parameters)
        name = self._tables.parse_table_name(_require_parameter(given, "TABLE"))
        source = self._find_source_job(_require_parameter(given, "JOB"), owner)
        assert source.result is not None  # noqa: S101  (_find_source_job checks it)
        with tempfile.TemporaryFile(dir=self._config.spool_path) as file:
            try:
                for piece in self._stores.results.read_result(source.result.key, 0, source.result.size):
                    file.write(piece)
                    change.check_stopped()
            except ResultMissing as error:
                raise NotFound("the result of that job has been lost: run the query again") from error
            file.flush()
            replace, fields = _parse_flag(given, "REPLACE"), self._result_fields(source)
            record = self._tables.save_result(
                owner, name, descriptor_path(file), replace=replace, origin=job.job_id, fields=fields
            )
        return record, f"the result of job {source.job_id} is the table {record.qualified_name}"

    def _result_fields(self, source: Job) -> tuple[Field, ...]:
        """Return the fields of a job's result with all descriptions; () if its query is no longer valid."""
        try:
            parameters = read_tap_parameters(source.parameters, self._config.max_query_length)
            return self._preparation.translate_for(parameters, source.owner).fields
        except UserError:
            return ()

    def _find_source_job(self, job_id: str, owner: str) -> Job:
        """Return the job whose result is to be saved, if it has a savable one."""
        try:
            source = self._stores.jobs.get_job(job_id)
        except NoSuchJob as error:
            raise NotFound(f"there is no job {job_id[:60]!r}: it never existed, or has been destroyed") from error
        if source.owner not in (None, owner):
            raise Forbidden("that job belongs to another user")
        if source.result is None:
            raise NotFound(f"that job has no result: it is {source.phase}")
        return check_savable(source, self._config)


def check_savable(source: Job, config: Config) -> Job:
    """Check that the result of a job can become a user table.

    Parameters
    ----------
    source : Job
        A job with a result.
    config : Config
        ``user_table_file`` is the maximum size of the result in bytes.

    Returns
    -------
    Job
        The same job.

    Raises
    ------
    Forbidden
        The format of the result does not preserve all values, or the result is too large.
    """
    assert source.result is not None  # noqa: S101
    if source.result.extension not in _SAVABLE_EXTENSIONS:
        raise Forbidden(
            f"the result is {source.result.content_type}, which does not preserve all values: "
            "run the query again with RESPONSEFORMAT=votable, parquet, arrow or ecsv, and save that"
        )
    if source.result.size > config.user_table_file:
        raise Forbidden(
            f"the result has {source.result.size} bytes, and this service makes tables from results of up to "
            f"{config.user_table_file} bytes: ask for fewer rows or columns, or for RESPONSEFORMAT=parquet, which is "
            "smaller"
        )
    return source


def _group_parameters(pairs: Sequence[Pair]) -> dict[str, str]:
    return {name.upper(): value.strip() for name, value in pairs if value.strip()}


def _require_parameter(given: dict[str, str], name: str) -> str:
    if name not in given:
        raise ParameterError(f"the parameter {name} is missing")
    return given[name]


def _parse_flag(given: dict[str, str], name: str) -> bool:
    word = given.get(name, "false").lower()
    if word not in ("true", "false", "1", "0"):
        raise ParameterError(f"{name} is true or false")
    return word in ("true", "1")
