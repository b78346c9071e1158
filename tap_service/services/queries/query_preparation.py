"""Prepares the query of a request, for /sync, jobs and estimates."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from enum import Enum, auto
from functools import partial

import numpy as np
from numpy.typing import NDArray

from adql import OBJECT_NAME_FUNCTIONS, AdqlErrors, AdqlSemanticError, Translation
from clickhouse_schema.catalogue import Catalogue, TableEntry
from clickhouse_schema.engine_tables.addition_record import Addition, find_addition
from clickhouse_schema.hats.hats_error import HatsError
from tap_service.config import Config
from tap_service.constants import MAX_ESTIMATED_CHARACTERS, PRODUCT, UNLIMITED_MAXREC
from tap_service.hats.writing.collection_archive import CollectionArchive
from tap_service.hats.writing.result_table import describe_result_table
from tap_service.models.timestamps import format_instant, now
from tap_service.models.uws_job import Job
from tap_service.models.work_class import Estimate, ResultRows, SmallReading
from tap_service.scratch_files import Budget, ScratchSpace
from tap_service.serializers import ResultInfo, Serializer
from tap_service.serializers.output_formats import TooManyColumnsError
from tap_service.service_errors import InvalidQueryError, ServiceError, ServiceUnavailable
from tap_service.services.catalogue.catalogue_cache import CatalogueCache
from tap_service.services.estimates.estimator import Estimator
from tap_service.services.estimates.row_density import RowDensity
from tap_service.services.queries.name_resolver import NameResolver
from tap_service.services.queries.prepared_query import PreparedQuery, RowSource
from tap_service.services.queries.row_limit import RowLimit, apply_row_limit
from tap_service.services.queries.row_look_ups import RowLookUps
from tap_service.services.queries.sesame_resolver import SesameResolver
from tap_service.services.queries.stored_row_source import StoredRowSource
from tap_service.services.queries.tap_parameters import TapParameters, read_tap_parameters
from tap_service.services.queries.thrifty_source import ThriftySource
from tap_service.services.translation.translator import Translator, is_long
from tap_service.services.uploads.upload_loader import UploadLoader
from tap_service.storage.engine.engine import Engine, EngineError
from tap_service.storage.engine.memory_settings import choose_memory_settings, find_memory_of_join
from tap_service.storage.engine.query_tables import upload_table_name
from tap_service.storage.jobs.job_store import JobStoreUnavailable

_log = logging.getLogger("skyhouse")

#: Of a job's id, in the name of its collection, which LSDB appends to the names of columns
_NAME_CHARACTERS = 8


class Costing(Enum):
    """Which estimates of a query's cost its preparation makes."""

    NONE = auto()
    #: if the query reads little, only what it reads at most
    UNLESS_SMALL = auto()
    ALWAYS = auto()


@dataclass(frozen=True, slots=True)
class _QueryTables:
    """The tables that a query may read: its owner's, its uploads, and perhaps only an addition to one of them."""

    owner: str | None
    uploads: tuple[TableEntry, ...] = ()
    addition: Addition | None = None


class QueryPreparation:
    """Loads uploads, translates queries and estimates them. Thread-safe.

    Calls block, some for as long as an upload or a name service takes (see ``may_wait``). One per process.

    Attributes
    ----------
    names
        Finds objects by name, also for ``ivo_simbadpoint``.
    """

    def __init__(
        self,
        config: Config,
        engine: Engine,
        catalogue_cache: CatalogueCache,
        translator: Translator,
        estimator: Estimator,
        uploads: UploadLoader,
    ) -> None:
        self._config = config
        self._engine = engine
        self._catalogue_cache = catalogue_cache
        self._translator = translator
        self._estimator = estimator
        self._uploads = uploads
        self._look_ups = RowLookUps(engine)
        self._scratch = ScratchSpace(config.spool_path, Budget(config.spool_disk))
        self.names = NameResolver(engine, SesameResolver(config.sesame_url) if config.sesame_url else None)

    def prepare_query(
        self,
        parameters: TapParameters,
        query_id: str,
        hard_maxrec: int,
        *,
        owner: str | None = None,
        costing: Costing = Costing.NONE,
        addition: Addition | None = None,
    ) -> PreparedQuery:
        """Load the uploaded tables and translate the query.

        Parameters
        ----------
        parameters
            The parameters of the request.
        query_id
            The engine's name for the query.
        hard_maxrec
            The largest row limit of such a request; a collection has none.
        owner
            The user whose tables the query may read; None for an anonymous client.
        costing
            Which estimates the caller needs.
        addition
            Read only the rows of this addition from the table to which it was made.

        Returns
        -------
        PreparedQuery
            The caller closes it.

        Raises
        ------
        UploadError
            An uploaded table cannot be fetched or read.
        InvalidQueryError
            The query cannot be translated, or its result does not fit the format.
        ServiceUnavailable
            The machine is too busy to translate the query, or the service is shutting down.
        InternalError
            A translator process has failed.
        """
        started = time.monotonic()
        limit, hard_maxrec = self._choose_row_limit(parameters, hard_maxrec)
        uploads = self._uploads.load_tables(parameters.uploads, query_id) if parameters.uploads else None
        loaded = time.monotonic()
        try:
            tables = _QueryTables(owner, uploads.entries if uploads else (), addition)
            translation = self._translate_query(parameters.query, limit, tables)
            if uploads is not None:
                translation = replace(translation, warnings=(*translation.warnings, *uploads.notes))
            small = self._find_small_reading(translation) if costing is Costing.UNLESS_SMALL else None
            query = self._build_query(parameters, translation, query_id, limit, hard_maxrec, small)
            translated = time.monotonic()
            is_costed = costing is Costing.ALWAYS or (costing is Costing.UNLESS_SMALL and small is None)
            estimate = self._estimate_cost(query) if is_costed else None
        except BaseException:
            if uploads is not None:
                uploads.drop_tables()
            raise
        self._catalogue_cache.note_use(owner, translation.tables)
        seconds = {"uploads": loaded - started} if uploads is not None else {}
        seconds["translate"] = translated - loaded
        return replace(query, uploads=uploads, estimate=estimate, seconds=seconds)

    def _choose_row_limit(self, parameters: TapParameters, hard_maxrec: int) -> tuple[int, int]:
        """Return the row limit of a request, and its maximum; a collection has none unless MAXREC asks for it."""
        default = self._config.default_maxrec
        if parameters.format.is_collection:
            hard_maxrec = default = UNLIMITED_MAXREC
        return min(default if parameters.maxrec is None else parameters.maxrec, hard_maxrec), hard_maxrec

    def _build_query(
        self,
        parameters: TapParameters,
        translation: Translation,
        query_id: str,
        limit: int,
        hard_maxrec: int,
        small: SmallReading | None,
    ) -> PreparedQuery:
        try:
            parameters.format.check_columns(len(translation.fields))
        except TooManyColumnsError as error:
            raise InvalidQueryError(str(error)) from error
        # a region's rows are counted by its cover, which took the time of the translation
        is_slow = is_long(parameters.query) and translation.cells
        is_uncut = small is not None and small.rows <= limit
        rows = None if is_slow or is_uncut else self._estimate_result_rows(translation)
        limits = RowLimit(limit, hard_maxrec, self._config.async_hard_maxrec)
        row_limit = apply_row_limit(limits, rows, translation, parameters.query)
        info = self._build_result_info(parameters, translation, row_limit)
        memory = self._config.query_memory
        source: RowSource = ThriftySource(self._engine, memory)
        if translation.stored_rows is not None:
            source = StoredRowSource(self._engine, translation.stored_rows, self._look_ups)
        return PreparedQuery(
            query_id,
            translation,
            row_limit,
            source,
            self._choose_serializer(parameters, translation, info, query_id),
            memory=memory,
            small_reading=small,
        )

    def _choose_serializer(
        self, parameters: TapParameters, translation: Translation, info: ResultInfo, query_id: str
    ) -> Callable[[], Serializer]:
        """Return what makes the serializer; a collection needs a position, and puts the rows into a table first."""
        make = partial(parameters.format.serializer, translation.fields, info, self._scratch)
        if not parameters.format.is_collection:
            return make
        name = f"job_{query_id.removeprefix('async-')[:_NAME_CHARACTERS]}"
        table_name = upload_table_name(query_id, len(parameters.uploads))
        try:
            describe_result_table(name, table_name, translation.fields, info.query, info.citations, info.rights)
        except HatsError as error:
            raise InvalidQueryError(str(error)) from error
        return partial(
            CollectionArchive,
            *make.args,
            engine=self._engine,
            name=name,
            table_name=table_name,
            settings=choose_memory_settings(self._config.query_memory),
        )

    def translate_for(self, parameters: TapParameters, owner: str | None) -> Translation:
        """Translate a query without uploads, to learn what it reads and returns.

        Parameters
        ----------
        parameters
            The query. Its MAXREC does not matter: do not run the SQL, which returns no more than one row.
        owner
            The user whose tables the query may read; None for an anonymous client.

        Raises
        ------
        InvalidQueryError, ServiceUnavailable, InternalError
            As for ``prepare_query``.
        """
        return self._translate_query(parameters.query, 0, _QueryTables(owner))

    def current_data_version(self) -> int:
        """Return a number that changes with each change of the published tables. Raises EngineError."""
        self._catalogue_cache.refresh()
        return self._catalogue_cache.snapshot.version

    def estimate_job_cost(self, job: Job) -> Estimate | None:
        """Estimate the cost of a job before it is queued.

        Parameters
        ----------
        job
            The job, with its parameters and owner. The job of a watch reads only its addition.

        Returns
        -------
        Estimate or None
            The estimate. None for a query that takes long to translate, which is estimated when it starts, for a query
            that cannot be prepared, which fails when it starts, and if the engine cannot estimate it now.

        Raises
        ------
        EngineError
            The addition of a watch cannot be read.
        """
        try:
            parameters = read_tap_parameters(job.parameters, self._config.max_query_length)
            if needs_other_services(parameters) or len(parameters.query) > MAX_ESTIMATED_CHARACTERS:
                return None
            hard_maxrec = self._config.async_hard_maxrec
            addition = find_addition(self._engine, job.watch.addition_id) if job.watch else None
            with closing(
                self.prepare_query(
                    parameters, "", hard_maxrec, owner=job.owner, costing=Costing.ALWAYS, addition=addition
                )
            ) as query:
                return query.estimate
        except ServiceError:
            return None

    def estimate_row_spread(self, translation: Translation, entry: TableEntry) -> tuple[int, NDArray[np.float64]]:
        """Return the distribution of the rows of one table that a query reads. Raises EngineError.

        Returns
        -------
        (int, NDArray)
            A HEALPix order, and the number of rows in each NESTED cell of this order, shape (12 * 4**order,).
        """
        return self._estimator.find_rows_reached(translation, entry, self._catalogue_cache.snapshot.version)

    def estimate_kept_bytes(self, translation: Translation) -> RowDensity:
        """Estimate the memory of the rows that the query's cross-matches keep. Raises EngineError.

        Returns
        -------
        RowDensity
            Bytes, instead of rows, by the cells of the kept rows; 0 for a query without joins.
        """
        return self._estimator.find_kept_bytes(translation, self._catalogue_cache.snapshot.version)

    def describe_memory(self, translation: Translation) -> tuple[str, ...]:
        """Return a line for the plan if the query's cross-matches keep more rows than fit into memory.

        Returns
        -------
        tuple of str
            One line; none if all rows fit, if queries have no memory limit, or if the engine does not answer.
        """
        if not self._config.query_memory:
            return ()
        try:
            kept = self.estimate_kept_bytes(translation).total
        except EngineError:
            return ()
        room = find_memory_of_join(self._config.query_memory)
        if kept <= room:
            return ()
        return (
            f"the matches keep about {kept / 1e6:.0f} MB of rows and have {room / 1e6:.0f} MB of memory for them: "
            "the rest goes to disk, unless the query runs in pieces of the sky, as a job",
        )

    def read_density(self, entry: TableEntry) -> tuple[int, NDArray[np.int64]]:
        """Return the distribution of the rows of a table.

        Returns
        -------
        (int, NDArray)
            A HEALPix order, and the number of rows in each NESTED cell of this order, followed by the number of rows
            without a position: shape (12 * 4**order + 1,).

        Raises
        ------
        ServiceUnavailable
            The rows of the table cannot be counted.
        """
        try:
            return self._estimator.get_density(entry, self._catalogue_cache.snapshot.version)
        except EngineError as error:
            raise ServiceUnavailable("the table's rows cannot be counted now. Try again later") from error

    def record_measured_cost(self, estimate: Estimate | None, bytes_read: int, seconds: float) -> None:
        """Improve the estimator's rates by the measured cost of an ended query.

        Parameters
        ----------
        estimate
            The estimate of the query; None if it has none, and nothing is recorded.
        bytes_read
            The bytes that the engine has read.
        seconds
            How long the engine has worked.
        """
        if estimate is not None:
            self._estimator.learn_rate(estimate, bytes_read, seconds)

    def _estimate_cost(self, query: PreparedQuery) -> Estimate | None:
        """Estimate the cost of a query; None if the engine or the job store does not answer."""
        try:
            cost = self._estimator.estimate_cost(query.translation, self._catalogue_cache.snapshot.version)
        except (EngineError, JobStoreUnavailable) as error:
            _log.warning("the cost of a query cannot be estimated now: %s", getattr(error, "detail", error))
            return None
        warnings = (*query.translation.warnings, query.row_limit.warning)
        return replace(cost, result=query.row_limit.rows, warning=" ".join(filter(None, warnings)))

    def _find_small_reading(self, translation: Translation) -> SmallReading | None:
        try:
            return self._estimator.find_small_reading(translation, self._catalogue_cache.snapshot.version)
        except EngineError:
            return None

    def _estimate_result_rows(self, translation: Translation) -> ResultRows | None:
        try:
            return self._estimator.estimate_result_rows(translation, self._catalogue_cache.snapshot.version)
        except EngineError as error:
            _log.warning("the rows of a result cannot be estimated now: %s", error.detail)
            return None

    def _build_result_info(self, parameters: TapParameters, translation: Translation, limit: RowLimit) -> ResultInfo:
        schemas = {entry.schema.name: entry.schema for entry in translation.tables}.values()
        return ResultInfo(
            parameters.query,
            self._config.title,
            limit.limit,
            notes=tuple(filter(None, (*translation.warnings, limit.warning))),
            citations=tuple(dict.fromkeys(schema.citation for schema in schemas if schema.citation)),
            rights=tuple(dict.fromkeys(schema.licence for schema in schemas if schema.licence)),
            software=PRODUCT,
            request_date=format_instant(now()),
            links=translation.links,
            source_rows=translation.source_rows,
        )

    def _translate_query(self, query: str, limit: int, tables: _QueryTables) -> Translation:
        snapshot = self._catalogue_cache.snapshot
        try:
            return self._translate_with(self._list_tables(tables), query, limit)
        except InvalidQueryError as error:
            if not isinstance(error.__cause__, AdqlSemanticError | AdqlErrors):
                raise
            with suppress(EngineError):  # the query may name what was published since the catalogue was read
                self._catalogue_cache.refresh()
            if self._catalogue_cache.snapshot is snapshot:
                raise
        return self._translate_with(self._list_tables(tables), query, limit)

    def _list_tables(self, tables: _QueryTables) -> Catalogue:
        catalogue = self._catalogue_cache.catalogue_for(tables.owner)
        if tables.addition is not None:
            catalogue = _restrict_to_addition(catalogue, tables.addition)
        return catalogue.add_entries(tables.uploads) if tables.uploads else catalogue

    def _translate_with(self, catalogue: Catalogue, query: str, limit: int) -> Translation:
        most = None if limit == UNLIMITED_MAXREC else limit + 1
        positions = self.names.make_lookup(catalogue) if _names_objects(query) else None
        return self._translator.translate(query, catalogue, most, positions)


def _restrict_to_addition(catalogue: Catalogue, addition: Addition) -> Catalogue:
    """Return the catalogue with the rows of an addition instead of its table. Raises InvalidQueryError."""
    entry = catalogue.find_entry(addition.schema.name, addition.schema.tables[0].name)
    if entry is None:
        raise InvalidQueryError(
            f"the watched table {addition.table_name} is gone, or not visible to the owner of the watch"
        )
    return catalogue.replace_entries((addition.restrict_entry(entry),))


def needs_other_services(parameters: TapParameters) -> bool:
    """Return whether the preparation may wait for uploads or a name service."""
    return bool(parameters.uploads) or _names_objects(parameters.query)


def _names_objects(query: str) -> bool:
    lower = query.lower()
    return any(function.name in lower for function in OBJECT_NAME_FUNCTIONS)


def may_wait(parameters: TapParameters) -> bool:
    """Return whether the preparation may wait for anything; such queries have their own threads."""
    return needs_other_services(parameters) or is_long(parameters.query)
