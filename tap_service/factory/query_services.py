"""The objects that prepare queries and read tables, for the service and for worker processes."""

from __future__ import annotations

import logging
import secrets
import shutil
from dataclasses import dataclass

from tap_service.config import Config
from tap_service.hats.gateway.file_gateway import FileGateway
from tap_service.serializers.votable_dialect import set_default_version
from tap_service.service_metrics import ServiceMetrics
from tap_service.services.announcements import Announcements
from tap_service.services.catalogue.catalogue_cache import CatalogueCache
from tap_service.services.catalogue.user_groups import UserGroups
from tap_service.services.client_directory import ClientDirectory
from tap_service.services.client_mask import ClientMask
from tap_service.services.estimates.estimator import Estimator
from tap_service.services.history.query_history import QueryHistory
from tap_service.services.line_log import LineLog
from tap_service.services.queries.query_preparation import QueryPreparation
from tap_service.services.queries.query_recorder import QueryRecorder
from tap_service.services.translation.translator import Translator
from tap_service.services.uploads.table_file_reader import TableFileReader
from tap_service.services.uploads.upload_loader import UploadLoader
from tap_service.services.usage_counter import UsageCounter
from tap_service.services.user_tables.user_table_service import UserTableService
from tap_service.storage.accounts import Accounts
from tap_service.storage.engine.engine import Engine
from tap_service.storage.history_store import HistoryStore, HistoryUnavailable
from tap_service.storage.jobs.job_store import JobStore
from tap_service.storage.open_storage import open_history_store, open_usage_store
from tap_service.storage.site_state import SiteState, open_site_state

_log = logging.getLogger("skyhouse")

#: bytes of disk space that are more than SQLite needs to open a file
_HISTORY_ROOM = 1 << 20


@dataclass(frozen=True, slots=True)
class QueryServices:
    """The objects that prepare queries and read tables. ``close`` does not close the engine."""

    config: Config
    engine: Engine
    metrics: ServiceMetrics
    mask: ClientMask | None
    query_lines: LineLog
    history: QueryHistory
    usage: UsageCounter
    catalogue_cache: CatalogueCache
    gateway: FileGateway
    table_files: TableFileReader
    translator: Translator
    preparation: QueryPreparation
    user_tables: UserTableService
    state: SiteState
    groups: UserGroups
    clients: ClientDirectory
    recorder: QueryRecorder
    announcements: Announcements

    def start(self) -> None:
        """Start the threads and helper processes."""
        self.announcements.start()
        self.catalogue_cache.start()
        self.table_files.start()
        self.translator.start()
        self.history.start()
        self.usage.start()

    def close(self) -> None:
        """Stop the threads and helper processes, and close the logs and stores."""
        self.table_files.close()
        self.translator.close()
        self.catalogue_cache.close()
        self.gateway.close()
        self.user_tables.close()
        self.query_lines.close()
        self.history.close()
        self.usage.close()
        self.metrics.close()
        self.announcements.close()
        self.groups.close()
        self.state.close()


def build_query_services(
    config: Config, engine: Engine, jobs: JobStore, *, are_helpers_kept_ready: bool
) -> QueryServices:
    """Build the objects that prepare queries.

    Parameters
    ----------
    config : Config
        The settings.
    engine : Engine
        An initialised engine.
    jobs : JobStore
        The job store, which contains the measured rates for estimates.
    are_helpers_kept_ready : bool
        Whether the reader of uploads and a translator of long queries start with this process. Otherwise the first
        upload and the first long query wait about a second for them.

    Raises
    ------
    EngineError
        The engine does not answer.
    ConfigError
        A log cannot be opened.
    UsageUnavailable, HistoryUnavailable
        The file of usage statistics, or the file of the query history, cannot be used.
    AccountError, SiteStateUnavailable
        The file of users, or the file of announcements, cannot be used.
    """
    set_default_version(config.votable_version)
    metrics = ServiceMetrics()
    usage_store = open_usage_store(config)
    find_key = usage_store.find_key if usage_store else lambda _name, _seconds: secrets.token_bytes(32)
    is_masked = (config.log_addresses, config.log_users) != ("full", "full")
    mask = ClientMask(config.log_addresses, config.log_users, find_key) if is_masked else None
    lines = LineLog(config.query_log, "query", mask, metrics.log_failures.labels("query").inc)
    state = open_site_state(config.redis_url, config.jobs_path)
    groups = UserGroups(_open_accounts(config), state)
    history = QueryHistory(_open_history(config), config.history_queries, config.history_days, groups.accounts)
    usage = UsageCounter(usage_store, metrics.usage_failures.inc)
    gateway = FileGateway(
        config.attach_host,
        config.attach_cache or config.data / "attached",
        config.attach_cache_bytes,
        query_seconds=max(config.sync_seconds, config.async_hard_seconds),
    )
    catalogue_cache = CatalogueCache(
        engine, groups, gateway, is_only_process=not config.clickhouse_url, public_url=config.public_url
    )
    table_files = TableFileReader(config, is_kept_ready=are_helpers_kept_ready)
    uploads = UploadLoader(config, engine, table_files, lambda outcome: metrics.uploads.labels(outcome).inc())
    translator = Translator(config.translation_seconds, is_kept_ready=are_helpers_kept_ready)
    return QueryServices(
        config=config,
        engine=engine,
        metrics=metrics,
        mask=mask,
        query_lines=lines,
        history=history,
        usage=usage,
        catalogue_cache=catalogue_cache,
        gateway=gateway,
        table_files=table_files,
        translator=translator,
        preparation=QueryPreparation(config, engine, catalogue_cache, translator, Estimator(engine, jobs), uploads),
        user_tables=UserTableService(config, engine, catalogue_cache, table_files),
        state=state,
        groups=groups,
        clients=ClientDirectory(config, groups.accounts),
        recorder=QueryRecorder(metrics, lines, history, usage),
        announcements=Announcements(state),
    )


def _open_accounts(config: Config) -> Accounts | None:
    return Accounts(config.accounts) if config.accounts else None


def _open_history(config: Config) -> HistoryStore | None:
    """Open the query history. If the disk has no space for it, the service works without it."""
    try:
        return open_history_store(config)
    except HistoryUnavailable as error:
        folder = config.jobs_path
        if folder is None or not folder.is_dir() or shutil.disk_usage(folder).free >= _HISTORY_ROOM:
            raise
        _log.warning("%s: no space left in %s. Free some, and restart the service to enable it", error, folder)
        return None
