"""Builds the object that ends jobs and shares, for the service and for commands of operators."""

from __future__ import annotations

from tap_service.config import Config
from tap_service.services.jobs.job_lifetimes import JobLifetimes
from tap_service.services.shares.share_lifetimes import ShareLifetimes
from tap_service.services.user_tables.user_table_expiry import UserTableExpiry
from tap_service.storage.engine.engine import Engine
from tap_service.storage.open_storage import JobStores


def build_job_lifetimes(config: Config, engine: Engine, stores: JobStores) -> JobLifetimes:
    """Build the object that destroys expired jobs, results and shares, and requeues jobs of dead workers.

    Parameters
    ----------
    config : Config
        The lifetimes.
    engine : Engine
        The engine whose queries and temporary tables belong to the jobs.
    stores : JobStores
        The stores of jobs, results and shares, which the caller closes.
    """
    shares = ShareLifetimes(stores.shares, stores.results)
    return JobLifetimes(engine, stores.jobs, stores.results, UserTableExpiry(config, engine), shares)
