"""The settings, read from environment variables ``SKYHOUSE_*`` and documented in docs/configuration.md."""

from __future__ import annotations

import os
from collections.abc import Mapping
from difflib import get_close_matches

from pydantic import ValidationError, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from tap_service.settings.connection_settings import ConnectionSettings
from tap_service.settings.engine_settings import EngineSettings
from tap_service.settings.job_settings import JobSettings
from tap_service.settings.query_settings import QuerySettings
from tap_service.settings.site_settings import SiteSettings
from tap_service.settings.upload_settings import UploadSettings, UserTableSettings

_PREFIX = "SKYHOUSE_"

#: variables of the commands, of tests and of benchmarks
_OTHER_VARIABLES = ("DATA", "BENCH_DATA", "EXAMPLES", "IVOA_QUERIES")


class ConfigError(Exception):
    """A setting cannot be used; the message names it, the reason and the way out."""


class Config(
    UserTableSettings,
    UploadSettings,
    EngineSettings,
    JobSettings,
    QuerySettings,
    ConnectionSettings,
    SiteSettings,
    BaseSettings,
):  # pydantic lists the fields of the last base first
    model_config = SettingsConfigDict(env_prefix=_PREFIX, frozen=True, extra="forbid")

    @model_validator(mode="after")
    def _check_together(self) -> Config:
        if self.default_maxrec > self.hard_maxrec:
            raise ValueError("default_maxrec is above hard_maxrec")
        if self.async_seconds > self.async_hard_seconds:
            raise ValueError("async_seconds is above async_hard_seconds")
        if self.retention_seconds > self.hard_retention_seconds:
            raise ValueError("retention_seconds is above hard_retention_seconds")
        if self.redis_url and not self.clickhouse_url:
            raise ValueError("redis_url needs clickhouse_url: workers cannot use an engine in another process")
        if self.redis_url and not self.results_url:
            raise ValueError("redis_url needs results_url: the workers write results and the service reads them")
        return self


#: limits of one process that together are those of the service
_DIVIDED = (
    "concurrent_queries",
    "bulk_queries",
    "waiting_queries",
    "client_running_queries",
    "client_waiting_queries",
    "spool_memory",
    "spool_disk",
    "client_spool_disk",
    "max_connections",
    "client_connections",
)


def divide_limits(config: Config, processes: int) -> Config:
    """Return the settings of one of several processes that share the machine: its part of each limit, rounded up."""
    divided = {name: -(-getattr(config, name) // processes) for name in _DIVIDED}
    clients = {name: limit.divide_by(processes) for name, limit in config.client_limits.items()}
    return config.model_copy(update={**divided, "client_limits": clients})


def read_config(environment: Mapping[str, str] = os.environ) -> Config:
    """Read the settings from the environment.

    Raises
    ------
    ConfigError
        A value cannot be used, or a variable ``SKYHOUSE_*`` is not a setting.
    """
    known = (*(name.upper() for name in Config.model_fields), *_OTHER_VARIABLES)
    for name in environment:
        if name.startswith(_PREFIX) and name.removeprefix(_PREFIX) not in known:
            near = get_close_matches(name.removeprefix(_PREFIX), known, 1)
            hint = f": did you mean {_PREFIX}{near[0]}?" if near else "; docs/configuration.md lists the settings"
            raise ConfigError(f"{name} is not a setting{hint}")
    try:
        return Config.model_validate({})
    except ValidationError as error:
        first = error.errors()[0]
        where = "_".join(str(part) for part in first["loc"]).upper()
        raise ConfigError(f"the setting {_PREFIX}{where} cannot be used: {first['msg']}") from error
