"""Jobs that change user tables: one creates indexes, one saves another job's result as a table.

The first has REQUEST=createIndex with TABLE, INDEX and UNIQUE, the second REQUEST=saveTable with TABLE, JOB and
REPLACE. They run like queries; their result is one row that describes the change.
"""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial

import pyarrow as pa

from adql import Translation
from clickhouse_schema.datatypes import CHAR, LONG, Field
from clickhouse_schema.engine_tables.user_table_record import UserTable
from clickhouse_schema.schema_model import Table
from clickhouse_schema.shard_map import ShardStatement
from tap_service.config import Config
from tap_service.models.request_parameters import Pair
from tap_service.models.uws_job import Job
from tap_service.serializers import ResultInfo
from tap_service.service_errors import Conflict, Forbidden, InvalidQueryError, NotFound, ParameterError, UserError
from tap_service.services.queries.query_execution import QueryExecution
from tap_service.services.queries.query_preparation import QueryPreparation
from tap_service.services.queries.row_limit import RowLimit
from tap_service.services.queries.tap_parameters import TapParameters, read_tap_parameters
from tap_service.services.uploads.table_files import descriptor_path
from tap_service.services.user_tables.user_table_indexes import add_indexes
from tap_service.services.user_tables.user_table_requests import UserTableService, translate_table_errors
from tap_service.services.user_tables.user_table_storage import TableChanged
from tap_service.storage.engine.engine import Engine, QueryCancelled, Settings
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


class UserTableJobs:
    """One for each process that executes jobs."""

    def __init__(
        self, config: Config, engine: Engine, stores: JobStores, tables: UserTableService, preparation: QueryPreparation
    ) -> None:
        self._config = config
        self._engine = engine
        self._stores = stores
        self._tables = tables
        self._preparation = preparation

    def read_parameters(self, job: Job) -> TapParameters:
        """Read the parameters as those of a query; its text is the request."""
        own = [pair for pair in job.parameters if pair[0].upper() not in ("REQUEST", "QUERY", "UPLOAD", "LANG")]
        text = " ".join([find_table_request(job.parameters), *(f"{name}={value}" for name, value in own)])
        return read_tap_parameters([*own, ("QUERY", text)], len(text))

    def prepare_execution(self, job: Job, parameters: TapParameters) -> QueryExecution:
        """Build the execution that makes the change. Raises UserError."""
        work = {CREATE_INDEX: self._create_index, SAVE_TABLE: self._save_result}[find_table_request(job.parameters)]
        if job.owner is None:
            raise Forbidden("only users have tables of their own: create the job with a name and password, or a token")
        info = ResultInfo(parameters.query, self._config.title, 1)
        translation = Translation("", {}, _FIELDS, (), None)
        execution = QueryExecution(
            self._engine,
            translation,
            partial(parameters.format.serializer, _FIELDS, info),
            job.query_id,
            RowLimit(1, 1),
        )
        execution.source = _TableChangeSource(self._engine, lambda stop: work(job, job.owner or "", stop))
        return execution

    def _create_index(self, job: Job, owner: str, stop: threading.Event) -> tuple[UserTable, str]:
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
                    if stop.is_set():
                        raise QueryCancelled("the job was stopped")
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

    def _save_result(self, job: Job, owner: str, stop: threading.Event) -> tuple[UserTable, str]:
        given = _group_parameters(job.parameters)
        name = self._tables.parse_table_name(_require_parameter(given, "TABLE"))
        source = self._find_source_job(_require_parameter(given, "JOB"), owner)
        assert source.result is not None  # noqa: S101  (_find_source_job checks it)
        with tempfile.TemporaryFile(dir=self._config.spool_path) as file:
            try:
                for piece in self._stores.results.read_result(source.result.key, 0, source.result.size):
                    file.write(piece)
                    if stop.is_set():
                        raise QueryCancelled("the job was stopped")
            except ResultMissing as error:
                raise NotFound("the result of that job has been lost: run the query again") from error
            file.flush()
            replace, fields = _parse_flag(given, "REPLACE"), self._result_fields(source)
            record = self._tables.save_result(
                owner, name, descriptor_path(file), replace=replace, origin=job.job_id, fields=fields
            )
        return record, f"the result of job {source.job_id} is the table {record.qualified_name}"

    def _result_fields(self, source: Job) -> tuple[Field, ...]:
        """Return the fields of a job's result, with metadata that formats lose; () if its query is no longer valid."""
        try:
            parameters = read_tap_parameters(source.parameters, self._config.max_query_length)
            return self._preparation.result_fields(parameters, source.owner)
        except UserError:
            return ()

    def _find_source_job(self, job_id: str, owner: str) -> Job:
        """Return the job whose result is to be saved, if it has a savable one."""
        try:
            source = self._stores.jobs.get_job(job_id)
        except NoSuchJob as error:
            raise NotFound(f"there is no job {job_id[:60]!r}: it never existed, or has been destroyed") from error
        if source.owner not in (None, owner):
            raise Forbidden("that job is another's")
        if source.result is None:
            raise NotFound(f"that job has no result: it is {source.phase}")
        return check_savable(source, self._config)


def check_savable(source: Job, config: Config) -> Job:
    """Return the job if its result can become a table. Raises Forbidden."""
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


class _TableChangeSource:
    """The row source of a change: makes the change and returns one row."""

    def __init__(self, engine: Engine, work: Callable[[threading.Event], tuple[UserTable, str]]) -> None:
        self._engine = engine
        self._work = work
        self._stopped = threading.Event()

    def stream_batches(
        self,
        sql: str,  # noqa: ARG002 (there is none)
        *,
        query_id: str = "",
        settings: Settings | None = None,  # noqa: ARG002
        batch_rows: int = 16384,  # noqa: ARG002
        on_shard: ShardStatement | None = None,  # noqa: ARG002
    ) -> AbstractContextManager[Iterator[pa.RecordBatch]]:
        """Implement ``RowSource``."""

        @contextmanager
        def rows() -> Iterator[Iterator[pa.RecordBatch]]:
            yield self._run_change(query_id)

        return rows()

    def cancel_query(self, query_id: str) -> None:
        self._stopped.set()
        self._engine.cancel_query(query_id)

    def _run_change(self, query_id: str) -> Iterator[pa.RecordBatch]:
        with translate_table_errors(query_id):
            record, done = self._work(self._stopped)
        values = (record.qualified_name, record.rows, record.size, done)
        yield pa.record_batch(
            [pa.array([value], field.type.arrow) for value, field in zip(values, _FIELDS, strict=True)],
            names=[field.name for field in _FIELDS],
        )


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
