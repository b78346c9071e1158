"""The settings, read from environment variables ``SKYHOUSE_*`` and a file; docs/configuration.md documents them."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, ValidationError, model_validator

from tap_service.settings.attach_settings import AttachSettings
from tap_service.settings.connection_settings import ConnectionSettings
from tap_service.settings.engine_settings import EngineSettings
from tap_service.settings.hats_settings import HatsSettings
from tap_service.settings.history_settings import HistorySettings
from tap_service.settings.job_settings import JobSettings
from tap_service.settings.location_settings import LocationSettings
from tap_service.settings.monitoring_settings import MonitoringSettings
from tap_service.settings.query_settings import QuerySettings
from tap_service.settings.settings_file import (
    FILE_VARIABLE,
    SettingsFile,
    SettingsFileError,
    find_settings_file,
    read_settings_file,
)
from tap_service.settings.share_settings import ShareSettings
from tap_service.settings.site_settings import SiteSettings
from tap_service.settings.upload_settings import UploadSettings, UserTableSettings
from tap_service.settings.watch_settings import WatchSettings

_log = logging.getLogger("skyhouse")

_PREFIX = "SKYHOUSE_"

#: minimum similarity of a misspelt variable and a setting, by difflib's ratio; variables of Compose and Kubernetes have
#: less (SKYHOUSE_VERSION 0.64, SKYHOUSE_SERVICE_HOST 0.57)
_MIN_RESEMBLANCE = 0.75

DEFAULT = "default"


class ConfigError(Exception):
    """Settings cannot be used.

    Each of ``problems`` names the setting, the location of its value, the reason and how to correct it.
    """

    def __init__(self, problems: list[str]) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


class Config(
    WatchSettings,
    UserTableSettings,
    UploadSettings,
    AttachSettings,
    EngineSettings,
    HatsSettings,
    ShareSettings,
    HistorySettings,
    JobSettings,
    QuerySettings,
    ConnectionSettings,
    MonitoringSettings,
    SiteSettings,
    LocationSettings,
):  # pydantic lists the fields of the last base first
    """All settings of a process, validated. ``tap_service/settings`` describes them by subject."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)

    @model_validator(mode="after")
    def _check_together(self) -> Config:
        if self.default_maxrec > self.hard_maxrec:
            raise ValueError("default_maxrec is above hard_maxrec")
        if self.async_seconds > self.async_hard_seconds:
            raise ValueError("async_seconds is above async_hard_seconds")
        if self.retention_seconds > self.hard_retention_seconds:
            raise ValueError("retention_seconds is above hard_retention_seconds")
        if self.registry and not self.public_url:
            raise ValueError("registry needs public_url: set SKYHOUSE_PUBLIC_URL, the address in all records")
        if self.redis_url and not self.clickhouse_url:
            raise ValueError("redis_url needs clickhouse_url: workers cannot use an engine in another process")
        if self.redis_url and not self.results_url:
            raise ValueError("redis_url needs results_url: the workers write results and the service reads them")
        if self.smtp_host and not self.smtp_from:
            raise ValueError("smtp_host needs smtp_from: the address that the mails are from")
        return self


#: limits of the service that are divided among its processes
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
    "client_requests_per_minute",
    "client_hats_selections_per_minute",
    "user_jobs_per_minute",
)


def divide_limits(config: Config, processes: int) -> Config:
    """Return the settings of one of several processes of a service.

    Parameters
    ----------
    config : Config
        The settings of the service.
    processes : int
        The number of processes.

    Returns
    -------
    Config
        The settings with the process's part of each limit, rounded up.
    """
    divided = {name: -(-getattr(config, name) // processes) for name in _DIVIDED}
    clients = {name: limit.divide_by(processes) for name, limit in config.client_limits.items()}
    return config.model_copy(update={**divided, "client_limits": clients})


@dataclass(frozen=True, slots=True)
class SettingSources:
    """The values of settings in the environment and in a file, by name. The environment overrides the file.

    Attributes
    ----------
    variables : Mapping[str, str]
        The environment variables, by names in lower case without their prefix.
    file : SettingsFile or None
        The file, if there is one.
    """

    variables: Mapping[str, str]
    file: SettingsFile | None

    @property
    def values(self) -> dict[str, Any]:
        """The values of settings, not yet validated. An empty path stands for the default."""
        given = {**(self.file.values if self.file else {}), **self.variables}
        settings = {name: value for name, value in given.items() if name in Config.model_fields}
        return {
            name: find_default(name) if value == "" and _has_no_empty_value(name) else value
            for name, value in settings.items()
            if not isinstance(value, dict)
        }

    def locate_setting(self, name: str) -> str:
        """Find the source of a setting's value, for messages.

        Parameters
        ----------
        name : str
            The setting.

        Returns
        -------
        str
            The environment variable, the file with a line, or "default".
        """
        if name in self.variables:
            return f"{_PREFIX}{name.upper()}"
        return self.file.locate_key(name) if self.file and name in self.file.values else DEFAULT

    def find_unknown(self) -> list[str]:
        """Return a sentence about each wrong name: misspelt variables, and unknown names in the file."""
        settings = list(Config.model_fields)
        problems = [
            f"{_PREFIX}{name.upper()} is not a setting: did you mean {_PREFIX}{near.upper()}?"
            for name, near in self._list_strange_variables().items()
            if near
        ]
        for name, value in self.file.values.items() if self.file else ():
            where = self.locate_setting(name)
            if isinstance(value, dict):
                problems.append(f"{where}: [{name}] is a table; write settings as KEY = VALUE, before any table")
            elif name not in settings:
                near = get_close_matches(name, settings, 1)
                hint = f": did you mean {near[0]}?" if near else "; docs/configuration.md lists the settings"
                problems.append(f"{where}: {name} is not a setting{hint}")
        return problems

    def find_ignored(self) -> list[str]:
        """Return a sentence about each variable that resembles no setting."""
        return [
            f"{_PREFIX}{name.upper()} is ignored: it is not a setting; docs/configuration.md lists the settings"
            for name, near in self._list_strange_variables().items()
            if not near
        ]

    def _list_strange_variables(self) -> dict[str, str]:
        """Return the variables that are not settings, with the setting that each resembles, '' for none."""
        known = [*Config.model_fields, FILE_VARIABLE.removeprefix(_PREFIX).lower()]
        return {name: _find_resembling(name, known) for name in self.variables if name not in known}


def _find_resembling(name: str, known: list[str]) -> str:
    """Return the setting that a name resembles, preferably a setting with one word less; '' if there is none."""
    near = get_close_matches(name, known, 1, _MIN_RESEMBLANCE)
    shorter = [each for each in known if name.startswith(f"{each}_")]
    return max(shorter, key=len) if near and shorter else "".join(near)


def find_default(name: str) -> Any:
    """Return the default of a setting.

    Parameters
    ----------
    name : str
        The setting; an unknown name raises KeyError.

    Returns
    -------
    Any
        The default, not validated.
    """
    return Config.model_fields[name].get_default(call_default_factory=True)


def _has_no_empty_value(name: str) -> bool:
    return find_default(name) is None or isinstance(find_default(name), Path)


def read_sources(environment: Mapping[str, str] = os.environ) -> SettingSources:
    """Read the environment and the settings file.

    Parameters
    ----------
    environment : Mapping[str, str]
        The environment variables, which may name the file.

    Raises
    ------
    ConfigError
        The settings file cannot be read.
    """
    variables = {
        name.removeprefix(_PREFIX).lower(): value for name, value in environment.items() if name.startswith(_PREFIX)
    }
    path = find_settings_file(environment)
    try:
        return SettingSources(variables, read_settings_file(path) if path else None)
    except SettingsFileError as error:
        raise ConfigError([str(error)]) from error


def build_config(sources: SettingSources) -> Config:
    """Validate the settings.

    Parameters
    ----------
    sources : SettingSources
        The values in the environment and in the file.

    Returns
    -------
    Config
        The settings, with the defaults of settings that have no value.

    Raises
    ------
    ConfigError
        Values cannot be used, or names are not settings; the error lists all problems.
    """
    problems = sources.find_unknown()
    try:
        config = Config.model_validate(sources.values)
    except ValidationError as error:
        raise ConfigError(problems + _describe_errors(error, sources)) from error
    if problems:
        raise ConfigError(problems)
    return config


def _describe_errors(error: ValidationError, sources: SettingSources) -> list[str]:
    described = []
    for problem in error.errors():
        reason = problem["msg"].removeprefix("Value error, ")
        name = str(problem["loc"][0]) if problem["loc"] else ""
        where = sources.locate_setting(name)
        if not name:
            described.append(f"the settings do not fit together: {reason}")
        elif where.startswith(_PREFIX):
            described.append(f"{where} cannot be used: {reason}")
        else:
            described.append(f"{where}: {name} cannot be used: {reason}")
    return described


def read_config(environment: Mapping[str, str] = os.environ) -> Config:
    """Read the settings from the environment and from the settings file, which the environment overrides.

    Raises
    ------
    ConfigError
        The file cannot be read, values cannot be used, or names are not settings.
    """
    sources = read_sources(environment)
    for sentence in sources.find_ignored():
        _warn_once(sentence)
    return build_config(sources)


@cache
def _warn_once(sentence: str) -> None:
    _log.warning("%s", sentence)
