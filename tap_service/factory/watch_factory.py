"""Builds the objects that create and run watches."""

from __future__ import annotations

from tap_service.factory.query_services import QueryServices
from tap_service.services.jobs.job_service import JobService
from tap_service.services.watches.watch_messages import WatchMessages
from tap_service.services.watches.watch_rounds import WatchRounds
from tap_service.services.watches.watch_service import WatchService
from tap_service.storage.open_storage import JobStores
from tap_service.storage.watch_store import WatchStore


def build_watch_service(queries: QueryServices, watches: WatchStore) -> WatchService:
    """Build the service with which users create and change watches.

    Parameters
    ----------
    queries : QueryServices
        The services that translate queries, and know the tables and groups of users.
    watches : WatchStore
        The store of watches, which the caller closes.
    """
    return WatchService(
        queries.config,
        queries.engine,
        watches,
        queries.preparation,
        queries.catalogue_cache,
        queries.user_tables,
        queries.groups.accounts,
    )


def build_watch_rounds(queries: QueryServices, stores: JobStores, watches: WatchStore, jobs: JobService) -> WatchRounds:
    """Build the thread that runs watches on new additions, and sends messages."""
    accounts = queries.groups.accounts
    messages = WatchMessages(queries.config, accounts)
    return WatchRounds(queries.config, queries.engine, stores, watches, jobs, messages, accounts)
