"""Which engine the settings mean."""

from __future__ import annotations

from tap_service.config import Config
from tap_service.storage.engine.clickhouse_engine import ClickHouseEngine
from tap_service.storage.engine.clickhouse_servers import ClickHouseServers
from tap_service.storage.engine.engine import Engine


def remote_engine(config: Config) -> Engine:
    """The ClickHouse servers of the settings. Raises EngineUnavailable if none answers, or they refuse the user."""

    def connect(url: str) -> ClickHouseEngine:
        return ClickHouseEngine(
            url,
            config.clickhouse_user,
            config.clickhouse_password.get_secret_value(),
            silence_seconds=config.clickhouse_silence,
            ca=config.clickhouse_ca,
        )

    urls = config.clickhouse_urls
    return connect(urls[0]) if len(urls) == 1 else ClickHouseServers(urls, connect)
