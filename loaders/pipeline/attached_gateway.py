"""The gateway through which commands read attached tables."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.engine_tables.catalogue_log import read_catalogue
from tap_service.config import read_config
from tap_service.hats.gateway.file_gateway import FileGateway
from tap_service.storage.engine.engine import Engine


def read_queried_catalogue(engine: Engine) -> Catalogue:
    """Return the catalogue for queries that may read attached tables.

    Parameters
    ----------
    engine : Engine
        Connection to ClickHouse.

    Returns
    -------
    Catalogue
        The catalogue. If it has attached tables, their files are served by a gateway of this process until the process
        ends.
    """
    catalogue = read_catalogue(engine)
    return _open_gateway().publish(catalogue) if catalogue.attachments else catalogue


@cache
def _open_gateway() -> FileGateway:
    """Return the gateway of all commands of this process. A command reads a file once, so nothing is cached."""
    return FileGateway(read_config().attach_host, Path(), 0)
