"""What prepares queries and reads tables: the same in the service and in worker processes."""

from __future__ import annotations

from dataclasses import dataclass

from tap_service.config import Config
from tap_service.prometheus_metrics import ServiceMetrics
from tap_service.services.catalogue.catalogue_cache import CatalogueCache
from tap_service.services.estimates.cost_estimate import Estimator
from tap_service.services.queries.query_log import QueryLog
from tap_service.services.queries.query_preparation import QueryPreparation
from tap_service.services.translation.translator import Translator
from tap_service.services.uploads.query_uploads import UploadLoader
from tap_service.services.uploads.table_files import TableFileReader
from tap_service.services.user_tables.user_table_requests import UserTableService
from tap_service.storage.engine.engine import Engine
from tap_service.storage.jobs.job_store import JobStore


@dataclass(frozen=True, slots=True)
class QueryComponents:
    """The engine stays its owner's to close."""

    config: Config
    engine: Engine
    metrics: ServiceMetrics
    log: QueryLog
    catalogue_cache: CatalogueCache
    table_files: TableFileReader
    translator: Translator
    preparation: QueryPreparation
    user_tables: UserTableService

    def start(self) -> None:
        self.catalogue_cache.start()
        self.table_files.start()
        self.translator.start()

    def close(self) -> None:
        self.table_files.close()
        self.translator.close()
        self.catalogue_cache.close()
        self.user_tables.close()
        self.log.close()


def build_query_components(
    config: Config, engine: Engine, jobs: JobStore, *, are_helpers_kept_ready: bool
) -> QueryComponents:
    """Build what prepares queries over an initialised engine.

    Parameters
    ----------
    jobs
        The store of measured rates, from which costs are estimated.
    are_helpers_kept_ready
        Start the reader of uploads and a translator of long queries with the process; otherwise the first upload and
        the first long query wait about a second for them.

    Raises
    ------
    EngineError
        The engine does not answer.
    """
    metrics = ServiceMetrics()
    metadata = CatalogueCache(engine, is_only_process=not config.clickhouse_url)
    table_files = TableFileReader(config, is_kept_ready=are_helpers_kept_ready)
    uploads = UploadLoader(config, engine, table_files)
    translator = Translator(config.translation_seconds, is_kept_ready=are_helpers_kept_ready)
    return QueryComponents(
        config=config,
        engine=engine,
        metrics=metrics,
        log=QueryLog(config.query_log, metrics),
        catalogue_cache=metadata,
        table_files=table_files,
        translator=translator,
        preparation=QueryPreparation(config, engine, metadata, translator, Estimator(engine, jobs), uploads),
        user_tables=UserTableService(config, engine, metadata, table_files),
    )
