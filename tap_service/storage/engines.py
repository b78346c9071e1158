"""Which engine the settings mean."""

from __future__ import annotations

from tap_service.config import Config
from tap_service.storage.clickhouse import ClickHouseEngine


def remote_engine(config: Config) -> ClickHouseEngine:
    """The ClickHouse server of the settings. Raises EngineUnavailable if it does not answer or refuses the user."""
    return ClickHouseEngine(
        config.clickhouse_url,
        config.clickhouse_user,
        config.clickhouse_password.get_secret_value(),
        silence_seconds=config.clickhouse_silence,
    )
