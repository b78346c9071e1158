"""The service's settings for its commands."""

from __future__ import annotations

from pathlib import Path

from loaders.load_error import LoadError
from tap_service.config import Config, ConfigError, read_config
from tap_service.storage.accounts import ACCOUNTS_FILE


def read_settings(data_path: Path) -> Config:
    """Return the settings of the environment; unset paths are below the data path. Raises ``LoadError``."""
    try:
        config = read_config()
    except ConfigError as error:
        raise LoadError(str(error)) from error
    defaults = {"accounts": data_path / ACCOUNTS_FILE, "jobs_path": data_path / "jobs"}
    return config.model_copy(update={name: path for name, path in defaults.items() if not getattr(config, name)})
