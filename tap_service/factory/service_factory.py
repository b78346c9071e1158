"""The objects of the service, as its handlers use them."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from tap_service.config import Config
from tap_service.factory.job_factory import build_dispatcher, build_job_lifetimes, build_job_queue
from tap_service.factory.query_factory import QueryComponents, build_query_components
from tap_service.prometheus_metrics import ServiceMetrics
from tap_service.scratch_files import Budget, ScratchSpace
from tap_service.services.catalogue.catalogue_cache import CatalogueCache
from tap_service.services.jobs.job_dispatcher import Dispatcher
from tap_service.services.jobs.job_requests import JobService
from tap_service.services.queries.query_preparation import QueryPreparation
from tap_service.services.queries.result_spool import SpoolStore
from tap_service.services.queries.sync_query import QueryService
from tap_service.services.site.authentication import Authenticator, read_issuers
from tap_service.services.site.service_availability import AvailabilityService
from tap_service.services.user_tables.user_table_requests import UserTableService
from tap_service.storage.accounts import Accounts
from tap_service.storage.engine.engine import Engine
from tap_service.storage.open_storage import JobStores, open_job_stores


@dataclass(frozen=True, slots=True)
class Services:
    """One object for each concern of the handlers. The engine stays its owner's to close."""

    config: Config
    engine: Engine
    stores: JobStores
    metrics: ServiceMetrics
    catalogue_cache: CatalogueCache
    preparation: QueryPreparation
    user_tables: UserTableService
    spools: SpoolStore
    #: for the files of requests
    incoming: ScratchSpace
    queries: QueryService
    jobs: JobService
    availability: AvailabilityService
    authenticator: Authenticator
    _components: QueryComponents
    _dispatcher: Dispatcher

    def start(self) -> None:
        self._components.start()
        self._dispatcher.start()

    async def close(self) -> None:
        await self.queries.close()
        await asyncio.to_thread(self._dispatcher.close)
        self.stores.jobs.close()
        self.availability.close()
        self.authenticator.close()
        self.spools.close()
        self._components.close()


def build_services(config: Config, engine: Engine, *, are_helpers_kept_ready: bool) -> Services:
    """Build the service over an engine that ``clickhouse_schema.engine_tables.engine_setup`` has prepared.

    ``are_helpers_kept_ready`` is that of ``build_query_components``.

    Raises
    ------
    EngineError
        The engine does not answer.
    AccountError, IssuersError
        The file of users or of token issuers cannot be used.
    JobStoreUnavailable, OSError
        The directory for jobs cannot be used.
    """
    identities = build_authenticator(config)
    stores = open_job_stores(config)
    components = build_query_components(config, engine, stores.jobs, are_helpers_kept_ready=are_helpers_kept_ready)
    metrics, preparation = components.metrics, components.preparation
    spools = build_spools(config, metrics)
    queue = build_job_queue(config, stores)
    lifetimes = build_job_lifetimes(config, engine, stores)
    dispatcher = build_dispatcher(components, stores, queue, lifetimes)
    return Services(
        config=config,
        engine=engine,
        stores=stores,
        metrics=metrics,
        catalogue_cache=components.catalogue_cache,
        preparation=preparation,
        user_tables=components.user_tables,
        spools=spools,
        incoming=ScratchSpace(config.spool_path, Budget(config.spool_disk)),
        queries=QueryService(config, preparation, spools, metrics, components.log),
        jobs=JobService(config, stores, queue, preparation, dispatcher, lifetimes),
        availability=AvailabilityService(engine, spools, stores.jobs, stores.results),
        authenticator=identities,
        _components=components,
        _dispatcher=dispatcher,
    )


def build_authenticator(config: Config) -> Authenticator:
    """Raise AccountError or IssuersError if the file of users or of token issuers cannot be used."""
    accounts = Accounts(config.accounts) if config.accounts else None
    issuers = read_issuers(config.token_issuers) if config.token_issuers else ()
    return Authenticator(accounts, issuers, anonymous=config.anonymous)


def build_spools(config: Config, metrics: ServiceMetrics) -> SpoolStore:
    spools = SpoolStore(config.spool_memory, config.spool_disk, config.spool_path, config.client_spool_disk)
    metrics.spool.labels("memory").set_function(lambda: spools.memory.used)
    metrics.spool.labels("disk").set_function(lambda: spools.disk.used)
    return spools
