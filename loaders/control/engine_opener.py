"""Opens the engine of the settings, or the embedded one over a data directory, with its catalogue in order."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TextIO

from clickhouse_schema.cluster_topology import ClusterError
from clickhouse_schema.engine_tables.catalogue_log import LaterCatalogue
from clickhouse_schema.engine_tables.engine_setup import prepare_engine
from loaders.control.service_settings import read_settings
from loaders.load_error import LoadError
from loaders.pipeline.startup_cleanup import finish_killed_loads
from tap_service.config import Config
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tap_service.storage.engine.engine import Engine, EngineError, EngineUnavailable, StorageFull
from tap_service.storage.jobs.redis_lock import hold_cluster_lock
from tap_service.storage.open_storage import open_remote_engine

_log = logging.getLogger("skyhouse")

#: ClickHouse's error code ACCESS_DENIED
_ACCESS_DENIED = 497


def has_engine(data_path: Path) -> bool:
    """Whether commands have an engine: ClickHouse servers in the settings, or data below the data directory.

    Parameters
    ----------
    data_path : Path
        Data directory.

    Returns
    -------
    bool
        True for servers in the settings, even if they are empty or unreachable.

    Raises
    ------
    LoadError
        A setting is not valid.
    """
    return bool(read_settings(data_path).clickhouse_url) or (data_path / "clickhouse").exists()


@contextmanager
def open_engine(data_path: Path, *, is_read_only: bool = False, lock: TextIO | None = None) -> Iterator[Engine]:
    """Open the engine of the settings or, without one, the embedded engine; close it at the end.

    The catalogue is upgraded, except on a full disk, where the existing tables can still be read.

    Parameters
    ----------
    data_path : Path
        Data directory.
    is_read_only : bool, optional
        Accept the catalogue as it is if the engine's user may not change it.
    lock : TextIO, optional
        The lock from ``lock_data_path``, if this process holds the data directory.

    Yields
    ------
    Engine

    Raises
    ------
    LoadError
        The settings or the cluster's configuration cannot be used.
    DataPathHeldError
        Another process holds the data directory.
    """
    config = read_settings(data_path)
    engine = open_remote_engine(config) if config.clickhouse_url else EmbeddedEngine(data_path, lock=lock)
    try:
        with hold_cluster_lock(config.redis_url, "catalogue") if config.redis_url else nullcontext():
            update_catalogue(engine, config, is_read_only=is_read_only)
        yield engine
    finally:
        engine.close()


def update_catalogue(engine: Engine, config: Config, *, is_read_only: bool) -> None:
    """Bring the catalogue up to date, and finish killed loads.

    On a full disk, this is logged and left undone.

    Parameters
    ----------
    engine : Engine
        The engine with the catalogue.
    config : Config
        The settings of the service.
    is_read_only : bool
        Whether to accept the catalogue as it is if it may not be changed, or if the engine is unavailable.

    Raises
    ------
    LoadError
        The cluster's configuration cannot be used, or a later version of Skyhouse has written the catalogue.
    EngineError
        The engine failed.
    """
    try:
        prepare_engine(engine.pin_server())  # another server may not have received the last write yet
        finish_killed_loads(engine, is_only_user=not config.clickhouse_url)
    except StorageFull as error:
        _log.warning("the catalogue was not updated because no space is left: %s", error)
    except EngineError as error:
        is_usable = error.code == _ACCESS_DENIED or isinstance(error, EngineUnavailable)
        if not (is_read_only and is_usable):
            raise
        _log.warning("the catalogue was not updated; the existing catalogue is used: %s", error.detail)
    except (ClusterError, LaterCatalogue) as error:
        raise LoadError(str(error)) from error
