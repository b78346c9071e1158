"""The settings of the service, as its commands see them."""

from __future__ import annotations

from pathlib import Path

from loaders.load_error import LoadError
from tap_service.config import Config, ConfigError, read_config
from tap_service.storage.accounts import ACCOUNTS_FILE


def settings(data_path: Path) -> Config:
    """From the environment, with the data path where they name no other place. Raises LoadError."""
    try:
        config = read_config()
    except ConfigError as error:
        raise LoadError(str(error)) from error
    places = {"accounts": data_path / ACCOUNTS_FILE, "jobs_path": data_path / "jobs"}
    return config.model_copy(update={name: path for name, path in places.items() if not getattr(config, name)})
