"""The objects of the service, as its handlers use them."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from tap_service.config import Config
from tap_service.constants import HATS_FILE_SECONDS
from tap_service.factory.job_factory import build_dispatcher, build_job_queue
from tap_service.factory.lifetime_factory import build_job_lifetimes
from tap_service.factory.query_services import QueryServices, build_query_services
from tap_service.factory.watch_factory import build_watch_rounds, build_watch_service
from tap_service.models.engine_share import ENGINE_SHARES, Lane
from tap_service.scratch_files import IncomingSpace
from tap_service.service_metrics import ServiceMetrics
from tap_service.services.administration.job_administration import JobAdministration
from tap_service.services.administration.work_list import WorkList
from tap_service.services.announcements import Announcements
from tap_service.services.catalogue.attachment_watch import AttachmentWatch
from tap_service.services.catalogue.catalogue_cache import CatalogueCache
from tap_service.services.client_directory import ClientDirectory
from tap_service.services.hats.hats_files import HatsFiles
from tap_service.services.hats.selection_rates import SelectionRates
from tap_service.services.history.query_history import QueryHistory
from tap_service.services.jobs.dispatcher import Dispatcher
from tap_service.services.jobs.job_service import JobService
from tap_service.services.line_log import LineLog
from tap_service.services.queries.query_preparation import QueryPreparation
from tap_service.services.queries.query_service import QueryService
from tap_service.services.queries.spool import SpoolStore
from tap_service.services.registry.harvest_service import HarvestService
from tap_service.services.registry.published_records import PublishedRecords
from tap_service.services.registry.registry_file import read_registry_file
from tap_service.services.shares.share_access import ShareAccess
from tap_service.services.shares.share_lifetimes import ShareLifetimes
from tap_service.services.shares.share_service import ShareService
from tap_service.services.site.authenticator import Authenticator, read_issuers
from tap_service.services.site.availability_service import AvailabilityService
from tap_service.services.site.blocked_networks import BlockedNetworks
from tap_service.services.site.deployment_state import DeploymentState
from tap_service.services.site.own_tokens import OwnTokens
from tap_service.services.token_buckets import TokenBuckets
from tap_service.services.user_tables.user_table_service import UserTableService
from tap_service.services.user_tables.user_table_sharing import UserTableSharing
from tap_service.services.watches.watch_rounds import WatchRounds
from tap_service.services.watches.watch_service import WatchService
from tap_service.settings.client_limits import find_open_part
from tap_service.storage.accounts import Accounts
from tap_service.storage.engine.engine import Engine, combine_settings
from tap_service.storage.engine.memory_settings import choose_memory_settings
from tap_service.storage.file_cache import FileCache
from tap_service.storage.open_storage import JobStores, open_job_stores, open_watch_store
from tap_service.storage.registry_store import RegistryStore, RegistryStoreError
from tap_service.storage.watch_store import WatchStore


@dataclass(frozen=True, slots=True)
class Services:
    """One object for each concern of the handlers. ``close`` does not close the engine."""

    config: Config
    engine: Engine
    stores: JobStores
    metrics: ServiceMetrics
    catalogue_cache: CatalogueCache
    preparation: QueryPreparation
    user_tables: UserTableService
    table_sharing: UserTableSharing
    spools: SpoolStore
    #: for the files of requests
    incoming: IncomingSpace
    clients: ClientDirectory
    queries: QueryService
    history: QueryHistory
    jobs: JobService
    shares: ShareService
    #: None if no table is served as HATS files
    hats: HatsFiles | None
    watches: WatchService
    watch_rounds: WatchRounds
    availability: AvailabilityService
    authenticator: Authenticator
    #: None without a file of registry metadata
    registry: HarvestService | None
    request_log: LineLog
    own_tokens: OwnTokens
    announcements: Announcements
    work: WorkList
    job_administration: JobAdministration
    blocked_networks: BlockedNetworks
    request_rates: TokenBuckets | None
    _components: QueryServices
    _attachment_watch: AttachmentWatch
    _dispatcher: Dispatcher
    _watch_store: WatchStore

    def start(self) -> None:
        """Start the threads and helper processes."""
        self._components.start()
        self._dispatcher.start()
        self.work.start()
        self.watch_rounds.start()
        self._attachment_watch.start()

    async def close(self) -> None:
        """End running queries, and close the stores and logs."""
        self.work.close()
        await asyncio.to_thread(self.watch_rounds.close)
        await asyncio.to_thread(self._attachment_watch.close)
        await self.queries.close()
        await asyncio.to_thread(self._dispatcher.close)
        self.stores.close()
        self._watch_store.close()
        self.availability.close()
        self.authenticator.close()
        if self.registry is not None:
            self.registry.close()
        self.spools.close()
        self.request_log.close()
        self._components.close()


def build_services(config: Config, engine: Engine, *, are_helpers_kept_ready: bool) -> Services:
    """Build the objects of the service.

    Parameters
    ----------
    config : Config
        The settings.
    engine : Engine
        An engine that ``clickhouse_schema.engine_tables.engine_setup`` has initialised.
    are_helpers_kept_ready : bool
        As in ``build_query_services``.

    Raises
    ------
    EngineError
        The engine does not answer.
    AccountError, IssuersError, RegistryFileError, RegistryStoreError
        The file of users, of token issuers, of registry metadata or of published records cannot be used.
    BlockedError
        The file of blocked addresses cannot be used.
    JobStoreUnavailable, ShareStoreUnavailable, WatchStoreUnavailable, OSError
        The directory for jobs cannot be used.
    """
    # a separate connection: the cache of checked passwords depends on Accounts.version, which only other connections
    # change
    accounts = Accounts(config.accounts) if config.accounts else None
    identities = build_authenticator(config, accounts)
    if not identities.login_methods:  # without users, nobody could use their reserve
        config = config.model_copy(update={"user_reserve": 0})
    stores = open_job_stores(config)
    watch_store = open_watch_store(config)
    components = build_query_services(config, engine, stores.jobs, are_helpers_kept_ready=are_helpers_kept_ready)
    identities.on_claims = components.groups.note_claims
    metrics, preparation = components.metrics, components.preparation
    spools = build_spools(config, metrics)
    queue = build_job_queue(config, stores)
    metrics.shared.register(DeploymentState(config, engine, stores.jobs))
    lifetimes = build_job_lifetimes(config, engine, stores)
    dispatcher = build_dispatcher(components, stores, queue, lifetimes)
    announcements = components.announcements
    queries = QueryService(config, preparation, spools, metrics, components.recorder, announcements)
    jobs = JobService(config, stores, queue, preparation, dispatcher, lifetimes, announcements, components.clients)
    job_administration = JobAdministration(stores.jobs, lifetimes)
    return Services(
        config=config,
        engine=engine,
        stores=stores,
        metrics=metrics,
        catalogue_cache=components.catalogue_cache,
        preparation=preparation,
        user_tables=components.user_tables,
        table_sharing=UserTableSharing(components.user_tables, components.catalogue_cache),
        spools=spools,
        incoming=build_incoming_space(config),
        registry=build_registry(config, engine, components.catalogue_cache, identities),
        request_log=LineLog(config.request_log, "request", components.mask, metrics.log_failures.labels("request").inc),
        clients=components.clients,
        queries=queries,
        history=components.history,
        jobs=jobs,
        shares=ShareService(
            config,
            engine,
            stores.shares,
            stores.results,
            ShareAccess(components.catalogue_cache),
            ShareLifetimes(stores.shares, stores.results),
        ),
        hats=build_hats_files(config, engine, components, queries),
        watches=build_watch_service(components, watch_store),
        watch_rounds=build_watch_rounds(components, stores, watch_store, jobs),
        availability=AvailabilityService(engine, spools, stores.jobs, stores.results, announcements),
        authenticator=identities,
        own_tokens=OwnTokens(components.groups.accounts),
        announcements=announcements,
        work=WorkList(
            engine,
            components.state,
            job_administration,
            queries,
            jobs.downloads,
            is_shared=bool(config.redis_url),
        ),
        job_administration=job_administration,
        blocked_networks=BlockedNetworks(config.blocked),
        request_rates=TokenBuckets(config.client_requests_per_minute) if config.client_requests_per_minute else None,
        _components=components,
        _attachment_watch=AttachmentWatch(components.gateway),
        _dispatcher=dispatcher,
        _watch_store=watch_store,
    )


def build_hats_files(
    config: Config, engine: Engine, components: QueryServices, queries: QueryService
) -> HatsFiles | None:
    """Build the source of HATS files, None if the operator has disabled it.

    Raises
    ------
    OSError
        The directory of the files cannot be used.
    """
    if config.hats_path is None or not config.hats_disk:
        return None
    cache = FileCache(config.hats_path, config.hats_disk, max_files=config.hats_files)
    selections = SelectionRates(config.client_hats_selections_per_minute)
    share = dict(ENGINE_SHARES[Lane.BULK].list_settings()) | {"max_execution_time": HATS_FILE_SECONDS}
    settings = combine_settings(share, choose_memory_settings(config.query_memory))
    return HatsFiles(engine, components.catalogue_cache, queries, components.usage, cache, selections, settings)


def build_authenticator(config: Config, accounts: Accounts | None) -> Authenticator:
    """Build the authenticator, which closes ``accounts``.

    Raises
    ------
    IssuersError
        The file of token issuers cannot be used.
    """
    issuers = read_issuers(config.token_issuers) if config.token_issuers else ()
    authenticator = Authenticator(accounts, issuers, anonymous=config.anonymous)
    if config.token_issuers:
        authenticator.reread_issuers_at_hangup(config.token_issuers)
    return authenticator


def build_registry(
    config: Config, engine: Engine, catalogue_cache: CatalogueCache, authenticator: Authenticator
) -> HarvestService | None:
    """Build the publishing registry, None without a file of registry metadata.

    Raises
    ------
    RegistryFileError, RegistryStoreError
        The file of registry metadata, or of published records, cannot be used.
    """
    if config.registry is None:
        return None
    if config.registry_state is None:
        raise RegistryStoreError("no file for the registry's records is set: give SKYHOUSE_REGISTRY_STATE")
    metadata = read_registry_file(config.registry)
    store = RegistryStore(config.registry_state)
    return HarvestService(
        PublishedRecords(config, config.registry, metadata, store, engine, catalogue_cache, authenticator)
    )


def build_incoming_space(config: Config) -> IncomingSpace:
    """Build the store of the files of requests."""
    # each client may send at least one file of the maximum size
    of_client = max(config.client_spool_disk, config.upload_bytes, config.user_table_file)
    open_part = find_open_part(config.spool_disk, config.user_reserve)
    return IncomingSpace(config.spool_path, config.spool_disk, of_client, open_part)


def build_spools(config: Config, metrics: ServiceMetrics) -> SpoolStore:
    """Build the spools of results, with their metrics."""
    spools = SpoolStore(
        config.spool_memory,
        config.spool_disk,
        config.spool_path,
        config.client_spool_disk,
        find_open_part(config.spool_disk, config.user_reserve),
    )
    metrics.spool_limit.labels("memory").set(config.spool_memory)
    metrics.spool_limit.labels("disk").set(config.spool_disk)
    metrics.spool.labels("memory").set_function(lambda: spools.memory.used)
    metrics.spool.labels("disk").set_function(lambda: spools.disk.used)
    return spools
